// What solvers ask of a plan's modes: wavenumbers, weights, masks, and sums by shell.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numeric>

#include "support/check_spectra.hpp"
#include "support/expect_error.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

using List = std::vector<double>;

Plan plan_of(Shape shape, AxisVector<Transform> transforms, const Comm& comm = Comm::self()) {
  Problem problem;
  problem.shape = shape;
  problem.transforms = transforms;
  return {comm, problem};
}

}  // namespace

TEST(Modes, WavenumbersAreAsTheTransformsSay) {
  using enum Transform;
  const Plan waves = plan_of({4, 5, 6}, {c2c, c2c, r2c});
  EXPECT_EQ(wavenumbers(waves, 0), (List{0, 1, -2, -1}));
  EXPECT_EQ(wavenumbers(waves, 0, Nyquist::zero), (List{0, 1, 0, -1}));
  EXPECT_EQ(wavenumbers(waves, 1), (List{0, 1, 2, -2, -1}));
  EXPECT_EQ(wavenumbers(waves, 1, Nyquist::zero), (List{0, 1, 2, -2, -1}));
  EXPECT_EQ(wavenumbers(waves, 2), (List{0, 1, 2, 3}));
  EXPECT_EQ(wavenumbers(waves, 2, Nyquist::zero), (List{0, 1, 2, 0}));
  EXPECT_EQ(logical_length(waves, 2), 6);
  const Plan walls = plan_of({3, 3, 3, 3, 3, 3, 3, 3}, {dct1, dct2, dct3, dct4, dst1, dst2, dst3, dst4});
  const std::vector<List> all{{0, 1, 2}, {0, 1, 2}, {0.5, 1.5, 2.5}, {0.5, 1.5, 2.5},
                              {1, 2, 3}, {1, 2, 3}, {0.5, 1.5, 2.5}, {0.5, 1.5, 2.5}};
  const std::vector<Index> lengths{4, 6, 6, 6, 8, 6, 6, 6};
  for (int a = 0; a < 8; ++a) {
    EXPECT_EQ(wavenumbers(walls, a), all[static_cast<std::size_t>(a)]) << a;
    EXPECT_EQ(logical_length(walls, a), lengths[static_cast<std::size_t>(a)]) << a;
    EXPECT_EQ(hermitian_weights(walls, a), (List{1, 1, 1})) << a;
  }
  const Plan one = plan_of({2, 3}, {none, c2c});
  EXPECT_EQ(wavenumbers(one, 0), (List{0, 0}));
  EXPECT_EQ(logical_length(one, 0), 1);
  EXPECT_EQ(dealiasing_mask(one, 0), (List{1, 1}));
}

// A transform of sin(kx) peaks where its wavenumber is k, and its derivative is what for_each_mode makes of
// it.
TEST(Modes, DerivativeOfAWave) {
  ThreadTeam(3).run([](const Comm& comm) {
    Problem problem;
    problem.shape = {8, 7, 9};
    problem.transforms = {Transform::c2c, Transform::c2c, Transform::r2c};
    problem.output = Distribution::slab(2);
    problem.backward_scale = Scale::full;
    Plan plan(comm, problem);
    Buffer<double> u(plan.input_count());
    Buffer<std::complex<double>> modes(plan.output_count());
    const auto phase = [](const Shape& x) {
      return 2 * M_PI *
             (static_cast<double>(3 * x[0]) / 8 - static_cast<double>(2 * x[1]) / 7 +
              static_cast<double>(x[2]) / 9);
    };
    for (int a = 0; a < 3; ++a) {
      const double k = AxisVector<double>{3, -2, 1}[a];
      for_each_input(plan, [&](const Shape& x, std::size_t at) { u[at] = std::sin(phase(x)); });
      plan.forward(u.data(), modes.data());
      const auto derive = [&](const AxisVector<double>& wave, std::size_t at) {
        modes[at] *= std::complex<double>(0, wave[a]);
      };
      for_each_mode(plan, derive, Nyquist::zero);
      plan.backward(modes.data(), u.data());
      for_each_input(
          plan, [&](const Shape& x, std::size_t at) { EXPECT_NEAR(u[at], k * std::cos(phase(x)), 1e-13); });
    }
  });
}

TEST(Modes, PartsOfRanksMakeTheWhole) {
  const std::vector<Transform> kinds{Transform::c2c, Transform::r2c, Transform::dct2, Transform::none};
  for (const Transform kind : kinds) {
    const AxisVector<Transform> transforms{kind, kind == Transform::r2c ? Transform::c2c : Transform::none};
    const Plan whole = plan_of({11, 4}, transforms);
    ThreadTeam(4).run([&](const Comm& comm) {
      Problem problem;
      problem.shape = {11, 4};
      problem.transforms = transforms;
      const Plan part(comm, problem);
      const auto compare = [&](const auto& f) {
        const List all = f(whole), mine = f(part);
        const Box& box = part.output_box();
        EXPECT_EQ(mine, List(all.begin() + box.lo[0], all.begin() + box.hi[0]));
      };
      compare([](const Plan& p) { return wavenumbers(p, 0); });
      compare([](const Plan& p) { return wavenumbers(p, 0, Nyquist::zero); });
      compare([](const Plan& p) { return hermitian_weights(p, 0); });
      compare([](const Plan& p) { return dealiasing_mask(p, 0); });
    });
  }
}

