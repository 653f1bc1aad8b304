#include "c/boxes.hpp"

#include "c/failure.hpp"
#include "c/memory.hpp"

namespace weft::c {

static_assert(WEFT_MAX_AXES == max_axes);

namespace {

bool has_axes(const weft_box* box) {
  return box != nullptr && box->ndim >= 0 && box->ndim <= max_axes;
}

}  // namespace

Box box_of(const weft_box& box, const char* operation) {
  if (!has_axes(&box)) throw bad_argument(operation, std::to_string(box.ndim) + " axes", "0 to 8 axes");
  return {Shape::from(box.lo, box.lo + box.ndim), Shape::from(box.hi, box.hi + box.ndim)};
}

weft_box box_of(const Box& box) {
  weft_box result{};
  result.ndim = box.ndim();
  copy_axes(box.lo, result.lo);
  copy_axes(box.hi, result.hi);
  return result;
}

}  // namespace weft::c

using namespace weft::c;

int64_t weft_box_count(const weft_box* box) {
  if (!has_axes(box) || box->ndim == 0) return 0;
  int64_t points = 1;
  for (int a = 0; a < box->ndim; ++a)
    if (box->hi[a] <= box->lo[a]) return 0;
  for (int a = 0; a < box->ndim; ++a) {
    int64_t n = 0;
    if (__builtin_sub_overflow(box->hi[a], box->lo[a], &n) || __builtin_mul_overflow(points, n, &points))
      return -1;
  }
  return points;
}

int weft_box_contains(const weft_box* box, const weft_box* part) {
  if (!has_axes(box) || !has_axes(part) || box->ndim != part->ndim) return 0;
  return box_of(*box, "box").contains(box_of(*part, "box")) ? 1 : 0;
}

weft_status weft_box_intersect(const weft_box* a, const weft_box* b, weft_box* common) {
  return guarded([&] {
    constexpr const char* operation = "box: intersect";
    check_given(a, operation, "a");
    check_given(b, operation, "b");
    check_given(common, operation, "common");
    if (a->ndim != b->ndim)
      throw bad_argument(operation, std::to_string(a->ndim) + " and " + std::to_string(b->ndim) + " axes",
                         "boxes with equally many axes");
    *common = box_of(intersect(box_of(*a, operation), box_of(*b, operation)));
  });
}

weft_status weft_box_text(const weft_box* box, char** text) {
  return guarded([&] {
    check_given(box, "box: text", "box");
    check_given(text, "box: text", "text");
    *text = copy_of(to_string(box_of(*box, "box: text")));
  });
}
