#include "weft/box.hpp"

#include <algorithm>
#include <ostream>

namespace weft {

Shape Box::extents() const {
  Shape e(ndim(), 0);
  for (int a = 0; a < ndim(); ++a) e[a] = extent(a);
  return e;
}

Index Box::count() const {
  if (ndim() == 0) return 0;
  Index n = 1;
  for (int a = 0; a < ndim(); ++a) n *= std::max<Index>(0, extent(a));
  return n;
}

bool Box::empty() const {
  for (int a = 0; a < ndim(); ++a)
    if (hi[a] <= lo[a]) return true;
  return ndim() == 0;
}

bool Box::contains(const Box& other) const {
  for (int a = 0; a < ndim(); ++a)
    if (other.lo[a] < lo[a] || other.hi[a] > hi[a]) return false;
  return true;
}

Box Box::whole(const Shape& shape) {
  return Box{Shape(shape.size(), 0), shape};
}

Box intersect(const Box& a, const Box& b) {
  Box c = a;
  for (int i = 0; i < a.ndim(); ++i) {
    c.lo[i] = std::max(a.lo[i], b.lo[i]);
    c.hi[i] = std::max(c.lo[i], std::min(a.hi[i], b.hi[i]));
  }
  return c;
}

std::string to_string(const Box& box) {
  std::string text = "[";
  for (int a = 0; a < box.ndim(); ++a) {
    if (a > 0) text += ", ";
    text += std::to_string(box.lo[a]) + ":" + std::to_string(box.hi[a]);
  }
  return text + ")";
}

std::ostream& operator<<(std::ostream& out, const Box& box) {
  return out << to_string(box);
}

}  // namespace weft
