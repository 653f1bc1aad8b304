// heFFTe's transforms over Weft, against sums, on every rank of MPI_COMM_WORLD.
#include <gtest/gtest.h>

#include <sstream>

#include "world.hpp"

namespace weft::test {

namespace {

using heffte::box3d;
using heffte::scale;
namespace backend = heffte::backend;

double factor_of(scale s, double full) {
  return s == scale::none ? 1 : s == scale::full ? full : std::sqrt(full);
}

/// Forward and backward with all scales, out of place and, if elements are alike on both sides, in place.
template <class In, class Out, class Transform>
void check(const Transform& fft, const World& before, const World& after, double full) {
  std::vector<In> in = part<In>(before, fft.inbox()), again(in.size());
  std::vector<Out> out(static_cast<std::size_t>(fft.size_outbox()));
  const std::vector<Out> right = part<Out>(after, fft.outbox());
  for (scale s : {scale::none, scale::full, scale::symmetric}) {
    fft.forward(in.data(), out.data(), s);
    EXPECT_LT(difference(after, fft.outbox(), out.data(), factor_of(s, full)), allowed<Out>());
    EXPECT_NEAR(fft.get_scale_factor(s), s == scale::symmetric ? std::sqrt(full) : full, 1e-12 * full);
    fft.backward(right.data(), again.data(), s);
    const double f = factor_of(s, full) / full;
    EXPECT_LT(difference(before, fft.inbox(), again.data(), f), allowed<In>());
  }
  EXPECT_EQ(in, part<In>(before, fft.inbox())) << "the input was touched";
  if constexpr (std::is_same_v<In, Out>) {
    std::vector<In> both(static_cast<std::size_t>(std::max(fft.size_inbox(), fft.size_outbox())));
    std::copy(in.begin(), in.end(), both.begin());
    fft.forward(both.data(), both.data());
    EXPECT_LT(difference(after, fft.outbox(), both.data()), allowed<Out>());
    fft.backward(both.data(), both.data(), scale::full);
    EXPECT_LT(difference(before, fft.inbox(), both.data()), allowed<In>());
  }
}

const std::array<int, 3> odd_size = {5, 6, 9};

}  // namespace

TEST(Heffte, ComplexTransformsInAnyOrder) {
  const World before = some_world(odd_size, false), after = fourier(before);
  const double full = 1 / static_cast<double>(before.values.size());
  for (const auto& order : {std::array<int, 3>{0, 1, 2}, {2, 0, 1}, {1, 2, 0}}) {
    const heffte::fft3d<backend::fftw> fft(brick(before.box(), order), pencil(before.box(), 1, {2, 1, 0}),
                                           MPI_COMM_WORLD);
    check<std::complex<double>, std::complex<double>>(fft, before, after, full);
    check<std::complex<float>, std::complex<float>>(fft, before, after, full);
  }
}

TEST(Heffte, RealInboxOfComplexTransforms) {
  const World before = some_world(odd_size, true), after = fourier(before);
  const double full = 1 / static_cast<double>(before.values.size());
  heffte::fft3d<backend::stock> fft(pencil(before.box(), 2), brick(before.box()), MPI_COMM_WORLD);
  check<double, std::complex<double>>(fft, before, after, full);
  check<float, std::complex<float>>(fft, before, after, full);
  const std::vector<double> in = part<double>(before, fft.inbox());
  const std::vector<std::complex<double>> out = fft.forward(in, scale::symmetric);
  const std::vector<std::complex<double>> complex = fft.backward(out, scale::symmetric);
  const std::vector<double> real = fft.backward_real(out, scale::symmetric);
  EXPECT_LT(difference(before, fft.inbox(), complex.data()), allowed<double>());
  EXPECT_LT(difference(before, fft.inbox(), real.data()), allowed<double>());
}

TEST(Heffte, RealTransformsHalveAnyAxis) {
  const World before = some_world(odd_size, true);
  const double full = 1 / static_cast<double>(before.values.size());
  for (int axis = 0; axis < 3; ++axis) {
    const World after = fourier(before, axis);
    EXPECT_EQ(before.box().r2c(axis), after.box());
    heffte::fft3d_r2c<backend::fftw> fft(brick(before.box(), {1, 0, 2}), brick(after.box()), axis,
                                         MPI_COMM_WORLD);
    check<double, std::complex<double>>(fft, before, after, full);
    check<float, std::complex<float>>(fft, before, after, full);
    const std::vector<float> in = part<float>(before, fft.inbox());
    const std::vector<std::complex<float>> out = fft.forward(in);
    const std::vector<float> again = fft.backward(out, scale::full);
    EXPECT_LT(difference(before, fft.inbox(), again.data()), allowed<float>());
    std::vector<std::complex<float>> both(
        static_cast<std::size_t>(std::max(fft.size_inbox() / 2 + 1, fft.size_outbox())));
    float* const reals = reinterpret_cast<float*>(both.data());
    std::copy(in.begin(), in.end(), reals);
    fft.forward(reals, both.data());
    EXPECT_LT(difference(after, fft.outbox(), both.data()), allowed<float>());
    fft.backward(both.data(), reals, scale::full);
    EXPECT_LT(difference(before, fft.inbox(), reals), allowed<float>());
  }
}

/// heFFTe's cosines and sines: forward as FFTW's, backward as FFTW's times `larger`.
template <class Tag>
void check_cosines(int length_more, double larger, const std::function<Complex(int, int, int)>& kernel) {
  const World before = some_world({4, 5, 7}, true);
  World after = before;
  double logical = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    after = transformed(after, a, after.size[a], kernel);
    logical *= 2 * (before.size[a] + length_more);
  }
  const heffte::rtransform<Tag> fft(pencil(before.box(), 0), brick(before.box(), {1, 2, 0}), MPI_COMM_WORLD);
  SCOPED_TRACE(backend::name<Tag>());
  check<double, double>(fft, before, after, 1 / (logical * larger));
  check<float, float>(fft, before, after, 1 / (logical * larger));
}

