// A rank's part of an array as an mdspan: std::mdspan, where the standard library has it (C++23), or another
// implementation of it, such as Kokkos' or CUDA's. Views have the layout of the plan: its memory order,
// strides, halo and padding. Not part of weft/weft.hpp.
#pragma once

#include <version>

#if defined(__cpp_lib_mdspan)
#include <mdspan>
#endif

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include "weft/axis_vector.hpp"
#include "weft/block.hpp"
#include "weft/box.hpp"
#include "weft/error.hpp"
#include "weft/plan.hpp"

namespace weft {

/// For Weft's own use.
namespace mdspan_detail {

/// "{4, 1}"
inline std::string text_of(const AxisVector<Index>& values) {
  std::string text;
  for (const Index v : values) text += (text.empty() ? "{" : ", ") + std::to_string(v);
  return text.empty() ? "{}" : text + "}";
}

/// What a mapping of layout_stride takes: each stride, from the smallest on, steps over all that the smaller
/// ones reach. Along axes of one element, and of an empty array, any stride is as good.
inline Strides strides_of_mapping(const Shape& extents, Strides strides) {
  const int n = extents.size();
  bool empty = false;
  for (int a = 0; a < n; ++a) {
    empty = empty || extents[a] <= 0;
    if (extents[a] == 1) strides[a] = 1;
  }
  if (empty) {
    Index dense = 1;
    for (int a = n - 1; a >= 0; --a) {
      strides[a] = dense;
      dense *= std::max<Index>(extents[a], 1);
    }
    return strides;
  }
  AxisVector<int> axes;  // from fastest to slowest in memory
  for (int a = 0; a < n; ++a) axes.push_back(a);
  std::sort(axes.begin(), axes.end(), [&](int a, int b) {
    return std::pair(strides[a], extents[a]) < std::pair(strides[b], extents[b]);
  });
  for (int i = 0; i < n; ++i)
    if (strides[axes[i]] < (i == 0 ? 1 : strides[axes[i - 1]] * extents[axes[i - 1]]))
      throw Error("view",
                  "strides " + mdspan_detail::text_of(strides) + " of " + mdspan_detail::text_of(extents) +
                      " elements",
                  "strides that each step over all elements along the axes of smaller ones, as those of "
                  "layout_stride do");
  return strides;
}

/// Whether so many elements, at such strides, can be counted by a type.
template <class T>
bool counts(const Shape& extents, const Strides& strides) {
  Index last = 0;
  for (int a = 0; a < extents.size(); ++a) {
    if (!std::in_range<T>(extents[a])) return false;
    last += std::max<Index>(extents[a] - 1, 0) * strides[a];
  }
  return std::in_range<T>(last + 1);
}

}  // namespace mdspan_detail

/// The elements of a box in an array as a `View`, an mdspan of layout_stride: view[i, j, k] is the element of
/// the global index (box.lo[0] + i, box.lo[1] + j, box.lo[2] + k), whatever the memory order. Its extents may
/// be static or dynamic, its index type and its accessor any. `data` points to the array, of which `offset`
/// is the place of the first element of the box, and `strides` are the steps from element to element.
///
/// Nothing is read, and nothing is allocated. Throws `weft::Error` for a box with another number of axes
/// than the view, for other lengths than its static extents, for more elements than its index type counts,
/// and for strides that layout_stride does not have: the elements of one axis between those of another.
/// Local.
template <class View>
View view_of(typename View::data_handle_type data, const Box& box, const Strides& strides, Index offset = 0) {
  using Extents = typename View::extents_type;
  using Mapping = typename View::mapping_type;
  using Numbers = std::remove_cvref_t<decltype(std::declval<const Mapping&>().strides())>;
  static_assert(std::is_constructible_v<Mapping, Extents, Numbers>, "View is an mdspan of layout_stride");
  constexpr auto axes = static_cast<int>(View::rank());
  static_assert(axes > 0, "View is an mdspan of at least one axis");
  if (box.ndim() != axes || strides.size() != axes)
    throw Error("view",
                std::to_string(box.ndim()) + " axes and " + std::to_string(strides.size()) + " strides",
                std::to_string(axes) + " of each, as of the mdspan");
  Shape lengths;
  for (int a = 0; a < axes; ++a) {
    lengths.push_back(std::max<Index>(box.extent(a), 0));
    const auto fixed = Extents::static_extent(static_cast<typename Extents::rank_type>(a));
    if (fixed != static_cast<std::size_t>(-1) && std::cmp_not_equal(fixed, lengths[a]))
      throw Error("view", std::to_string(lengths[a]) + " elements along axis " + std::to_string(a),
                  std::to_string(fixed) + ", the static extent of the mdspan");
  }
  const Strides steps = mdspan_detail::strides_of_mapping(lengths, strides);
  if (!mdspan_detail::counts<typename View::index_type>(lengths, steps))
    throw Error(
        "view",
        "elements of " + mdspan_detail::text_of(lengths) + " at strides " + mdspan_detail::text_of(steps),
        "no more than the index type of the mdspan counts");
  Numbers extent_of{}, stride_of{};
  for (int a = 0; a < axes; ++a) {
    extent_of[static_cast<std::size_t>(a)] = static_cast<typename View::index_type>(lengths[a]);
    stride_of[static_cast<std::size_t>(a)] = static_cast<typename View::index_type>(steps[a]);
  }
  return View(data + (box.empty() ? 0 : offset), Mapping(Extents(extent_of), stride_of));
}

/// For Weft's own use.
namespace mdspan_detail {

/// What a plan says of one of its arrays.
struct Side {
  const Box& box;          ///< this rank's
  const Strides& strides;  ///< of its array
  Index offset;            ///< the place of the first element of the box
  std::size_t count;       ///< elements of the array
};

/// The view of a box that is larger by `lower` and `upper`, which have to be in the array.
template <class View>
View view_of_side(const Side& side, typename View::data_handle_type data, const Shape& lower,
                  const Shape& upper) {
  Box box = side.box;
  Index offset = side.offset, last = 0;
  for (const Shape* margin : {&lower, &upper})
    if (!margin->empty() && margin->size() != box.ndim())
      throw Error("view", "a halo of " + std::to_string(margin->size()) + " axes",
                  "one number for each of " + std::to_string(box.ndim()) + " axes");
  for (int a = 0; a < box.ndim(); ++a) {
    if (!lower.empty()) box.lo[a] -= lower[a];
    if (!lower.empty()) offset -= lower[a] * side.strides[a];
    if (!upper.empty()) box.hi[a] += upper[a];
    last += std::max<Index>(box.extent(a) - 1, 0) * side.strides[a];
  }
  if (!box.empty() && (offset < 0 || std::cmp_greater_equal(offset + last, side.count)))
    throw Error(
        "view",
        "a halo of " + mdspan_detail::text_of(lower) + " and " + mdspan_detail::text_of(upper) + " elements",
        "at most what the array has before and behind the box");
  return view_of<View>(data, box, side.strides, offset);
}

}  // namespace mdspan_detail

/// This rank's input as a `View`, an mdspan of layout_stride with elements of the plan's type, which is not
/// checked: view[i, j, k] is the element of the global index input_box().lo + (i, j, k). `data` is what
/// executions get: the first array of a batch; the others lie `input_distance()` elements further each. With
/// `lower` and `upper` the view begins so many elements before the box and ends so many behind it, one number
/// for each axis: in the halo (`Distribution::with_halo`), or in the padding of an r2c input. Throws as
/// `view_of`, and for more elements around the box than there are. Local.
template <class View>
View input_view(const Plan& plan, typename View::data_handle_type data, const Shape& lower = {},
                const Shape& upper = {}) {
  return mdspan_detail::view_of_side<View>(
      {plan.input_box(), plan.input_strides(), plan.input_offset(), plan.input_count()}, data, lower, upper);
}
/// The same of this rank's output.
template <class View>
View output_view(const Plan& plan, typename View::data_handle_type data, const Shape& lower = {},
                 const Shape& upper = {}) {
  return mdspan_detail::view_of_side<View>(
      {plan.output_box(), plan.output_strides(), plan.output_offset(), plan.output_count()}, data, lower,
      upper);
}

/// The i-th field of what an operator works on (`Plan::apply`), counted from 0: view[i, j, k] is the element
/// of the global index block.box.lo + (i, j, k). Throws `weft::Error` for elements of another type than those
/// of the view, and as `view_of`. Local.
template <class View>
View field_view(const Block& block, Index field = 0) {
  using T = typename View::value_type;
  if (!has_elements<T>(block))
    throw Error("view", "elements of another type", "those between the transforms of the plan");
  return view_of<View>(static_cast<T*>(block.data), block.box, block.strides, field * block.field_stride);
}

#if defined(__cpp_lib_mdspan)
/// The mdspan of the standard library for an array of so many axes.
template <class T, std::size_t Axes>
using StridedView = std::mdspan<T, std::dextents<Index, Axes>, std::layout_stride>;

/// With it, `input_view<3>(plan, data)`; of `std::complex<double>*` a view of such elements.
template <std::size_t Axes, class T>
StridedView<T, Axes> input_view(const Plan& plan, T* data, const Shape& lower = {}, const Shape& upper = {}) {
  return input_view<StridedView<T, Axes>>(plan, data, lower, upper);
}
template <std::size_t Axes, class T>
StridedView<T, Axes> output_view(const Plan& plan, T* data, const Shape& lower = {},
                                 const Shape& upper = {}) {
  return output_view<StridedView<T, Axes>>(plan, data, lower, upper);
}
#endif

}  // namespace weft
