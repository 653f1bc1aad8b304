// heFFTe's boxes and the helpers that cut an array into them.
#include <gtest/gtest.h>

#include <sstream>

#include "heffte.h"

namespace weft::test {

using heffte::box3d;

TEST(HeffteBoxes, HaveInclusiveCorners) {
  const box3d<> b({1, 2, 3}, {4, 2, 8}, {2, 0, 1});
  EXPECT_EQ(b.size, (std::array<int, 3>{4, 1, 6}));
  EXPECT_EQ(b.count(), 24);
  EXPECT_TRUE(b.is2d());
  EXPECT_FALSE(b.empty());
  EXPECT_EQ(b.osize(0), 6);
  EXPECT_EQ(b.find_order(0), 1);
  EXPECT_TRUE(box3d<>({0, 0, 0}, {3, -1, 3}).empty());
  EXPECT_EQ(box3d<>({0, 0, 0}, {3, -1, 3}).count(), 0);
  EXPECT_EQ(box3d<long long>({0, 0, 0}, {1 << 20, 1 << 20, 1 << 10}).count(), 1048577LL * 1048577 * 1025);
  using Two = std::array<int, 2>;  // a bare {1, 2} could be a corner of three axes as well, as in heFFTe
  EXPECT_EQ((heffte::box2d<>(Two{1, 2}, Two{3, 4}, Two{1, 0})), box3d<>({1, 2, 0}, {3, 4, 0}));
  std::ostringstream text;
  text << b;
  EXPECT_EQ(text.str(), "1  4  (4)\n2  2  (1)\n3  8  (6)\n(2,0,1)\n\n");
}

TEST(HeffteBoxes, MeetAndHalve) {
  const box3d<> a({0, 0, 0}, {5, 5, 5}, {2, 1, 0}), b({3, -2, 4}, {9, 2, 4});
  EXPECT_EQ(a.collide(b), box3d<>({3, 0, 4}, {5, 2, 4}));
  EXPECT_TRUE(a.collide(b).ordered_same_as(a));
  EXPECT_FALSE(a.ordered_same_as(b));
  EXPECT_TRUE(a.collide(box3d<>({6, 0, 0}, {7, 5, 5})).empty());
  EXPECT_TRUE(a.collide(box3d<>({0, 0, 0}, {-1, 5, 5})).empty());
  EXPECT_EQ(a.r2c(0), box3d<>({0, 0, 0}, {3, 5, 5}));
  EXPECT_EQ(a.r2c(2), box3d<>({0, 0, 0}, {5, 5, 3}));
  EXPECT_NE(a, b);
}

TEST(HeffteBoxes, SplitWorld) {
  const box3d<> world({0, 0, 0}, {6, 4, 2}, {1, 0, 2});
  const auto boxes = heffte::split_world(world, {3, 2, 1});
  ASSERT_EQ(boxes.size(), 6u);
  EXPECT_EQ(boxes[0], box3d<>({0, 0, 0}, {2, 2, 2}));
  EXPECT_EQ(boxes[1], box3d<>({3, 0, 0}, {4, 2, 2}));
  EXPECT_EQ(boxes[5], box3d<>({5, 3, 0}, {6, 4, 2}));
  EXPECT_TRUE(boxes[4].ordered_same_as(world));
  EXPECT_EQ(heffte::find_world(boxes), world);
  EXPECT_TRUE(heffte::world_complete(boxes, world));
  EXPECT_TRUE(heffte::match(boxes, heffte::reorder(boxes, {0, 1, 2})));
  EXPECT_TRUE(heffte::is_pencils(world, boxes, 2));
  EXPECT_FALSE(heffte::is_slab(world, boxes, 1, 2));
  EXPECT_THROW(heffte::world_complete({boxes[0], boxes[1]}, world), std::invalid_argument);
  EXPECT_THROW(heffte::world_complete({boxes[0], world}, world), std::invalid_argument);
  const box3d<> away({1, 0, 0}, {2, 1, 1});
  EXPECT_THROW(heffte::world_complete({away}, away), std::invalid_argument);
  heffte::rank_remap first_two;
  first_two.set_subranks(3, 2);
  const auto some = heffte::split_world(world, {2, 1, 1}, first_two);
  ASSERT_EQ(some.size(), 3u);
  EXPECT_EQ(some[1], box3d<>({4, 0, 0}, {6, 4, 2}));
  EXPECT_TRUE(some[2].empty());
}

TEST(HeffteBoxes, Grids) {
  using Two = std::array<int, 2>;
  using Three = std::array<int, 3>;
  EXPECT_EQ(heffte::make_procgrid(1), (Two{1, 1}));
  EXPECT_EQ(heffte::make_procgrid(7), (Two{1, 7}));
  EXPECT_EQ(heffte::make_procgrid(12), (Two{3, 4}));
  const box3d<> cube({0, 0, 0}, {7, 7, 7}), flat({0, 0, 0}, {1, 11, 11});
  EXPECT_EQ(heffte::make_procgrid2d(cube, 1, {3, 4}), (Three{3, 1, 4}));
  EXPECT_EQ(heffte::make_procgrid2d(flat, 2, {3, 4}), (Three{2, 6, 1}));
  EXPECT_THROW(heffte::make_procgrid2d(flat, 2, {5, 5}), std::runtime_error);
  EXPECT_EQ(heffte::proc_setup_min_surface(cube, 8), (Three{2, 2, 2}));
  EXPECT_EQ(heffte::proc_setup_min_surface(flat, 4), (Three{1, 2, 2}));
  EXPECT_EQ(heffte::proc_setup_min_surface(box3d<>({0, 0, 0}, {1, 1, 1}), 16), (Three{1, 1, 16}));
  EXPECT_THROW(heffte::proc_setup_min_surface(cube, 0), std::runtime_error);
}

TEST(HeffteBackends, SayWhatThereIs) {
  namespace backend = heffte::backend;
  static_assert(backend::is_enabled<backend::stock>::value && backend::is_enabled<backend::fftw_sin1>::value);
  static_assert(backend::is_enabled<backend::mkl_cos>::value && !backend::is_enabled<backend::rocfft>::value);
  static_assert(backend::uses_fft_types<backend::mkl>::value &&
                !backend::uses_fft_types<backend::stock_cos>::value);
  static_assert(!backend::uses_gpu<backend::fftw>::value);
  static_assert(std::is_same_v<backend::default_backend<heffte::tag::cpu>::type, backend::fftw>);
  static_assert(std::is_same_v<heffte::fft_output<float>::type, std::complex<float>>);
  static_assert(std::is_same_v<heffte::transform_output<double, backend::fftw_cos>::type, double>);
  EXPECT_EQ(backend::name<backend::fftw_cos>(), "fftw-cos-type-II");
  EXPECT_EQ(backend::name<heffte::tag::cpu>(), "cpu");
}

}  // namespace weft::test