TEST(Heffte, CosinesAndSines) {
  const auto cos2 = [](int j, int k, int n) { return Complex(2 * std::cos(M_PI * (j + .5) * k / n)); };
  const auto sin2 = [](int j, int k, int n) { return Complex(2 * std::sin(M_PI * (j + .5) * (k + 1) / n)); };
  const auto cos1 = [](int j, int k, int n) {
    return Complex((j == 0 || j == n - 1 ? 1 : 2) * std::cos(M_PI * j * k / (n - 1)));
  };
  const auto sin1 = [](int j, int k, int n) {
    return Complex(2 * std::sin(M_PI * (j + 1) * (k + 1) / (n + 1)));
  };
  check_cosines<backend::fftw_cos>(0, 1, cos2);
  check_cosines<backend::fftw_sin>(0, 1, sin2);
  check_cosines<backend::fftw_cos1>(-1, 1, cos1);
  check_cosines<backend::fftw_sin1>(1, 1, sin1);
  check_cosines<backend::stock_cos>(0, 8, cos2);
  check_cosines<backend::stock_sin>(0, 8, sin2);
  check_cosines<backend::stock_cos1>(-1, 8, cos1);
}

TEST(Heffte, BatchesAndWorkspace) {
  constexpr int batch = 3;
  std::vector<World> before, after;
  for (int b = 0; b < batch; ++b) {
    before.push_back(some_world(odd_size, true, b + 1));
    after.push_back(fourier(before.back(), 0));
  }
  const heffte::fft3d_r2c<backend::fftw> fft(brick(before[0].box()), pencil(after[0].box(), 2), 0,
                                             MPI_COMM_WORLD);
  const auto points = static_cast<std::size_t>(fft.size_inbox()),
             modes = static_cast<std::size_t>(fft.size_outbox());
  std::vector<double> in, again(batch * points);
  for (const World& w : before)
    for (double x : part<double>(w, fft.inbox())) in.push_back(x);
  std::vector<std::complex<double>> out(batch * modes), workspace(7 + batch * fft.size_workspace(), 42.);
  fft.forward(batch, in.data(), out.data(), workspace.data(), scale::full);
  fft.backward(batch, out.data(), again.data(), workspace.data());
  for (std::size_t b = 0; b < batch; ++b) {
    EXPECT_LT(difference(after[b], fft.outbox(), out.data() + b * modes, 1. / 270), allowed<double>());
    EXPECT_LT(difference(before[b], fft.inbox(), again.data() + b * points), allowed<double>());
  }
  fft.forward(2, in.data(), out.data());
  EXPECT_LT(difference(after[1], fft.outbox(), out.data() + modes), allowed<double>());
  fft.forward(in.data(), out.data(), workspace.data());
  EXPECT_LT(difference(after[0], fft.outbox(), out.data()), allowed<double>());
  for (const auto& w : workspace) EXPECT_EQ(w, 42.);
}

