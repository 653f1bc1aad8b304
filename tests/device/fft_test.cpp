// Local FFTs of any layout in device memory, against the direct sum.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>

#include "fft/calls/contiguous_lines.hpp"
#include "fft/calls/r2r_calls.hpp"
#include "fft/calls/repeated_calls.hpp"
#include "fft/calls/run_calls.hpp"
#include "fft/calls/strided_lines.hpp"
#include "geometry/transform.hpp"
#include "support/device_mirror.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/local_problem.hpp"
#include "support/on_device.hpp"

namespace weft::test {

namespace {

/// The calls that a transform becomes.
std::string steps_of(const FftProblem& problem) {
  std::string text = problem.in_place ? "in place" : "out of place";
  if (problem.kind != FftKind::r2r) {
    for (const CallStep& step : cufft_calls(problem).steps) text += "; " + to_string(step.call);
    return text;
  }
  const std::vector<R2rCalls> axes = r2r_calls(problem);
  for (std::size_t i = 0; i < axes.size(); ++i)
    text += std::string("; ") + name_of(problem.dimensions[i].transform) + " of " +
            std::to_string(problem.dimensions[i].n) + (axes[i].call ? ": " + to_string(*axes[i].call) : "");
  return text;
}

void expect_exact(const LocalProblem& problem) {
  SCOPED_TRACE(steps_of(problem.fft));
  const OnDevice fft(problem.fft);
  const LocalResult result = compute(fft, problem);
  ASSERT_LE(result.error, local_bound(problem));
  ASSERT_TRUE(result.gaps_kept);
  if (!problem.fft.may_destroy_input) {
    ASSERT_TRUE(result.input_kept);
  }
}

/// Lines of n points, so many of them, contiguous each or number k of all of them one behind the other.
FftProblem lines(Transform transform, Index n, Index count, bool contiguous) {
  FftProblem p;
  p.kind = FftKind::r2r;
  const Index step = contiguous ? 1 : count, distance = contiguous ? n : 1;
  p.dimensions = {{n, step, step, transform}};
  p.loops = {{count, distance, distance}};
  p.scale = 0.5;
  return p;
}

/// A call that only notes where it was started. Of one item it asks for 10 bytes of work area.
class Noted final : public StreamFft {
 public:
  struct Start {
    Index batch, from, to;  ///< bytes
  };
  Noted(const CufftCall& call, std::vector<Start>& starts) : batch_(call.batch), starts_(starts) {}
  std::size_t work_bytes() const override { return static_cast<std::size_t>(10 * batch_); }
  void enqueue(DeviceStream&, std::byte* from, std::byte* to, std::byte* work, const FftContext&) override {
    starts_.push_back({batch_, from - work, to - work});
  }

 private:
  Index batch_;
  std::vector<Start>& starts_;
};

/// Contiguous lines, by the library.
class Lines final : public StreamFft {
 public:
  Lines(const CufftCall& call, Device& device) {
    FftProblem p;
    p.precision = call.precision;
    p.direction = call.direction;
    p.in_place = true;
    EXPECT_TRUE(call.from == call.to && call.from.stride == 1);
    p.dimensions = {{call.n[0], 1, 1}};
    p.loops = {{call.batch, call.from.distance, call.to.distance}};
    fft_ = OnDevice::by_the_library(device, p);
  }
  std::size_t work_bytes() const override { return fft_->work_bytes(); }
  void enqueue(DeviceStream& stream, std::byte* from, std::byte* to, std::byte* work,
               const FftContext&) override {
    fft_->enqueue(stream, from, to, work);
  }

 private:
  std::shared_ptr<StreamFft> fft_;
};

/// A call that takes so many fills.
class Slow final : public StreamFft {
 public:
  explicit Slow(int times, std::size_t work = std::size_t{1} << 20) : times_(times), work_(work) {}
  std::size_t work_bytes() const override { return work_; }
  void enqueue(DeviceStream& stream, std::byte*, std::byte*, std::byte* work, const FftContext&) override {
    for (int i = 0; i < times_; ++i) stream.fill(work, 0, work_bytes());
  }

