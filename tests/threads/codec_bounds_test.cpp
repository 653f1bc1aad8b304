// The bounds of what codecs do to a result, held against what they do: random problems, of which some leave
// out modes or points, with data of kinds that are bad for a bound.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include "base/test_hook.hpp"
#include "base/text.hpp"
#include "comm/comm_impl.hpp"
#include "design/design.hpp"
#include "kernels/cpu/zfp.hpp"
#include "support/design_of.hpp"
#include "support/random_problem.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

/// Numbers of one kind, the same for an index whoever holds it.
class Values {
 public:
  Values(std::uint64_t seed, const Shape& shape, bool wide) : seed_(seed), shape_(shape) {
    std::mt19937_64 engine(seed);
    kind_ = static_cast<int>(engine() % 8);
    half_ = std::ldexp(1, -1 - static_cast<int>(engine() % 25));
    size_ = std::pow(10, (static_cast<double>(engine() % 5) - 2) * (wide ? 145 : 10));
    for (int a = 0; a < shape.size(); ++a) wave_.push_back(static_cast<Index>(engine() % 64) % shape[a]);
  }

  std::complex<double> at(const Shape& index, Index item) const {
    double phase = 0;
    bool is_spike = true, odd = false;
    std::uint64_t mixed = seed_ * 31 + static_cast<std::uint64_t>(item);
    for (int a = 0; a < index.size(); ++a) {
      phase += static_cast<double>(wave_[a] * index[a]) / static_cast<double>(shape_[a]);
      is_spike = is_spike && index[a] == wave_[a];
      odd = odd != (wave_[a] % 2 == 0 && index[a] % 2 != 0);
      mixed = mixed * 1099511628211U + static_cast<std::uint64_t>(index[a]);
    }
    std::mt19937_64 engine(mixed);
    std::uniform_real_distribution<> uniform(-1, 1);
    const std::complex<double> random{uniform(engine), uniform(engine)};
    switch (kind_) {
      case 0:  // white
        return size_ * random;
      case 1:  // mode 0 alone, and little beside it
        return size_ * (1.0 / 3 + 1e-3 * random);
      case 2:  // the largest frequencies alone
        return size_ * (odd ? -1.0 / 3 : 1.0 / 3);
      case 3:  // one point
        return is_spike ? size_ * random : 0;
      case 4:  // one mode
        return size_ * std::polar(0.7, 2 * std::numbers::pi * phase);
      case 5:  // one number, which some codec has to round by half of its last bit
        return {1 + half_, 1 + half_};
      case 6:  // of very different sizes
        return size_ * random * std::pow(10, 6 * uniform(engine));
      default:  // a wave with little beside it
        return size_ * (std::polar(1e4, 2 * std::numbers::pi * phase) + random);
    }
  }

 private:
  std::uint64_t seed_;
  Shape shape_;
  int kind_;
  double size_, half_;
  Shape wave_;
};

template <class T>
void fill(Plan& plan, Direction side, const Values& values, Index arrays, T* to) {
  const auto one = [&](const Shape& at, std::size_t i) {
    const Index distance = side == Direction::forward ? plan.input_distance() : plan.output_distance();
    for (Index item = 0; item < arrays; ++item) {
      const std::complex<double> v = values.at(at, item);
      T& place = to[i + static_cast<std::size_t>(item * distance)];
      if constexpr (std::is_floating_point_v<T>) {
        place = static_cast<T>(v.real());
      } else {
        place = T(v);
      }
    }
  };
  side == Direction::forward ? for_each_input(plan, one) : for_each_output(plan, one);
}

/// Codecs whose error is large beside rounding.
std::string drawn_codec(std::mt19937_64& engine, Precision precision) {
  std::vector<std::string> names{"fp16", "bf16", "trim:0", "trim:4", "trim:7"};
  if (precision == Precision::float64) names.insert(names.end(), {"fp32", "trim:11"});
  if (zfp::missing().empty()) names.insert(names.end(), {"zfp:8", "zfp:12", "zfp-accuracy:4"});
  return names[engine() % names.size()];
}

