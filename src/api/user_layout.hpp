// How the user's arrays lie in memory: from what a distribution says of one rank's memory to strides, and
// whether that can be right.
#pragma once

#include "geometry/layout.hpp"
#include "weft/problem.hpp"

namespace weft {

/// Throws `weft::Error` for orders, strides, halos and paddings that are wrong whatever the box is.
void check_memory(const Distribution& d, const Problem& problem, bool is_input);

/// The layout of the array of one side on this rank. With a batch it has one axis more, the last, from one
/// array to the next; `box` and `order` are of one array. Throws `weft::Error` if elements would coincide.
Layout user_layout(const Problem& problem, bool is_input, const Box& box, const Order& order);

/// Throws `weft::Error` unless two layouts of one memory serve an in-place problem: see `Problem::in_place`.
/// `in_box` and `out_box` are of one array.
void check_in_place(const Problem& problem, const Box& in_box, const Layout& in, const Box& out_box,
                    const Layout& out);

}  // namespace weft
