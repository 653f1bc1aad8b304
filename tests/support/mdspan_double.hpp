// As much of mdspan as weft/mdspan.hpp asks of an implementation, for compilers whose library has none. It
// checks what the standard asks of callers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <utility>

// NOLINTBEGIN(readability-identifier-naming): the standard's names
namespace weft::test::mdspan_double {

inline constexpr std::size_t dynamic_extent = std::numeric_limits<std::size_t>::max();

template <class IndexType, std::size_t... Extents>
class extents {
 public:
  using index_type = IndexType;
  using rank_type = std::size_t;
  static constexpr rank_type rank() { return sizeof...(Extents); }
  static constexpr std::size_t static_extent(rank_type r) { return std::array{Extents...}[r]; }

  extents() = default;
  template <class Other>
  explicit extents(const std::array<Other, sizeof...(Extents)>& all) {
    for (std::size_t r = 0; r < rank(); ++r) {
      if (static_extent(r) != dynamic_extent && std::cmp_not_equal(static_extent(r), all[r]))
        throw std::logic_error("another length than the static extent");
      extents_[r] = static_cast<IndexType>(all[r]);
    }
  }
  index_type extent(rank_type r) const { return extents_[r]; }

 private:
  std::array<IndexType, sizeof...(Extents)> extents_{};
};

template <class IndexType, class Ranks>
struct all_dynamic;
template <class IndexType, std::size_t... Ranks>
struct all_dynamic<IndexType, std::index_sequence<Ranks...>> {
  using type = extents<IndexType, (static_cast<void>(Ranks), dynamic_extent)...>;
};
template <class IndexType, std::size_t Rank>
using dextents = typename all_dynamic<IndexType, std::make_index_sequence<Rank>>::type;

struct layout_stride {
  template <class Extents>
  class mapping {
   public:
    using index_type = typename Extents::index_type;
    mapping() = default;
    template <class Other>
    mapping(const Extents& e, const std::array<Other, Extents::rank()>& strides) : extents_(e) {
      std::array<std::size_t, Extents::rank()> axes;
      for (std::size_t r = 0; r < axes.size(); ++r) {
        axes[r] = r;
        strides_[r] = static_cast<index_type>(strides[r]);
        if (strides[r] <= 0) throw std::logic_error("a stride of at most 0");
      }
      // For some order of the axes each stride steps over what comes before.
      bool steps_over = false;
      do {
        bool all = true;
        for (std::size_t i = 1; i < axes.size(); ++i)
          all = all && strides_[axes[i]] >= strides_[axes[i - 1]] * e.extent(axes[i - 1]);
        steps_over = steps_over || all;
      } while (std::next_permutation(axes.begin(), axes.end()));
      if (!steps_over) throw std::logic_error("strides that do not step over each other");
    }

    std::array<index_type, Extents::rank()> strides() const { return strides_; }
    const Extents& extents() const { return extents_; }
    template <class... Indices>
    index_type operator()(Indices... indices) const {
      const std::array<index_type, Extents::rank()> at{static_cast<index_type>(indices)...};
      index_type place = 0;
      for (std::size_t r = 0; r < at.size(); ++r) {
        if (at[r] < 0 || at[r] >= extents_.extent(r)) throw std::logic_error("an index out of range");
        place += at[r] * strides_[r];
      }
      return place;
    }

   private:
    Extents extents_;
    std::array<index_type, Extents::rank()> strides_{};
  };
};

template <class T, class Extents, class Layout>
class mdspan {
 public:
  using extents_type = Extents;
  using mapping_type = typename Layout::template mapping<Extents>;
  using index_type = typename Extents::index_type;
  using rank_type = std::size_t;
  using value_type = std::remove_cv_t<T>;
  using data_handle_type = T*;
  static constexpr rank_type rank() { return Extents::rank(); }

  mdspan(data_handle_type data, const mapping_type& mapping) : data_(data), mapping_(mapping) {}
  index_type extent(rank_type r) const { return mapping_.extents().extent(r); }
  data_handle_type data_handle() const { return data_; }
  const mapping_type& mapping() const { return mapping_; }

 private:
  data_handle_type data_;
  mapping_type mapping_;
};

}  // namespace weft::test::mdspan_double
// NOLINTEND(readability-identifier-naming)
