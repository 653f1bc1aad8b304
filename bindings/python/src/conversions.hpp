// How values of Weft cross to Python and back: vectors with an entry per axis are sequences of numbers there,
// boxes are pairs of them, and names stand for enumerators.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "weft/weft.hpp"

namespace nanobind::detail {

/// Sequences of numbers <-> `weft::AxisVector`; more than 8 entries are a `weft::Error`.
template <class T>
struct type_caster<weft::AxisVector<T>> {
  using Entries = make_caster<std::vector<T>>;
  NB_TYPE_CASTER(weft::AxisVector<T>, Entries::Name)

  bool from_python(handle source, uint8_t flags, cleanup_list* cleanup) {
    Entries entries;
    if (!entries.from_python(source, flags, cleanup)) return false;
    value = weft::AxisVector<T>::from(entries.value.begin(), entries.value.end());
    return true;
  }
  static handle from_cpp(const weft::AxisVector<T>& entries, rv_policy, cleanup_list*) {
    object result = steal(PyTuple_New(entries.size()));
    if (!result.is_valid()) return {};
    for (int i = 0; i < entries.size(); ++i) {
      PyObject* entry = PyLong_FromLongLong(entries[i]);
      if (entry == nullptr) return {};
      PyTuple_SET_ITEM(result.ptr(), i, entry);
    }
    return result.release();
  }
};

}  // namespace nanobind::detail

namespace weft::python {

/// The enumerator at the position of `name` in `names`; throws `weft::Error` for what is not among them.
template <class Enum, std::size_t n>
Enum named(const char* what, const std::string& name, const std::array<const char*, n>& names) {
  std::string known;
  for (std::size_t i = 0; i < n; ++i) {
    if (name == names[i]) return static_cast<Enum>(i);
    known += (i > 0 ? ", " : "") + std::string(names[i]);
  }
  throw Error(std::string("plan: ") + what, "\"" + name + "\"", "one of " + known);
}

/// A box as Python has it: its first indices, and one past its last ones.
using Corners = std::pair<Shape, Shape>;

inline Box box_of(const Corners& corners) {
  return {.lo = corners.first, .hi = corners.second};
}
inline Corners corners_of(const Box& box) {
  return {box.lo, box.hi};
}

}  // namespace weft::python
