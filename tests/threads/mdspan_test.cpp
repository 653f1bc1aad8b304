// Views of ranks' arrays as mdspan, beside the loops over their points: by a double of mdspan, and by each
// implementation that is there.
#include "weft/mdspan.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "support/expect_error.hpp"
#include "support/mdspan_double.hpp"
#include "weft/weft.hpp"
#if __has_include(<cuda/std/mdspan>)
#include <cuda/std/mdspan>
#endif
#if __has_include(<mdspan/mdspan.hpp>)
#include <mdspan/mdspan.hpp>  // Kokkos'
#endif

namespace weft::test {

namespace {

using Complex = std::complex<double>;

struct Double {
  template <class T, class Extents>
  using View = mdspan_double::mdspan<T, Extents, mdspan_double::layout_stride>;
  template <class I, std::size_t... E>
  using Extents = mdspan_double::extents<I, E...>;
};
#if defined(__cpp_lib_mdspan)
struct Standard {
  template <class T, class Extents>
  using View = std::mdspan<T, Extents, std::layout_stride>;
  template <class I, std::size_t... E>
  using Extents = std::extents<I, E...>;
};
#endif
#if __has_include(<cuda/std/mdspan>)
struct Cuda {
  template <class T, class Extents>
  using View = cuda::std::mdspan<T, Extents, cuda::std::layout_stride>;
  template <class I, std::size_t... E>
  using Extents = cuda::std::extents<I, E...>;
};
#endif
#if __has_include(<mdspan/mdspan.hpp>)
struct Kokkos {
  template <class T, class Extents>
  using View = ::Kokkos::mdspan<T, Extents, ::Kokkos::layout_stride>;
  template <class I, std::size_t... E>
  using Extents = ::Kokkos::extents<I, E...>;
};
#endif

constexpr std::size_t any = mdspan_double::dynamic_extent;
template <class Family, class T>
using View1 = typename Family::template View<T, typename Family::template Extents<Index, any>>;
template <class Family, class T>
using View2 = typename Family::template View<T, typename Family::template Extents<Index, any, any>>;
template <class Family, class T>
using View3 = typename Family::template View<T, typename Family::template Extents<Index, any, any, any>>;

/// The element of a view of three axes at a global index.
template <class View>
auto* element(const View& view, const Box& box, const Shape& at) {
  return view.data_handle() + view.mapping()(at[0] - box.lo[0], at[1] - box.lo[1], at[2] - box.lo[2]);
}

template <class View>
void expect_extents(const View& view, const Box& box) {
  for (int a = 0; a < box.ndim(); ++a)
    EXPECT_EQ(static_cast<Index>(view.extent(static_cast<std::size_t>(a))),
              std::max<Index>(box.extent(a), 0));
}

template <class Family>
void check_both_sides(const Plan& plan, Index batch) {
  std::vector<double> points(plan.input_count());
  std::vector<Complex> modes(plan.output_count());
  for (Index item = 0; item < batch; ++item) {
    double* const in = points.data() + item * plan.input_distance();
    Complex* const out = modes.data() + item * plan.output_distance();
    const auto x = input_view<View3<Family, double>>(plan, in);
    const auto y = output_view<View3<Family, const Complex>>(plan, out);
    expect_extents(x, plan.input_box());
    expect_extents(y, plan.output_box());
    Index seen = 0;
    for_each_input(plan, [&](const Shape& at, std::size_t position) {
      EXPECT_EQ(element(x, plan.input_box(), at), in + position);
      ++seen;
    });
    EXPECT_EQ(seen, plan.input_box().count());
    for_each_output(plan, [&](const Shape& at, std::size_t position) {
      EXPECT_EQ(element(y, plan.output_box(), at), out + position);
    });
  }
}

Problem real_problem() {
  return {.shape = {5, 6, 7}, .transforms = {Transform::c2c, Transform::c2c, Transform::r2c}};
}

}  // namespace

template <class Family>
class Mdspan : public testing::Test {};

using Families = testing::Types<Double
#if defined(__cpp_lib_mdspan)
                                ,
                                Standard
#endif
#if __has_include(<cuda/std/mdspan>)
                                ,
                                Cuda
#endif
#if __has_include(<mdspan/mdspan.hpp>)
                                ,
                                Kokkos
#endif
                                >;
TYPED_TEST_SUITE(Mdspan, Families);

TYPED_TEST(Mdspan, HasTheLayoutOfThePlan) {
  for (const int ranks : {1, 2, 3, 6})  // on 6 ranks, some without points
    ThreadTeam(ranks).run([](const Comm& comm) {
      Problem p = real_problem();
      check_both_sides<TypeParam>(Plan(comm, p), 1);
      p.output = Distribution::fastest();
      check_both_sides<TypeParam>(Plan(comm, p), 1);
      p.input = Distribution::brick().with_order({2, 0, 1});
      p.output = Distribution::pencil(0).with_order({1, 2, 0});
      p.batch = 3;
      check_both_sides<TypeParam>(Plan(comm, p), 3);
      p.input = Distribution::slab(1).with_halo({1, 2, 0}, {2, 0, 1});
      p.output = Distribution::slab(1).with_halo({0, 0, 3}, {0, 1, 0}).with_order({2, 1, 0});
      check_both_sides<TypeParam>(Plan(comm, p), 3);
      p = real_problem();
      p.in_place = true;
      p.input = Distribution::slab(0).with_r2c_padding();
      check_both_sides<TypeParam>(Plan(comm, p), 1);
      p = real_problem();
      p.input = Distribution::slab(0).with_strides({100, 16, 2});
      check_both_sides<TypeParam>(Plan(comm, p), 1);
      p.shape = {1, 6, 1};
      p.input = Distribution::slab(1).with_strides({3, 3, 3});
      p.transforms[2] = Transform::none;
      p.transforms[1] = Transform::r2c;
      check_both_sides<TypeParam>(Plan(comm, p), 1);
    });
}

TYPED_TEST(Mdspan, ReachesIntoHalosAndPadding) {
  ThreadTeam(2).run([](const Comm& comm) {
    Problem p = real_problem();
    const Shape lower{1, 2, 0}, upper{2, 0, 1};
    p.input = Distribution::slab(0).with_halo(lower, upper).with_order({1, 0, 2});
    const Plan plan(comm, p);
    std::vector<double> points(plan.input_count());
    const auto whole = input_view<View3<TypeParam, double>>(plan, points.data(), lower, upper);
    const auto inside = input_view<View3<TypeParam, double>>(plan, points.data());
    EXPECT_EQ(whole.data_handle(), points.data());
    EXPECT_EQ(whole.data_handle() + whole.mapping()(1, 2, 0), inside.data_handle());
    Box box = plan.input_box();
    for (int a = 0; a < 3; ++a) {
      box.lo[a] -= lower[a];
      box.hi[a] += upper[a];
    }
    expect_extents(whole, box);
    EXPECT_EQ(box.count(), static_cast<Index>(points.size()));
    EXPECT_EQ(whole.data_handle() + whole.mapping()(box.extent(0) - 1, 7, 7), &points.back());
    const auto part = input_view<View3<TypeParam, double>>(plan, points.data(), {}, {0, 0, 1});
    EXPECT_EQ(part.data_handle(), inside.data_handle());
    EXPECT_EQ(static_cast<Index>(part.extent(2)), 8);
    const auto view = [&](const Shape& before, const Shape& behind) {
      static_cast<void>(input_view<View3<TypeParam, double>>(plan, points.data(), before, behind));
    };
    expect_error([&] { view({2, 2, 0}, {}); }, "a halo of {2, 2, 0} and {} elements");
    expect_error([&] { view({}, {2, 1, 1}); }, "at most what the array has before and behind the box");
    expect_error([&] { view({1, 2}, {}); }, "a halo of 2 axes");

    p = real_problem();
    p.in_place = true;
    p.input = Distribution::slab(0).with_r2c_padding();
    const Plan padded(comm, p);
    std::vector<double> lines(padded.input_count());
    const auto line = input_view<View3<TypeParam, double>>(padded, lines.data(), {}, {0, 0, 1});
    EXPECT_EQ(static_cast<Index>(line.extent(2)), 8);
    EXPECT_EQ(line.mapping()(0, 1, 0), 8);
  });
}

TYPED_TEST(Mdspan, OfEveryExtentAndIndexType) {
  using Small = typename TypeParam::template Extents<int, 5, any, 7>;
  using View = typename TypeParam::template View<double, Small>;
  const Plan plan(Comm::self(), real_problem());
  std::vector<double> points(plan.input_count());
  const auto view = input_view<View>(plan, points.data());
  EXPECT_EQ(view.extent(1), 6);
  EXPECT_EQ(view.mapping()(4, 5, 6), static_cast<int>(points.size()) - 1);
  using Other = typename TypeParam::template Extents<int, 4, any, 7>;
  const auto make = [&]<class V>(V*, const Box& box, const Strides& strides) {
    static_cast<void>(view_of<V>(points.data(), box, strides));
  };
  using OfOther = typename TypeParam::template View<double, Other>;
  expect_error([&] { make(static_cast<OfOther*>(nullptr), plan.input_box(), plan.input_strides()); },
               "5 elements along axis 0; expected 4, the static extent of the mdspan");
  expect_error([&] { make(static_cast<View1<TypeParam, double>*>(nullptr), plan.input_box(), {1}); },
               "3 axes and 1 strides; expected 1 of each");
  using Bytes =
      typename TypeParam::template View<double, typename TypeParam::template Extents<signed char, any>>;
  const auto bytes = static_cast<Bytes*>(nullptr);
  make(bytes, Box{{0}, {127}}, {1});
  expect_error(
      [&] {
        make(bytes, Box{{0}, {128}}, {1});
      },
      "no more than the index type of the mdspan counts");
  expect_error([&] { make(bytes, Box{{0}, {65}}, {2}); }, "elements of {65} at strides {2}");
  // Two rows of three elements, the second one's between those of the first.
  const auto two = static_cast<View2<TypeParam, double>*>(nullptr);
  make(two, Box{{0, 0}, {2, 3}}, {6, 2});
  expect_error([&] { make(two, Box{{0, 0}, {2, 3}}, {5, 2}); }, "strides {5, 2} of {2, 3} elements");
  make(two, Box{{0, 0}, {2, 0}}, {5, 2});
  make(two, Box{{0, 0}, {1, 3}}, {1, 2});
}

TYPED_TEST(Mdspan, OfWhatAnOperatorWorksOn) {
  ThreadTeam(3).run([](const Comm& comm) {
    Problem p{.shape = {6, 5, 4}, .output = Distribution::slab(0)};
    p.between = Between::modes;
    p.batch = 2;
    p.backward_scale = Scale::full;
    Plan plan(comm, p);
    std::vector<Complex> x(plan.input_count()), y(plan.output_count()), expected(y.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = Complex(static_cast<double>(i % 7), 1);
    plan.apply(x.data(), expected.data(), [](const Block& block) {
      for_each_element<Complex>(block, [](const Fields<Complex>& f, const Shape& k) {
        f[1] *= static_cast<double>(k[0] + 10 * k[1] + 100 * k[2]);
      });
    });
    plan.apply(x.data(), y.data(), [](const Block& block) {
      const auto modes = field_view<View3<TypeParam, Complex>>(block, 1);
      const Shape lo = block.box.lo;
      for (Index i = 0; i < block.box.extent(0); ++i)
        for (Index j = 0; j < block.box.extent(1); ++j)
          for (Index k = 0; k < block.box.extent(2); ++k)
            modes.data_handle()[modes.mapping()(i, j, k)] *=
                static_cast<double>(lo[0] + i + 10 * (lo[1] + j) + 100 * (lo[2] + k));
      const auto of_reals = [&] { static_cast<void>(field_view<View3<TypeParam, double>>(block)); };
      expect_error(of_reals, "view: elements of another type");
    });
    EXPECT_EQ(y, expected);
    EXPECT_NE(y, x);
  });
}

#if defined(__cpp_lib_mdspan)
TEST(MdspanOfTheStandard, IsShort) {
  const Plan plan(Comm::self(), real_problem());
  std::vector<double> points(plan.input_count());
  std::vector<Complex> modes(plan.output_count());
  points.back() = 3;
  modes.back() = 4;
  EXPECT_EQ((input_view<3>(plan, points.data())[4, 5, 6]), 3.0);
  EXPECT_EQ((output_view<3>(plan, modes.data())[4, 5, 3]), 4.0);
}
#endif

}  // namespace weft::test
