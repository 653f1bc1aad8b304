#include "fft/embedded_lines.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <string>

namespace weft {

namespace {

Index element_bytes(const EmbeddedCall& call) {
  return 2 * real_bytes(call.precision);
}

class LinesAside final : public EmbeddedPlan {
 public:
  LinesAside(const EmbeddedCall& call, const MakeEmbeddedPlan& make) {
    const Index n = call.n[0];
    EmbeddedCall lines = call;
    lines.from = lines.to = {{n, 0, 0}, 1, n};
    plan_ = make(lines);
    aside_bytes_ = work_aligned(call.batch * n * element_bytes(call));
    const Strides aside{n, 1};
    const auto copy = [&](const Strides& from, const Strides& to) {
      return DeviceCopy{copy_loops({call.batch, n}, from, to), static_cast<int>(element_bytes(call)), 1,
                        static_cast<int>(real_bytes(call.precision))};
    };
    before_ = copy({call.from.distance, call.from.stride}, aside);
    after_ = copy(aside, {call.to.distance, call.to.stride});
  }

  std::size_t work_bytes() const override { return aside_bytes_ + plan_->work_bytes(); }

  void enqueue(DeviceStream& stream, std::byte* from, std::byte* to, std::byte* work) override {
    stream.permute(work, from, before_);
    plan_->enqueue(stream, work, work, work + aside_bytes_);
    stream.permute(to, work, after_);
  }

 private:
  std::shared_ptr<EmbeddedPlan> plan_;
  std::size_t aside_bytes_ = 0;
  DeviceCopy before_, after_;
};

/// Below a MiB it is launches that take the time, and no library is slow with lines that its threads'
/// registers hold.
constexpr Index least_bytes = 1 << 20, most_bytes = 256 << 20, least_length = 257;
/// Fewer lines are not far apart.
constexpr Index least_lines = 32;

/// Whether this is about such lines at all, side by side on both sides.
bool may_be_slow(const EmbeddedCall& call) {
  const Index n = call.n[0];
  const auto side_by_side = [](const EmbeddedSide& s) { return s.stride > 1 && s.distance == 1; };
  return call.kind == FftKind::c2c && call.axes == 1 && n >= least_length && (n & (n - 1)) != 0 &&
         call.batch >= least_lines && side_by_side(call.from) && side_by_side(call.to) &&
         n * call.batch * element_bytes(call) >= least_bytes;
}

/// As many of such lines as make about so many bytes.
EmbeddedCall tried(EmbeddedCall call, Index bytes) {
  const Index n = call.n[0];
  call.batch = std::max(least_lines, bytes / (n * element_bytes(call)));
  call.from = call.to = {{n, 0, 0}, call.batch, 1};
  return call;
}

/// What a trial is remembered by.
struct Tried {
  std::string model;
  Index length;
  Precision precision;
  Index bytes;
  auto operator<=>(const Tried&) const = default;
};

/// Takes turns; the shortest time of each counts.
bool is_first_slower(Device& device, EmbeddedPlan& first, EmbeddedPlan& second, std::size_t bytes) {
  constexpr const char* operation = "plan: trying local FFTs";
  constexpr double worth_it = 1.1;
  const auto from = device.allocate(bytes, operation), to = device.allocate(bytes, operation);
  const auto work = device.allocate(std::max(first.work_bytes(), second.work_bytes()), operation);
  const auto stream = device.make_stream();
  const auto begin = device.make_event(true), end = device.make_event(true);
  stream->fill(from.get(), 0, bytes);
  std::array best{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  constexpr int turns = 4;
  for (int turn = 0; turn < turns; ++turn)
    for (const std::size_t i : {0, 1}) {
      stream->record(*begin);
      (i == 0 ? first : second).enqueue(*stream, from.get(), to.get(), work.get());
      stream->record(*end);
      device.wait_for(*end);
      // The first time kernels are loaded.
      if (turn > 0) best[i] = std::min(best[i], device.seconds_between(*begin, *end));
    }
  return best[0] > worth_it * best[1];
}

}  // namespace

std::shared_ptr<EmbeddedPlan> plan_lines_aside(const EmbeddedCall& call, const MakeEmbeddedPlan& make) {
  return std::make_shared<LinesAside>(call, make);
}

bool are_lines_faster_aside(Device& device, const EmbeddedCall& call, const MakeEmbeddedPlan& make) {
  if (!may_be_slow(call)) return false;
  const Index n = call.n[0];
  const auto size = static_cast<Index>(
      std::bit_floor(static_cast<std::uint64_t>(std::min(most_bytes, n * call.batch * element_bytes(call)))));
  static std::mutex mutex;
  static std::map<Tried, bool> known;
  const Tried key{device.model(), n, call.precision, size};
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  const EmbeddedCall trial = tried(call, size);
  const Index bytes = n * trial.batch * element_bytes(call);
  // Two arrays, and work areas of about two more; the plan's own memory and that of others is still to come.
  constexpr double of_what_is_free = 0.25, arrays = 4;
  if (arrays * static_cast<double>(bytes) > of_what_is_free * device.free_bytes()) return false;
  // Without the lock, as threads of other devices try at the same time.
  const auto plain = make(trial), aside = plan_lines_aside(trial, make);
  const bool faster = is_first_slower(device, *plain, *aside, static_cast<std::size_t>(bytes));
  const std::lock_guard lock(mutex);
  return known.emplace(key, faster).first->second;
}

}  // namespace weft