TEST(Heffte, OptionsChangeNoResult) {
  const World before = some_world(odd_size, false), after = fourier(before);
  using heffte::reshape_algorithm;
  for (auto algorithm : {reshape_algorithm::alltoallv, reshape_algorithm::alltoall, reshape_algorithm::p2p,
                         reshape_algorithm::p2p_plined})
    for (bool reorder : {true, false})
      for (bool pencils : {true, false}) {
        heffte::plan_options options = heffte::default_options<backend::fftw>();
        options.algorithm = algorithm;
        options.use_reorder = reorder;
        options.use_pencils = pencils;
        options.use_gpu_aware = false;
        if (pencils) options.use_num_subranks((ranks() + 1) / 2);
        const auto fft = heffte::make_fft3d<backend::fftw>(brick(before.box()), brick(before.box()),
                                                           MPI_COMM_WORLD, options);
        const auto in = part<std::complex<double>>(before, fft.inbox());
        std::vector<std::complex<double>> out(in.size());
        fft.forward(in.data(), out.data());
        EXPECT_LT(difference(after, fft.outbox(), out.data()), allowed<double>()) << options;
      }
  std::ostringstream line;
  line << heffte::default_options<backend::mkl>();
  EXPECT_EQ(line.str(), "options = (fft1d:strided, mpi:alltoallv, decomposition:pencil, mpi:from-gpu)");
}

TEST(Heffte, SubcommunicatorOfTheFirstRanks) {
  const World before = some_world(odd_size, false), after = fourier(before);
  MPI_Comm some = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank() < 2 ? 0 : MPI_UNDEFINED, 0, &some);
  heffte::plan_options options = heffte::default_options<backend::fftw>();
  options.use_subcomm(some);
  const heffte::fft3d<backend::fftw> fft(brick(before.box()), brick(before.box()), MPI_COMM_WORLD, options);
  const auto in = part<std::complex<double>>(before, fft.inbox());
  std::vector<std::complex<double>> out(in.size());
  fft.forward(in.data(), out.data());
  EXPECT_LT(difference(after, fft.outbox(), out.data()), allowed<double>());
  if (some != MPI_COMM_NULL) heffte::mpi::comm_free(some);
  if (ranks() == 1) return;
  MPI_Comm_split(MPI_COMM_WORLD, rank() == 1 ? 0 : MPI_UNDEFINED, 0, &some);
  options.use_subcomm(some);
  try {
    const heffte::fft3d<backend::fftw> lacking(brick(before.box()), brick(before.box()), MPI_COMM_WORLD,
                                               options);
    ADD_FAILURE() << "no error";
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find("lacks rank 0"), std::string::npos) << e.what();
  }
  if (some != MPI_COMM_NULL) heffte::mpi::comm_free(some);
}

TEST(Heffte, TwoAxesAndLongIndices) {
  const World before = some_world({9, 14, 1}, false), after = fourier(before);
  using Two = std::array<long long, 2>;
  const long long first = 14 * rank() / ranks(), last = 14 * (rank() + 1) / ranks() - 1;
  const heffte::box2d<long long> mine(Two{0, first}, Two{8, last}, std::array<int, 2>{1, 0});
  const heffte::fft2d<backend::fftw, long long> fft(mine, mine, MPI_COMM_WORLD);
  check<std::complex<double>, std::complex<double>>(fft, before, after, 1. / (9 * 14));
  const World real = some_world({9, 14, 1}, true), half = fourier(real, 0);
  const heffte::box2d<long long> modes(Two{0, first}, Two{4, last});
  const heffte::fft2d_r2c<backend::fftw, long long> r2c(mine, modes, 0, MPI_COMM_WORLD);
  check<double, std::complex<double>>(r2c, real, half, 1. / (9 * 14));
}

// Ranks without points pass whatever they have, null included, and cannot tell whether a call is in place.
TEST(Heffte, RanksWithoutPoints) {
  const World before = some_world(odd_size, false), after = fourier(before);
  const box3d<> none({0, 0, 0}, {-1, -1, -1});
  const bool last = rank() == ranks() - 1;
  const heffte::fft3d<backend::fftw> fft(last ? before.box() : none, last ? before.box() : none,
                                         MPI_COMM_WORLD);
  auto both = part<std::complex<double>>(before, fft.inbox());
  std::vector<std::complex<double>> out(both.size());
  EXPECT_EQ(both.empty(), !last);
  fft.forward(both.data(), out.data());
  EXPECT_LT(difference(after, fft.outbox(), out.data()), allowed<double>());
  fft.backward(out.data(), out.data(), scale::full);
  EXPECT_LT(difference(before, fft.inbox(), out.data()), allowed<double>());
}

/// Complex numbers of a program's own.
struct Pair {
  float re, im;
};

}  // namespace weft::test

template <>
struct heffte::is_ccomplex<weft::test::Pair> : std::true_type {};

