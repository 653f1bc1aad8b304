#include "exec/host/executor.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <string>

#include "base/arithmetic.hpp"
#include "base/test_hook.hpp"

namespace weft {

/// Threads for an operation that writes so many bytes: what takes about as long as waking a helper is done
/// by the caller alone.
int Executor::threads_for(Index bytes) const {
  constexpr Index worth_sharing = 16 * 1024;
  return settings_.pool && bytes >= worth_sharing ? settings_.pool->threads() : 1;
}

std::shared_ptr<const HostFft> Executor::plan(const FftProblem& problem, int threads) {
  auto fft = std::make_shared<const ParallelFft>(problem, settings_.ffts, threads,
                                                 settings_.compare_ffts ? plan_fastest_fft : plan_fft);
  note_library(fft->row().name);
  fft_work_bytes_ = std::max(fft_work_bytes_, fft->work_bytes());
  return fft;
}

std::shared_ptr<const HostFft> Executor::plan(const ResizedProblem& problem, int threads) {
  auto fft = std::make_shared<const ResizedFft>(problem, settings_.ffts, threads,
                                                settings_.compare_ffts ? plan_fastest_fft : plan_fft);
  note_library(fft->row().name);
  fft_work_bytes_ = std::max(fft_work_bytes_, fft->work_bytes());
  return fft;
}

template <class AnyProblem>
Executor::BoundFft Executor::bind(std::map<std::pair<AnyProblem, bool>, BoundFft>& bound, AnyProblem problem,
                                  const FftCall& call) {
  problem.planning_seconds = settings_.planning_seconds;
  const bool offsets_aligned = call.from.offset % 16 == 0 && call.to.offset % 16 == 0;
  const auto of_user = [](const Operand& o) { return o.space == Space::input || o.space == Space::output; };
  const bool users = of_user(call.from) || of_user(call.to);
  const int threads = threads_for(call.to_box.count() * call.to_bytes);
  BoundFft& b = bound[{problem, offsets_aligned}];
  if (offsets_aligned && !b.aligned) b.aligned = plan(problem, threads);
  if ((users || !offsets_aligned) && !b.unaligned) {
    AnyProblem anywhere = problem;
    anywhere.aligned = false;
    if (offsets_aligned) anywhere.effort = Effort::estimate;  // the rare case is not worth long planning
    b.unaligned = plan(anywhere, threads);
  }
  return {b.aligned ? b.aligned : b.unaligned, b.unaligned ? b.unaligned : b.aligned,
          call.twiddles ? twiddles_of(call) : nullptr};
}

Executor::Executor(Program program, const ExecutorSettings& settings)
    : Interpreter(std::move(program)), settings_(settings) {
  fft_work_offset_ = rounded_up<Index>(program_.workspace_bytes, 64);
  ffts_.reserve(program_.ffts.size());
  std::map<std::pair<FftProblem, bool>, BoundFft> bound;
  std::map<std::pair<ResizedProblem, bool>, BoundFft> bound_resized;
  for (const FftCall& call : program_.ffts)
    ffts_.push_back(call.resized.empty()
                        ? bind(bound, fft_problem(call, settings.precision, settings.effort), call)
                        : bind(bound_resized,
                               resized_problem(call, settings.precision, settings.effort, program_), call));
  copies_.reserve(program_.copies.size());
  std::shared_ptr<ZfpStreams> zfp;  // copies use them one after the other
  for (const CopyCall& c : program_.copies) {
    const CodedRows& rows = c.coded;
    if (rows.codec) {
      if (rows.codec.row->by_library && !zfp)
        zfp = std::make_shared<ZfpStreams>(settings.pool ? settings.pool->threads() : 1);
      copies_.emplace_back(CodedCopy(coded_request(c), rows.codec.row->by_library ? zfp : nullptr));
    } else {
      const CopyShape s = copy_shape(c);
      copies_.emplace_back(PermuteCopy(s.extents, s.from, s.to, c.element_bytes,
                                       CopyManner{c.scale, c.real_bytes, c.store_past, c.load_ahead}));
    }
  }
}

std::shared_ptr<const LineTwiddles> Executor::twiddles_of(const FftCall& call) {
  if (!roots_) roots_ = std::make_shared<const UnitRoots>(program_.line_points);
  const std::array<int, 2> line{program_.line[0], program_.line[1]};
  return std::make_shared<const LineTwiddles>(roots_, line, call.direction, settings_.precision, call.to_box,
                                              call.to.strides);
}

void Executor::run_fft(const Op& op) const {
  const auto call = static_cast<std::size_t>(op.call);
  const FftCall& f = program_.ffts[call];
  const HostFft& fft = users_aligned_ ? *ffts_[call].aligned : *ffts_[call].unaligned;
  test_access(name_of(op.kind), address(f.from), address(f.to),
              static_cast<std::size_t>(f.to_box.count() * f.to_bytes));
  fft.execute(address(f.from), address(f.to), fft_work_, settings_.pool.get(), {operator_, f.from_box.lo});
  const LineTwiddles* const twiddles = ffts_[call].twiddles.get();
  if (twiddles == nullptr) return;
  const int parts = threads_for(f.to_box.count() * f.to_bytes);
  const auto run = [&](int part) { twiddles->run(address(f.to), part, parts); };
  parts == 1 ? run(0) : settings_.pool->run(parts, run);
}

void Executor::run_copy(const Op& op) const {
  const auto call = static_cast<std::size_t>(op.call);
  const CopyCall& c = program_.copies[call];
  const std::byte* from = address(c.from);
  std::byte* to = target(op, c);
  const Index bytes = c.box.count() * c.element_bytes;
  test_access(name_of(op.kind), from, to,
              static_cast<std::size_t>(std::min(bytes_read(c), bytes_written(c))));
  const int parts = threads_for(bytes);
  if (const auto* coded = std::get_if<CodedCopy>(&copies_[call])) {
    std::atomic<codec::Outcome> failure = codec::Outcome::good;
    const auto run = [&](int part) {
      if (const codec::Outcome o = coded->run_part(from, to, part, parts); o != codec::Outcome::good)
        failure.store(o, std::memory_order_relaxed);
    };
    parts == 1 ? run(0) : settings_.pool->run(parts, run);
    if (failure != codec::Outcome::good) fail_coding(op, failure);
  } else if (const PermuteCopy& copy = std::get<PermuteCopy>(copies_[call]); parts == 1) {
    copy.run(from, to);
  } else {
    settings_.pool->run(parts, [&](int part) { copy.run_part(from, to, part, parts); });
  }
}

void Executor::record_times(bool on) {
  recording_ = on;
  // An operation is noted once, and receiving once more for each part; being left adds to that.
  if (on) times_.reserve(4 * program_.ops.size() + 64);
}

void Executor::note(const Op& op, Clock::time_point begin) {
  if (!recording_ || times_.size() == times_.capacity()) return;
  const auto since = [&](Clock::time_point t) { return std::chrono::duration<double>(t - started_).count(); };
  times_.push_back(time_of(op, since(begin), since(Clock::now())));
}

/// Parts are unpacked as they arrive; the operation comes back to where it was if it has to be left.
bool Executor::receive(const Op& op, Patience patience) {
  Carrier& carrier = links_.carrier(op.reshape);
  for (;;) {
    const auto waiting = now();
    int i = no_arrival_yet;
    const bool there = links_.await_part(patience, [&](Patience p) {
      i = carrier.next_arrival(op.tile, host_, p);
      return i != no_arrival_yet;
    });
    note(op, waiting);
    if (!there) return false;
    if (i == no_more_arrivals) break;
    if (op.count == 0) continue;
    const Op& unpack = program_.ops[position_ + 1 + static_cast<std::size_t>(i)];
    const auto unpacking = now();
    alone([&] { run_copy(unpack); });
    note(unpack, unpacking);
    for (int t = 0; t < unpack.tests; ++t) carrier.progress();
  }
  --in_flight_;
  position_ += static_cast<std::size_t>(op.count);
  return true;
}

bool Executor::run_op(Patience patience) {
  const Op& op = program_.ops[position_];
  switch (op.kind) {
    case OpKind::fft:
      alone([&] { run_fft(op); });
      break;
    case OpKind::copy:
    case OpKind::pack:
    case OpKind::put:
    case OpKind::keep:
    case OpKind::unpack:
      alone([&] { run_copy(op); });
      break;
    case OpKind::receive:
      return receive(op, patience);
    case OpKind::post:
      moving_ = &links_.carrier(op.reshape);
      if (!exchange(op, host_, patience)) return false;
      ++in_flight_;
      return true;
    default:
      return exchange(op, host_, patience);
  }
  if (in_flight_ > 0)
    for (int i = 0; i < op.tests; ++i) moving_->progress();
  return true;
}

void Executor::link(const LinkRequest& request) {
  fft_work_offset_ = request.memory.fft_work_offset;
  Interpreter::link(request);
}

void Executor::start(const void* in, void* out, std::byte* work) {
  const auto aligned16 = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
  use_memory(in, out, work);
  fft_work_ = work == nullptr ? nullptr : work + fft_work_offset_;
  users_aligned_ = aligned16(in) && aligned16(out);
  in_flight_ = 0;
  position_ = 0;
  times_.clear();
  started_ = now();
  begin_agreeing();
  told_ = false;
  links_.begin(0);
}

bool Executor::advance(Patience patience) {
  for (; position_ < program_.ops.size(); ++position_) {
    alone([&] { test_point("op", program_.rank); });
    const Op& op = program_.ops[position_];
    if (skipping_ && op.invariant) continue;
    const auto begin = now();
    bool done = true;
    const auto run = [&] { done = run_op(patience); };
    stands_in_step(op) ? run() : alone(run);
    if (failure_ && !std::exchange(told_, true)) {
      failed_in_ = op.stage;
      links_.tell_those_who_go_on();
    }
    if (op.kind != OpKind::receive) note(op, begin);
    if (!done) return false;
  }
  agree();
  return true;
}

/// Whether other ranks need this one to do it even if it has failed.
bool Executor::stands_in_step(const Op& op) const {
  const bool carries = op.kind == OpKind::post || op.kind == OpKind::receive || op.kind == OpKind::wait_sent;
  return carries && weft::stands_in_step(at(program_.reshapes, op.reshape).leg.traits);
}

}  // namespace weft
