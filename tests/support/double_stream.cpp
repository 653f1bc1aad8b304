#include "support/double_stream.hpp"

#include <cstring>

#include "kernels/cpu/permute_copy.hpp"
#include "support/double_memory.hpp"
#include "support/host_coding.hpp"
#include "support/host_elements.hpp"
#include "support/host_lines.hpp"
#include "support/host_r2r.hpp"
#include "support/wait_until.hpp"

#if defined(WEFT_SANITIZES_THREADS)
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace weft::test::device_double {

namespace {
std::atomic<const DoubleManner*>& current_manner() {
  static std::atomic<const DoubleManner*> current{keep({})};
  return current;
}
}  // namespace

const DoubleManner& manner() {
  return *current_manner();
}

const DoubleManner* set_manner(const DoubleManner* manner) {
  return current_manner().exchange(manner);
}

const DoubleManner* keep(const DoubleManner& manner) {
  static std::mutex mutex;
  static auto& kept =
      *new std::deque<DoubleManner>;  // threads of queues end after the destructors of statics
  const std::lock_guard lock(mutex);
  return &kept.emplace_back(manner);
}

Unordered::Unordered() : ignored_(manner().unordered) {
#if defined(WEFT_SANITIZES_THREADS)
  if (!ignored_) return;
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
}

Unordered::~Unordered() {
#if defined(WEFT_SANITIZES_THREADS)
  if (!ignored_) return;
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
}

std::vector<int>& entered() {
  static thread_local std::vector<int> numbers;
  return numbers;
}

namespace {
std::atomic_ref<std::uint32_t> word(const std::byte* at) {
  return std::atomic_ref<std::uint32_t>(*reinterpret_cast<std::uint32_t*>(const_cast<std::byte*>(at)));
}
}  // namespace

void Stream::run(std::function<void()> job) {
  check_entered();
  queue_->push(std::move(job));
}

void Stream::record(DeviceEvent& event) {
  const Aside aside;
  const auto state = static_cast<Event&>(event).state;
  state->recording = queue_->recording();
  if (state->recording) {
    state->mark = state->recording->mark(queue_.get());
    return;
  }
  const std::uint64_t number = ++state->recorded;
  run([state, number] {
    state->at = Clock::now().time_since_epoch().count();
    state->passed = number;
  });
}

void Stream::wait(const DeviceEvent& event) {
  const Aside aside;
  const auto state = static_cast<const Event&>(event).state;
  const std::shared_ptr<Recording>& here = queue_->recording();
  if (state->recording) {
    if (here && here != state->recording) fail("waiting for an event of another capture");
    if (!here) join(state->recording);
    state->recording->wait(queue_.get(), state->mark);
    return;
  }
  if (here) fail("waiting, in a capture, for an event outside");
  const std::uint64_t number = state->recorded;
  run([state, number] { wait_until([&] { return state->passed >= number; }); });
}

void Stream::copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  const Aside aside;
  check_memory(to, from);
  run([=] { std::memcpy(to, from, bytes); });
}

void Stream::copy_rows(std::byte* to, const std::byte* from, const DeviceRows& rows) {
  const Aside aside;
  check_memory(to, from);
  if (rows.from_pitch < rows.bytes || rows.to_pitch < rows.bytes) fail("rows that overlap");
  if (rows.planes > 1 && (rows.from_height < rows.rows || rows.to_height < rows.rows))
    fail("planes that overlap");
  run([=] {
    for (std::size_t p = 0; p < rows.planes; ++p)
      for (std::size_t i = 0; i < rows.rows; ++i)
        std::memcpy(to + (p * rows.to_height + i) * rows.to_pitch,
                    from + (p * rows.from_height + i) * rows.from_pitch, rows.bytes);
  });
}

void Stream::permute(std::span<const DeviceCopyJob> jobs, const DeviceSignals& signals) {
  const Aside aside;
  // They are in no order: whoever counts on one finds another.
  for (std::size_t i = jobs.size(); i-- > 0;) permute_one(jobs[i].to, jobs[i].from, *jobs[i].copy);
  store(signals);
}

void Stream::store(const DeviceSignals& signals) {
  for (const DeviceFlag& flag : signals.flags)
    if (flag.waits) fail("a signal that waits");
  flags(signals.flags);
}

void Stream::permute_one(std::byte* to, const std::byte* from, const DeviceCopy& copy) {
  if (copy.coded) return code(to, from, *copy.coded);
  if (copy.loops.empty) return;
  check_memory(to, from);
  const auto unit = static_cast<std::uintptr_t>(copy.element_bytes);
  if (reinterpret_cast<std::uintptr_t>(to) % unit != 0 || reinterpret_cast<std::uintptr_t>(from) % unit != 0)
    fail("elements that are not aligned");
  Shape extents;
  Strides from_strides, to_strides;
  for (int i = 0; i < copy.loops.count; ++i) {
    extents.push_back(copy.loops[i].n);
    from_strides.push_back(copy.loops[i].from);
    to_strides.push_back(copy.loops[i].to);
  }
  const PermuteCopy planned(extents, from_strides, to_strides, copy.element_bytes,
                            {copy.factor, copy.real_bytes});
  run([=] { planned.run(from, to); });
}

