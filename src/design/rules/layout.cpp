// How the boxes of the local FFTs lie in memory.
#include <algorithm>

#include "design/rules/rules.hpp"

namespace weft {

/// An exchange that packs nothing gets long runs of memory to work on, and any other one lines that are
/// contiguous once they have been unpacked; but GPUs transform strided lines as fast, or copy them aside in
/// less time than a reshape takes for it.
Chosen<bool> choose_layout(const Given& given, const Offers& offers) {
  const Wish<LayoutWish>& wish = given.wishes.layout;
  if (wish.value != LayoutWish::automatic)
    return {wish.value == LayoutWish::contiguous, wish.origin, wish.reason()};
  if (given.on_device()) return {false, Origin::rule, "auto: a GPU transforms strided lines as fast"};
  if (std::all_of(offers.begin(), offers.end(), [](const Offer* o) { return packs_nothing(o->traits); }))
    return {false, Origin::rule, "auto: nothing is packed"};
  return {true, Origin::rule, "auto: unpacking makes lines contiguous"};
}

}  // namespace weft