 private:
  int times_;
  std::size_t work_;
};

/// Where the parts of a call begin, and how many items they have.
std::vector<Noted::Start> parts_of(const CufftCall& call, std::size_t most_work) {
  std::vector<Noted::Start> starts;
  DeviceMirror mirror;
  std::byte array[8192];
  const auto plan = plan_in_parts(
      call, [&](const CufftCall& c) { return std::make_shared<Noted>(c, starts); }, most_work);
  plan->enqueue(mirror.stream(), array, array, array);
  EXPECT_EQ(plan->work_bytes(), static_cast<std::size_t>(10 * starts.front().batch));
  return starts;
}

}  // namespace

TEST(DeviceFft, CallsInPartsKeepTheWorkAreaSmallAndCoverTheBatch) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  for (const FftKind kind : {FftKind::c2c, FftKind::real})
    for (const Direction direction : {Direction::forward, Direction::backward})
      for (Index batch = 1; batch < 60; ++batch) {
        CufftCall call;
        call.kind = kind;
        call.direction = direction;
        call.precision = Precision::float32;
        call.axes = 1;
        call.n = {5, 0, 0};
        const bool real = kind == FftKind::real, forward = direction == Direction::forward;
        call.from = {{5, 0, 0}, 1, 7};
        call.to = {{5, 0, 0}, 1, 9};
        call.batch = batch;
        const Index from = 7 * (real && forward ? 4 : 8), to = 9 * (real && !forward ? 4 : 8);
        Index done = 0;
        for (const Noted::Start& s : parts_of(call, 100)) {
          ASSERT_LE(s.batch, 10);
          ASSERT_EQ(s.from, done * from);
          ASSERT_EQ(s.to, done * to);
          ASSERT_EQ(s.from % 8, 0) << "not on a complex element";
          ASSERT_EQ(s.to % 8, 0) << "not on a complex element";
          done += s.batch;
        }
        ASSERT_EQ(done, batch);
      }
  // What cannot be divided takes what it needs.
  CufftCall one;
  one.batch = 1;
  EXPECT_EQ(parts_of(one, 5).size(), 1U);
}

TEST(DeviceFft, LinesGoAsideWhereThatIsFasterAndThatIsTriedOnce) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  const auto device = current_device();
  const DeviceScope scope(*device);
  int planned = 0;
  // What a library may be slow with: points that lie apart, or lines.
  const auto library = [&](bool slow_apart) {
    return [&planned, slow_apart](const CufftCall& call) {
      ++planned;
      return std::make_shared<Slow>((call.from.stride > 1) == slow_apart ? 1000 : 1);
    };
  };
  const auto faster = [&](const CallStep& step, bool slow_apart) {
    return fastest_way(*device, step, library(slow_apart)) == LineWay::aside;
  };
  const auto step = [](Index n, Index batch) {
    CallStep s;
    s.call.axes = 1;
    s.call.n = {n, 0, 0};
    s.call.batch = batch;
    s.call.from = s.call.to = {{n, 0, 0}, batch, 1};
    return s;
  };
  // What is found stays for the life of the process, in which tests may be repeated.
  static Index fresh = 1081;
  const Index slow = fresh, fast = fresh + 2;
  fresh += 4;
  EXPECT_TRUE(faster(step(slow, 64), true));
  EXPECT_FALSE(faster(step(fast, 64), false));
  EXPECT_EQ(planned, 4);
  // Known by now, whatever the library.
  EXPECT_TRUE(faster(step(slow, 65), false));
  EXPECT_FALSE(faster(step(fast, 65), true));
  EXPECT_EQ(planned, 4);
  // Not of calls of another size.
  EXPECT_FALSE(faster(step(slow, 128), false));
  EXPECT_EQ(planned, 6);
  // Nothing to be tried.
  std::vector<CallStep> others{step(Index{1} << 26, 32), step(121, 40960), step(slow, 31), step(259, 128)};
  const auto other = [&](const auto& change) {
    others.push_back(step(slow, 256));
    change(others.back());
  };
  other([&](CallStep& s) { s.call.from = {{slow, 0, 0}, 1, slow}; });
  other([&](CallStep& s) { s.call.to = {{slow, 0, 0}, 1, slow}; });
  other([](CallStep& s) { s.call.from.distance = 2; });
  other([](CallStep& s) { s.call.kind = FftKind::real; });
  other([](CallStep& s) { s.call.axes = 2; });
  for (const CallStep& s : others) EXPECT_FALSE(faster(s, true));
  EXPECT_EQ(planned, 6);
}