TEST(Modes, WeightsCountWhatIsNotStored) {
  using enum Transform;
  EXPECT_EQ(hermitian_weights(plan_of({2, 6}, {c2c, r2c}), 1), (List{1, 2, 2, 1}));
  EXPECT_EQ(hermitian_weights(plan_of({2, 5}, {c2c, r2c}), 1), (List{1, 2, 2}));
  EXPECT_EQ(hermitian_weights(plan_of({2, 2}, {c2c, r2c}), 1), (List{1, 1}));
  EXPECT_EQ(hermitian_weights(plan_of({2, 1}, {c2c, r2c}), 1), (List{1}));
  EXPECT_EQ(hermitian_weights(plan_of({2, 6}, {c2c, r2c}), 0), (List{1, 1}));
}

// The product of two fields of modes that are kept is right in all modes that are kept, as on a grid that is
// twice as fine.
TEST(Modes, ProductsOfWhatTheMaskKeepsHaveNoAliases) {
  for (const Index n : {8, 9, 12, 15}) {
    const Plan plan = plan_of({n, 2}, {Transform::c2c, Transform::none});
    const List waves = wavenumbers(plan, 0), mask = dealiasing_mask(plan, 0);
    for (std::size_t i = 0; i < mask.size(); ++i)
      for (std::size_t j = 0; j < mask.size(); ++j) {
        if (mask[i] * mask[j] == 0) continue;
        const auto sum = static_cast<Index>(waves[i] + waves[j]);
        const auto there =
            static_cast<std::size_t>(((sum % n) + n) % n);  // where a grid of n points shows it
        EXPECT_TRUE(mask[there] == 0 || waves[there] == static_cast<double>(sum)) << n << ": " << sum;
      }
    const Index kept = 2 * ((n + 2) / 3) - 1;
    EXPECT_EQ(std::accumulate(mask.begin(), mask.end(), 0.0), static_cast<double>(kept)) << n;
  }
  const Plan walls = plan_of({6, 2}, {Transform::dct2, Transform::none});
  EXPECT_EQ(dealiasing_mask(walls, 0), (List{1, 1, 1, 1, 0, 0}));
  EXPECT_EQ(dealiasing_mask(walls, 0, 0.5), (List{1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(dealiasing_mask(walls, 0, 1), (List{1, 1, 1, 1, 1, 1}));
}

TEST(Modes, ShellSpectra) {
  for (const int ranks : {1, 2, 3, 5}) ThreadTeam(ranks).run([](const Comm& comm) { check_spectra(comm); });
}

TEST(Modes, ShellSpectrumOfCosines) {
  ThreadTeam(2).run([](const Comm& comm) {
    Problem problem;
    problem.shape = {4, 3};
    problem.transforms = {Transform::dct2, Transform::dct2};
    Plan plan(comm, problem);
    Buffer<double> modes(plan.output_count());
    for_each_mode(plan,
                  [&](const AxisVector<double>& k, std::size_t at) { modes[at] = 1 + k[0] + 10 * k[1]; });
    // |k| is nearest to 0 of (0,0); to 1 of (1,0), (0,1), (1,1); ...
    const List found = shell_spectrum(plan, modes.data());
    EXPECT_EQ(found, (List{1, 4 + 121 + 144, 9 + 441 + 169 + 484, 16 + 196 + 529, 576}));
  });
}

TEST(Modes, MistakesAreErrors) {
  const Plan plan = plan_of({4, 6}, {Transform::c2c, Transform::r2c});
  expect_error([&] { wavenumbers(plan, 2); }, "wavenumbers: axis 2; expected an axis from 0 to 1");
  expect_error([&] { logical_length(plan, -1); }, "axis -1");
  expect_error([&] { hermitian_weights(plan, 7); }, "axis 7");
  expect_error([&] { dealiasing_mask(plan, 2); }, "axis 2");
  expect_error([&] { dealiasing_mask(plan, 0, 1.5); }, "a fraction of 1.5");
  expect_error([&] { dealiasing_mask(plan, 0, std::nan("")); }, "a fraction");
}

TEST(Modes, AMistakeOfOneRankFailsOnAll) {
  ThreadTeam(3).run([](const Comm& comm) {
    Problem problem;
    problem.shape = {6, 6};
    Plan plan(comm, problem);
    Buffer<std::complex<double>> modes(plan.output_count());
    const auto spectrum = [&](auto* data, const AxisVector<double>& units) {
      shell_spectrum(plan, data, units);
    };
    expect_error([&] { spectrum(comm.rank() == 1 ? nullptr : modes.data(), {}); }, "a null pointer");
    expect_error(
        [&] {
          spectrum(modes.data(), comm.rank() == 2 ? AxisVector<double>{1} : AxisVector<double>{1, 1});
        },
        "1 units");
    expect_error([&] { spectrum(reinterpret_cast<double*>(modes.data()), {}); }, "another type");
    expect_error([&] { spectrum(reinterpret_cast<std::complex<float>*>(modes.data()), {}); }, "another type");
    const double rank = comm.rank();
    expect_error([&] { spectrum(modes.data(), {1, 1 + rank}); }, "units that differ between ranks");
    expect_error([&] { spectrum(modes.data(), {1, comm.rank() == 1 ? std::nan("") : 1}); }, "a unit of nan");
    expect_error([&] { spectrum(modes.data(), {1, 1e9}); }, "less than 10 million: a shell is 1 wide");
    EXPECT_EQ(shell_spectrum(plan, modes.data()).size(), 5U);
  });
}

}  // namespace weft::test
