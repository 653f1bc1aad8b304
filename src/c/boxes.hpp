// Boxes of C and of C++.
#pragma once

#include "weft/box.hpp"
#include "weft/weft.h"

namespace weft::c {

/// Throws for a number of axes that no array has.
Box box_of(const weft_box& box, const char* operation);
weft_box box_of(const Box& box);

/// Copies one value per axis; the places beyond stay as they are.
template <class Values, class T>
void copy_axes(const Values& from, T* to) {
  for (int a = 0; a < from.size(); ++a) to[a] = from[a];
}

}  // namespace weft::c