TEST(DeviceFft, ManyCallsAreTriedAgainstOneOfAllTheirLinesAside) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  const auto device = current_device();
  const DeviceScope scope(*device);
  std::vector<CufftCall> planned;
  // Each call takes as long, whatever it does.
  const MakeCallPlan library = [&](const CufftCall& call) {
    planned.push_back(call);
    return std::make_shared<Slow>(4);
  };
  static Index fresh = 33;  // odd, and no length of the kernels
  const Index n = fresh;
  fresh += 22;
  // A middle axis: calls of 20 lines side by side, in so many planes, with gaps.
  const auto planes = [&](Index count) {
    CallStep s;
    s.call.axes = 1;
    s.call.n = {n, 0, 0};
    s.call.batch = 20;
    s.call.from = s.call.to = {{n, 0, 0}, 24, 1};
    if (count > 1) s.loops = {{count, 24 * n + 5, 30 * n}};
    return s;
  };
  EXPECT_EQ(fastest_way(*device, planes(16), library), LineWay::aside);
  // Gaps do not matter.
  ASSERT_EQ(planned.size(), 2U);
  EXPECT_EQ(planned[0].batch, 20);
  EXPECT_EQ(planned[0].from, (CallSide{{n, 0, 0}, 20, 1}));
  EXPECT_EQ(planned[0].to, planned[0].from);
  EXPECT_EQ(planned[1].batch, 16 * 20);
  EXPECT_EQ(planned[1].from, (CallSide{{n, 0, 0}, 1, n}));
  EXPECT_EQ(planned[1].to, planned[1].from);
  // As many again up to a power of two; and there are never more than so many calls.
  EXPECT_EQ(fastest_way(*device, planes(31), library), LineWay::aside);
  EXPECT_EQ(planned.size(), 2U);
  EXPECT_EQ(fastest_way(*device, planes(300), library), LineWay::aside);
  EXPECT_EQ(fastest_way(*device, planes(30000), library), LineWay::aside);
  ASSERT_EQ(planned.size(), 4U);
  EXPECT_EQ(planned[3].batch, 256 * 20);
  // Lines that do not lie side by side: the calls are cut, not what is in them.
  CallStep apart = planes(1);
  apart.call.batch = 50;
  apart.call.from.distance = apart.call.to.distance = 24 * n;
  apart.loops = {{15, 1, 1}};
  EXPECT_EQ(fastest_way(*device, apart, library), LineWay::aside);
  ASSERT_EQ(planned.size(), 6U);
  EXPECT_EQ(planned[4].batch, 32);
  EXPECT_EQ(planned[4].from, (CallSide{{n, 0, 0}, 15, 15 * n}));
  EXPECT_EQ(planned[5].batch, 32 * 15);
  // As few calls as lines aside are of launches.
  EXPECT_EQ(fastest_way(*device, planes(3), library), LineWay::calls);
  EXPECT_EQ(fastest_way(*device, planes(1), library), LineWay::calls);
  EXPECT_EQ(planned.size(), 6U);
}

TEST(DeviceFft, StepsThatDifferInGapsHaveWaysOfTheirOwn) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  const auto device = current_device();
  const DeviceScope scope(*device);
  const MakeCallPlan library = [](const CufftCall&) { return std::make_shared<Slow>(1); };
  // Even, and no other test has it: what was found stays for the life of the process.
  static Index n = 448;
  n *= 2;
  CallStep step;
  step.call.axes = 1;
  step.call.n = {n, 0, 0};
  step.call.batch = 32;
  step.call.from = step.call.to = {{n, 0, 0}, 32, 1};
  step.loops = {{16, 32 * n, 32 * n}};
  ASSERT_TRUE(kernels_can(step));
  fastest_way(*device, step, library);
  for (CallSide* side : {&step.call.from, &step.call.to}) *side = {{n, 0, 0}, 96, 3};
  step.loops = {{16, 96 * n, 96 * n}};
  ASSERT_FALSE(kernels_can(step));
  EXPECT_NE(fastest_way(*device, step, library), LineWay::kernels);
  expect_error([&] { plan_strided_lines(*device, step, 1); }, "kernels of Weft");
}

/// The library is slow with every call, as launches are.
TEST(DeviceFft, RowsOfSeveralCallsAreTriedAsKernels) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  const auto device = current_device();
  const DeviceScope scope(*device);
  const MakeCallPlan library = [](const CufftCall&) { return std::make_shared<Slow>(40); };
  static Index n = 180;
  n *= 2;
  CallStep step;
  step.call.axes = 1;
  step.call.n = {n, 0, 0};
  step.call.batch = 2;
  step.call.from = step.call.to = {{n, 0, 0}, 1, n};
  EXPECT_EQ(fastest_way(*device, step, library), LineWay::calls);
  step.loops = {{32, 3 * n, 2 * n}};
  EXPECT_EQ(fastest_way(*device, step, library), LineWay::kernels);
}

