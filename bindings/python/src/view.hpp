// The memory of a Python array, held while Weft reads or writes it.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <utility>

#include "weft/error.hpp"

namespace weft::python {

/// What the buffer protocol gives of an array: the address of its first element. The memory stays where it is
/// as long as the view lives. It is made and destroyed with the GIL held. Can be moved, not copied.
class View {
 public:
  enum class Access { read, write };

  View() = default;
  /// Throws `weft::Error` if the object has no such memory, or has it for reading only.
  View(nanobind::handle array, Access access, const char* operation) {
    const int flags = access == Access::write ? PyBUF_STRIDED : PyBUF_STRIDED_RO;
    if (PyObject_GetBuffer(array.ptr(), &buffer_, flags) == 0) {
      held_ = true;
      return;
    }
    PyErr_Clear();
    throw Error(
        operation,
        access == Access::write ? "an output that is read-only" : "an input without memory of the host",
        access == Access::write ? "a writable NumPy array" : "a NumPy array");
  }
  View(View&& other) noexcept : buffer_(other.buffer_), held_(std::exchange(other.held_, false)) {}
  View& operator=(View&& other) noexcept {
    std::swap(buffer_, other.buffer_);
    std::swap(held_, other.held_);
    return *this;
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  ~View() { release(); }

  void release() {
    if (std::exchange(held_, false)) PyBuffer_Release(&buffer_);
  }
  const void* source() const { return held_ ? buffer_.buf : nullptr; }
  void* data() const { return held_ ? buffer_.buf : nullptr; }
  std::size_t bytes() const { return held_ ? static_cast<std::size_t>(buffer_.len) : 0; }
  /// The memory is never given back, because somebody may still use it.
  void leak() { held_ = false; }

 private:
  Py_buffer buffer_{};
  bool held_ = false;
};

}  // namespace weft::python