namespace weft::test {

TEST(Heffte, ComplexTypesOfOthers) {
  const World before = some_world(odd_size, false), after = fourier(before);
  const heffte::fft3d<backend::fftw> fft(brick(before.box()), brick(before.box()), MPI_COMM_WORLD);
  auto in = part<std::complex<float>>(before, fft.inbox());
  std::vector<Pair> out(in.size());
  fft.forward(in.data(), out.data());
  EXPECT_LT(difference(after, fft.outbox(), heffte::convert_to_standard(out.data())), allowed<float>());
  auto fftw = part<std::complex<double>>(before, fft.inbox());  // fftw_complex is double[2]
  auto* const pairs = reinterpret_cast<double(*)[2]>(fftw.data());
  fft.forward(pairs, pairs);
  EXPECT_LT(difference(after, fft.outbox(), fftw.data()), allowed<double>());
}

TEST(Heffte, TransformsMove) {
  using Fft = heffte::fft3d<backend::fftw>;
  static_assert(std::is_move_assignable_v<Fft> && !std::is_copy_constructible_v<Fft>);
  const World before = some_world(odd_size, false), after = fourier(before);
  Fft fft(brick(before.box()), brick(before.box()), MPI_COMM_WORLD);
  const box3d<> one = {{0, 0, 0}, {0, 0, 0}};
  Fft other(one, one, MPI_COMM_SELF);
  other = std::move(fft);
  const auto in = part<std::complex<double>>(before, other.inbox());
  std::vector<std::complex<double>> out(in.size());
  other.forward(in.data(), out.data());
  EXPECT_LT(difference(after, other.outbox(), out.data()), allowed<double>());
}

namespace {

/// The message of the error of `f`, or "none".
template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "none";
}

}  // namespace

#define EXPECT_SAYS(words, ...)                                \
  do {                                                         \
    const std::string said = message_of([&] { __VA_ARGS__; }); \
    EXPECT_NE(said.find(words), std::string::npos) << said;    \
  } while (false)

TEST(Heffte, MistakesAreErrorsOnAllRanks) {
  using Fft = heffte::fft3d<backend::fftw>;
  using Half = heffte::fft3d_r2c<backend::fftw>;
  const box3d<> world = {{0, 0, 0}, {5, 5, 5}}, larger = {{0, 0, 0}, {5, 5, 6}},
                none = {{0, 0, 0}, {-1, -1, -1}};
  const box3d<> mine = brick(world);
  const bool last = rank() == ranks() - 1;
  const box3d<> negative({mine.low[0], mine.low[1], -1}, mine.high), twice(mine.low, mine.high, {0, 0, 2});
  const auto fft = [](const box3d<>& in, const box3d<>& out) { const Fft made(in, out, MPI_COMM_WORLD); };
  const auto half = [](const box3d<>& in, const box3d<>& out, int axis) {
    const Half made(in, out, axis, MPI_COMM_WORLD);
  };
  EXPECT_SAYS(ranks() == 1 ? "without points" : "boxes that fill", fft(rank() == 0 ? none : mine, mine));
  EXPECT_SAYS("outboxes of 6 x 6 x 7", fft(mine, brick(larger)));
  EXPECT_SAYS("begins at -1", fft(last ? negative : mine, mine));
  EXPECT_SAYS("each once", fft(mine, last ? twice : mine));
  EXPECT_SAYS("boxes of 6 x 4 x 6", half(mine, mine, 1));
  EXPECT_SAYS("r2c_direction 3", half(mine, mine, 3));

  const Fft right(mine, mine, MPI_COMM_WORLD);
  std::vector<std::complex<double>> in(static_cast<std::size_t>(right.size_inbox())), out(in), few;
  EXPECT_SAYS("batch size 0", right.forward(0, in.data(), out.data()));
  EXPECT_SAYS("size_inbox()", right.forward(few));
  EXPECT_SAYS("size_outbox()", right.backward(few));
  right.forward(in.data(), out.data());  // the plan is as good as before
}

TEST(Heffte, InPlaceOnSomeRanksOnly) {
  if (ranks() < 3) return;  // ranks with points ask each other only if there are others without
  const box3d<> world = {{0, 0, 0}, {5, 5, 5}}, none = {{0, 0, 0}, {-1, -1, -1}};
  const box3d<> mine =
      rank() < 2 ? heffte::split_world(world, {1, 1, 2})[static_cast<std::size_t>(rank())] : none;
  const heffte::fft3d<backend::fftw> fft(mine, mine, MPI_COMM_WORLD);
  std::vector<std::complex<double>> in(static_cast<std::size_t>(fft.size_inbox())), out(in);
  EXPECT_SAYS("in place on some ranks only", fft.forward(in.data(), rank() == 0 ? in.data() : out.data()));
}

}  // namespace weft::test