TEST(DeviceFft, LinesAsideAgainstTheDirectSum) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  std::mt19937_64 random(12);
  constexpr Index n = 300;
  // Lines side by side, and, on the other side, one behind the other with gaps; or in the middle of an array,
  // with gaps, in another order on the other side.
  const auto side_by_side = [](Index lines, bool in_place) {
    FftProblem p;
    p.dimensions = {{n, 71, in_place ? 71 : 2}};
    p.loops = {{lines, 1, in_place ? 1 : 2 * n + 3}};
    return p;
  };
  const auto middle = [](Index lines, bool in_place) {
    FftProblem p;
    p.dimensions = {{n, 37, in_place ? 37 : 110}};
    p.loops = {{lines, 37 * n + 1, in_place ? 37 * n + 1 : 1},
               {3, 12, in_place ? 12 : 110 * n + 7},
               {2, 1, in_place ? 1 : 3 * (110 * n + 7)}};
    return p;
  };
  for (const bool loops : {false, true})
    for (const Precision precision : {Precision::float32, Precision::float64})
      for (const Direction direction : {Direction::forward, Direction::backward})
        for (const bool in_place : {true, false})
          for (const Index count : loops ? std::vector<Index>{7, 1} : std::vector<Index>{70, 33, 1})
            for (const std::size_t most_work : {std::size_t{1} << 30, std::size_t{100} << 10}) {
              FftProblem p = (loops ? middle : side_by_side)(count, in_place);
              p.precision = precision;
              p.direction = direction;
              p.in_place = in_place;
              p.scale = 0.25;
              const OnDevice fft(p, [&](Device& device, const FftProblem& problem) {
                return make_fft_of_calls(
                    device, problem,
                    [&](const CufftCall& call) { return std::make_shared<Lines>(call, device); },
                    {[](const CallStep&) { return LineWay::aside; }, AxesOf::together, most_work});
              });
              EXPECT_EQ(fft.elsewise().aside, std::set<Index>{n});
              const LocalProblem problem = with_values(p, random);
              const LocalResult result = compute(fft, problem);
              ASSERT_LE(result.error, local_bound(problem));
              ASSERT_TRUE(result.gaps_kept);
            }
}

TEST(DeviceFft, AxesApartAreOneInEachCall) {
  std::mt19937_64 random(14);
  for (int i = 0; i < 100; ++i) {
    const FftProblem p = random_local_problem(random).fft;
    if (p.kind == FftKind::r2r) continue;
    for (const CallStep& step : cufft_calls(p, AxesOf::apart).steps)
      ASSERT_EQ(step.call.axes, 1) << steps_of(p);
  }
}

TEST(DeviceFft, BoxesTooLargeForATrialAreDoneAxisByAxisWhereTheLibraryIsSlowWithTheirPlanes) {
  DevicesManner little;
  little.room = std::size_t{16} << 20;
  const ScopedDevices devices(little);
  ScopedDevices::choose(0);
  const auto device = current_device();
  const DeviceScope scope(*device);
  const Index plane = Index{42} * 40 * 16;
  const auto most = static_cast<Index>(0.17 * device->free_bytes());  // there is room for 0.16
  // What is found stays for the life of the process, in which tests may be repeated.
  static Index more = 1;
  // Slow with several axes at a time. Along three it takes a work area of an array, or none.
  const auto boxes_in_one_call = [&](std::size_t work_of_three) {
    FftProblem box;
    box.kind = FftKind::c2c;
    box.dimensions = {{most / plane + more, 42 * 40, 42 * 40}, {42, 40, 40}, {40, 1, 1}};
    int of_three = 0;
    make_fastest_fft_of_calls(*device, box, [&](const CufftCall& call) {
      of_three += call.axes == 3 ? 1 : 0;
      return std::make_shared<Slow>(call.axes > 1 ? 5000 : 1,
                                    call.axes == 3 ? work_of_three : std::size_t{1} << 20);
    });
    return of_three;
  };
  const auto array = static_cast<std::size_t>(most + ++more * plane);
  EXPECT_EQ(boxes_in_one_call(array), 1) << "asked for its work area alone";
  EXPECT_EQ(boxes_in_one_call(array), 0) << "known by now";
  ++more;
  EXPECT_EQ(boxes_in_one_call(1 << 20), 2) << "asked for its work area, and taken";
}