void Stream::code(std::byte* to, const std::byte* from, const DeviceCoding& coding) {
  check_memory(to, from);
  run([=] { run_coding(coding, to, from); });
}

void Stream::r2r(std::byte* to, const std::byte* from, const R2rStep& step) {
  const Aside aside;
  check_memory(to, from);
  if (r2r::bound_of(step) >= Index{1} << 31) fail("a step of a DCT beyond what tests need");
  run([=] { run_r2r_step<std::uint32_t>(step, to, from); });
}

void Stream::lines(const LineArrays& arrays, const LineStep& step, const DeviceSignals& signals) {
  const Aside aside;
  check_memory(arrays, step.diverted, step.n);
  check_memory(step.roots, step.roots);
  run([=, diverted = std::vector<std::byte*>(arrays.diverted.begin(), arrays.diverted.end())] {
    run_line_step(step, {arrays.from, arrays.to, diverted});
  });
  store(signals);
}

void Stream::planes(const LineArrays& arrays, const PlaneLines& step, std::byte* ring, std::byte* counters) {
  const Aside aside;
  check_memory(arrays, step.second.diverted, step.second.n);
  check_memory(ring, counters);
  check_memory(step.first.roots, step.second.roots);
  run([=, diverted = std::vector<std::byte*>(arrays.diverted.begin(), arrays.diverted.end())] {
    run_plane_lines(step, {arrays.from, arrays.to, diverted}, ring, counters);
  });
}

void Stream::elements(std::byte* at, std::byte* other, const ElementStep& step) {
  const Aside aside;
  check_memory(at, other == nullptr ? at : other);
  run([=] { run_element_step(step, at, other); });
}

void Stream::fill(std::byte* at, unsigned char value, std::size_t bytes) {
  const Aside aside;
  check_memory(at, at);
  run([=] { std::memset(at, value, bytes); });
}

void Stream::flags(std::span<const DeviceFlag> flags) {
  const Aside aside;
  for (const DeviceFlag& flag : flags) {
    check_memory(flag.at, flag.at);
    if (flag.waits && Memory::of_process().owner(flag.at) != device_.number())
      fail("waiting in the memory of another device");
  }
  for (const DeviceFlag& flag : flags)
    run([flag] {
      if (!flag.waits) word(flag.at).store(flag.bits, std::memory_order_release);
      wait_until(
          [&] { return !flag.waits || (word(flag.at).load(std::memory_order_acquire) & flag.bits) != 0; });
    });
}

void Stream::check_entered() const {
  if (entered().empty() || entered().back() != device_.number()) fail("a device that has not been entered");
}

void Stream::check_memory(const std::byte* to, const std::byte* from) const {
  for (const std::byte* at : {to, from}) {
    const int owner = Memory::of_process().owner(at);
    if (owner == Memory::nobody) fail("memory of the host");
    if (owner >= 0 && !device_.is_connected(owner)) fail("memory of a device that is not connected");
  }
}

/// Where all modes go elsewhere there need be no memory for the others.
void Stream::check_memory(const LineArrays& arrays, const DivertedModes& diverted, Index modes) const {
  check_memory(diverted.count == modes ? arrays.from : arrays.to, arrays.from);
  if (arrays.diverted.size() != static_cast<std::size_t>(diverted.pieces))
    fail("modes that are diverted to nowhere");
  for (std::byte* const at : arrays.diverted) check_memory(at, at);
}

/// A stream that waits for an event of a capture is captured with it.
void Stream::join(const std::shared_ptr<Recording>& recording) {
  if (recording->has_ended()) fail("waiting for an event of a capture that has ended");
  if (borrowed_) fail("capturing a stream of somebody else's");
  recording->join(queue_);
  queue_->capture(recording);
}

void Stream::begin_capture() {
  const Aside aside;
  check_entered();
  if (borrowed_) fail("capturing a stream of somebody else's");
  if (queue_->recording() || capturing()) fail("a capture within a capture");
  queue_->capture(std::make_shared<Recording>(queue_));
  capturing() = true;
}

std::unique_ptr<DeviceGraph> Stream::end_capture() {
  const Aside aside;
  const std::shared_ptr<Recording> recording = queue_->recording();
  if (!recording || !recording->starts_at(queue_.get())) fail("the end of a capture that began elsewhere");
  capturing() = false;
  if (!recording->end()) fail("the end of a capture without what is on other streams");
  return std::make_unique<Graph>(recording);
}

}  // namespace weft::test::device_double