struct Found {
  Accuracy accuracy;
  bool leaves_out = false;
  double codecs = 0;  ///< what the plan says of them
};

template <class In, class Out>
Found measured(const Comm& comm, const RandomProblem& p, const Options& options, Direction direction) {
  const Problem problem = p.of(comm.rank());
  Plan plan(comm, problem, options);
  const bool forward = direction == Direction::forward, columns = !p.columns.empty();
  Buffer<In> points(problem.in_place ? plan.buffer_bytes() / sizeof(In) : plan.input_count());
  Buffer<Out> modes(plan.output_count());
  const Values values(p.seed,
                      forward || !columns || !std::is_same_v<In, Out> ? problem.shape : Shape{1 << 20},
                      problem.precision == Precision::float64);
  if (forward || !std::is_same_v<In, Out>)
    fill(plan, Direction::forward, values, problem.batch, points.data());
  if (!forward && std::is_same_v<In, Out>)
    fill(plan, Direction::backward, values, problem.batch, modes.data());
  if (!forward && !std::is_same_v<In, Out>) {  // only half spectra of real data have a bound
    Plan exact(comm, problem, Options(options).set("codec", "none").set("tolerance", "0.9"));
    const bool alike =
        exact.output_strides() == plan.output_strides() && exact.output_box() == plan.output_box();
    if (comm.impl().least(alike ? 1 : 0) == 0) return {};
    exact.forward(points.data(), modes.data());
  }
  return {
      forward ? plan.measured_error(direction, points.data()) : plan.measured_error(direction, modes.data()),
      leaves_out(design_of(plan), direction), codec_error(design_of(plan), direction)};
}

Found measured(const Comm& comm, const RandomProblem& p, const Options& options, Direction direction) {
  const bool complex = p.problem.element == Element::complex,
             half = p.problem.transforms.contains(Transform::r2c);
  const auto of = [&]<class Real>(Real) {
    using Complex = std::complex<Real>;
    return complex ? measured<Complex, Complex>(comm, p, options, direction)
           : half  ? measured<Real, Complex>(comm, p, options, direction)
                   : measured<Real, Real>(comm, p, options, direction);
  };
  return p.problem.precision == Precision::float64 ? of(double()) : of(float());
}

}  // namespace

/// WEFT_TEST_PROBLEMS=5000 for more.
TEST(CodecBounds, HoldForAnyProblem) {
  const ScopedSwitch machines(detail::pretended_ranks_per_node, 1);
  const int count = problem_count(60);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    std::mt19937_64 engine(seed);
    const int ranks = 2 + static_cast<int>(seed % 5);
    RandomProblem p =
        i % 5 == 4 ? make_columns_problem(seed, ranks, false) : make_random_problem(seed, ranks, false);
    if (p.problem.between != Between::none || p.user_workspace) continue;
    Options options = Options(p.options).set("exchange", "copy").set("threads", 1);
    const bool tolerated = engine() % 4 == 0;
    const double tolerance = std::pow(10, -1.0 - static_cast<double>(engine() % 30) / 10);
    if (tolerated) {
      options.set("tolerance", scientific(tolerance));
    } else {
      options.set("codec", drawn_codec(engine, p.problem.precision));
    }
    const Direction direction = engine() % 2 == 0 ? Direction::forward : Direction::backward;
    if (direction == Direction::backward) p.problem.in_place = false;
    EXPECT_NO_THROW(ThreadTeam(ranks).run([&](const Comm& comm) {
      const Found found = measured(comm, p, options, direction);
      EXPECT_LE(found.accuracy.l2, found.accuracy.bound * (1 + 1e-6));
      if (!found.leaves_out) {
        EXPECT_EQ(found.accuracy.bound, found.codecs);
      }
      if (tolerated) {
        EXPECT_LE(found.codecs, std::stod(scientific(tolerance)));
      }
    })) << p.describe();
    if (HasFailure()) {
      ADD_FAILURE() << name_of(direction) << ", codec " << options.get("codec") << ", tolerance "
                    << options.get("tolerance") << "\n"
                    << p.describe();
      return;
    }
  }
}

}  // namespace weft::test