/// Of a little more than what is enough of boxes that can be shortened.
TEST(DeviceFft, BoxesThatCannotBeShortenedAreTimedWholeIfThereIsRoom) {
  DevicesManner little;
  little.room = std::size_t{16} << 20;
  const ScopedDevices devices(little);
  ScopedDevices::choose(0);
  const auto device = current_device();
  const DeviceScope scope(*device);
  const double enough = std::min(double{256 << 20}, device->free_bytes() / 16);
  static auto planes = static_cast<Index>(enough / (42 * 40 * 16));
  FftProblem box;
  box.kind = FftKind::c2c;
  box.dimensions = {{++planes, 42 * 40, 42 * 40}, {42, 40, 40}, {40, 1, 1}};
  int of_three = 0;
  make_fastest_fft_of_calls(*device, box, [&](const CufftCall& call) {
    of_three += call.axes == 3 ? 1 : 0;
    return std::make_shared<Slow>(call.axes > 1 ? 5000 : 1);
  });
  EXPECT_EQ(of_three, 1) << "timed, and slow";
}

/// c2r may not destroy its input, which is copied, or read by the first FFT, which stores its modes aside.
TEST(DeviceFft, AxesApartBackToRealNumbersNeedNoCopy) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  std::mt19937_64 random(15);
  for (const Precision precision : {Precision::float32, Precision::float64})
    for (const double scale : {1.0, 0.25})
      for (const Index gap : {0, 1}) {
        FftProblem p;
        p.kind = FftKind::real;
        p.direction = Direction::backward;
        p.may_destroy_input = false;
        p.precision = precision;
        p.scale = scale;
        p.dimensions = {{9, 10 * 7 + gap, 10 * 12}, {10, 7, 12}, {12, 1, 1}};
        const CufftCalls calls = cufft_calls(p, AxesOf::apart);
        ASSERT_EQ(calls.steps.size(), 3U);
        EXPECT_EQ(calls.first_stores_aside(), gap == 0);
        const LocalProblem problem = with_values(p, random);
        const OnDevice fft(p, [&](Device& device, const FftProblem& asked) {
          return make_fft_of_calls(
              device, asked,
              [](const CufftCall&) -> std::shared_ptr<StreamFft> {
                throw Error("test", "a call of the library", "kernels alone");
              },
              {[](const CallStep&) { return LineWay::kernels; }, AxesOf::apart, std::size_t{1} << 30});
        });
        const LocalResult result = compute(fft, problem);
        ASSERT_LE(result.error, local_bound(problem));
        ASSERT_TRUE(result.gaps_kept && result.input_kept);
      }
}

TEST(DeviceFft, AnyLayoutAgainstTheDirectSum) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  std::mt19937_64 random(11);
  for (int i = 0; i < 300; ++i) {
    const LocalProblem problem = random_local_problem(random);
    if (!find_ffts("auto", MemoryKind::cuda).front()->unable(problem.fft).empty()) continue;
    SCOPED_TRACE("problem " + std::to_string(i));
    ASSERT_NO_FATAL_FAILURE(expect_exact(problem));
  }
}

TEST(DeviceFft, CosinesAndSinesOfAnyLayoutAgainstTheDirectSum) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  std::mt19937_64 random(17);
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE("problem " + std::to_string(i));
    ASSERT_NO_FATAL_FAILURE(expect_exact(random_r2r_problem(random)));
  }
}

TEST(DeviceFft, CosinesAndSinesOfAnyLength) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  std::mt19937_64 random(18);
  std::vector<Index> lengths{31, 32, 60, 97, 128, 243, 512};
  for (Index n = 1; n <= 17; ++n) lengths.push_back(n);
  for (int t = static_cast<int>(Transform::dct1); t <= static_cast<int>(Transform::dst4); ++t)
    for (const Index n : lengths)
      for (const Index count : n < 100 ? std::vector<Index>{2, 35} : std::vector<Index>{35})
        for (const bool contiguous : {true, false}) {
          const auto transform = static_cast<Transform>(t);
          if (transform == Transform::dct1 && n == 1) continue;
          FftProblem p = lines(transform, n, count, contiguous);
          p.precision = (n + count) % 2 == 0 ? Precision::float64 : Precision::float32;
          p.in_place = n % 3 == 0;
          ASSERT_NO_FATAL_FAILURE(expect_exact(with_values(p, random)));
        }
}

TEST(DeviceFft, RefusesADctOfTypeOneOfOnePoint) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  expect_error([] { const OnDevice fft(lines(Transform::dct1, 1, 3, true)); }, "needs two points");
}

}  // namespace weft::test
