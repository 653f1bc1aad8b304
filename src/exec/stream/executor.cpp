#include "exec/stream/executor.hpp"

#include <algorithm>
#include <utility>

#include "base/backoff.hpp"
#include "base/test_hook.hpp"
#include "weft/error.hpp"

namespace weft {

void StreamExecutor::use_stream(void* native) {
  const DeviceScope scope(*device_);
  compute_ = device_->borrow_stream(native);
  // Executions follow each other, whatever streams they are on.
  if (begun_) compute_->wait(*done_);
}

void StreamExecutor::start(const void* in, void* out, std::byte* work) {
  const DeviceScope scope(*device_);
  peer_shift_ = second_ > 0 ? work - workspace_ : 0;
  take_turn();
  begin_agreeing();
  links_.begin(turn_);
  use_memory(in, out, work);
  position_ = 0;
  waited_ = false;
  begun_ = true;
  complete_ = false;
  compute_on(*compute_);
  // What notes times, or leaves something out, is enqueued as it is.
  as_graph_ = graphs_ && !times_.on() && !skipping_ ? graphs_->find(turn_, {in, out, work}) : nullptr;
  if (test_spoils_workspace() && program_.workspace_bytes > 0) spoil(work);
  times_.start(*compute_, *device_);
  if (as_graph_ == nullptr) fork();
}

/// Of two workspaces each has turns of its own, 0 and 2 or 1 and 3.
void StreamExecutor::take_turn() {
  const std::size_t which = peer_shift_ > 0 ? 1 : 0;
  std::uint32_t& bit = bits_[which];
  bit = 1 - bit;
  turn_ = static_cast<int>(second_ > 0 ? 2 * bit + which : bit);
}

/// Where peers may not have put something already: of two workspaces the one of the next execution, of the
/// halves of one the second.
void StreamExecutor::spoil(std::byte* work) {
  std::byte* const at = second_ == 0 ? work : workspace_ + (peer_shift_ == 0 ? second_ : 0);
  const Index bytes = std::min(program_.workspace_bytes, spoilt_to_) - spoilt_from_;
  compute_->fill(at + spoilt_from_, 0xff, static_cast<std::size_t>(bytes));
}

bool StreamExecutor::advance(Patience patience) {
  if (complete_) return true;
  const DeviceScope scope(*device_);
  if (as_graph_ != nullptr) {
    launch(*as_graph_);
  } else {
    if (!enqueue_all(patience)) return false;
    join();
  }
  compute_->record(*done_);
  complete_ = true;
  // What codes tells its failures on the stream.
  if (agrees_ && coded_)
    alone([&] {
      device_->wait_for(*done_);
      check_coding();
    });
  agree();
  return true;
}

/// Of an execution that was left in the middle.
void StreamExecutor::conclude() {
  compute_on(*compute_);
  join();
  compute_->record(*done_);
  complete_ = true;
}

void StreamExecutor::launch(StreamGraphs::Execution& execution) {
  test_point("launch", program_.rank);
  if (!execution.captured) capture(execution);
  execution.graph->launch(*compute_);
}

/// A driver that makes a graph may wait for the device, and other threads for that driver: by then nothing is
/// to be on the stream that waits for other ranks. Nor is a graph destroyed that may be under way.
void StreamExecutor::capture(StreamGraphs::Execution& execution) {
  compute_->record(*done_);
  settled(Patience::wait);
  DeviceCapture capture(*captures_);
  compute_on(*captures_);
  fork();
  enqueue_all(Patience::wait);
  join();
  compute_on(*compute_);
  std::unique_ptr<DeviceGraph> captured = capture.end();
  if (!execution.graph || !execution.graph->update(*captured)) execution.graph = std::move(captured);
  execution.captured = true;
}

StreamExecutor::Positions StreamExecutor::launch_at(std::size_t position) const {
  const StreamPlan::Launch& launch = plan_.launches[position];
  return Positions(plan_.order)
      .subspan(static_cast<std::size_t>(launch.first), static_cast<std::size_t>(launch.count));
}

bool StreamExecutor::enqueue_all(Patience patience) {
  for (; position_ < plan_.launches.size(); ++position_) {
    const Positions ops = launch_at(position_);
    Queue& on = queue(program_.ops[static_cast<std::size_t>(ops.front())].lane);
    if (!waited_) {
      alone([&] { test_point("op", program_.rank); });
      // Parts are unpacked in the order in which they arrive.
      await_others(ops);
      waited_ = true;
    }
    if (!enqueue(ops, on, patience)) return false;
    waited_ = false;
  }
  return true;
}

void StreamExecutor::fork() {
  if (!plan_.transfers) return;
  stream(Lane::compute).record(*forked_);
  transfer_->wait(*forked_);
}

/// What follows on the computing stream comes after everything here.
void StreamExecutor::join() {
  if (!plan_.transfers) return;
  transfer_->record(*joined_);
  stream(Lane::compute).wait(*joined_);
}

bool StreamExecutor::settled(Patience patience) {
  if (!begun_) return true;
  const DeviceScope scope(*device_);
  const bool waits = patience == Patience::wait && !carried_on_streams_;
  if (waits) device_->wait_for(*done_);
  for (Backoff backoff;; backoff.pause()) {
    // To ask after an event takes longer than a microsecond, also when it has passed.
    const bool passed = waits || device_->passed(*done_);
    try {
      links_.check();
      if (passed) check_coding();
    } catch (const Error&) {
      // Arrays may be freed once this has thrown; and others may wait for what this rank will not enqueue.
      cancel();
      throw;
    }
    if (passed || patience == Patience::look) return passed;
  }
}

/// Of what is done on the streams.
void StreamExecutor::check_coding() {
  const std::uint32_t told = fault_ ? *static_cast<volatile std::uint32_t*>(fault()) : 0;
  if (told == 0) return;
  *fault() = 0;
  const auto of_call = [&](const Op& op) {
    return op.kind != OpKind::fft && op.call == static_cast<int>(told / outcomes);
  };
  fail_coding(*std::find_if(program_.ops.begin(), program_.ops.end(), of_call),
              static_cast<codec::Outcome>(told % outcomes));
}

/// Whatever has become of the other ranks.
void StreamExecutor::let_finish() {
  try {
    settled(Patience::wait);
  } catch (const Error&) {
    // All has come to rest before it was thrown.
  }
}

void StreamExecutor::await_others(Positions ops) {
  for (const int id : ops) {
    const StreamPlan::Step& step = plan_.steps[static_cast<std::size_t>(id)];
    for (int w = step.waits_begin; w < step.waits_end; ++w)
      stream(program_.ops[static_cast<std::size_t>(id)].lane)
          .wait(*events_[static_cast<std::size_t>(plan_.waits[static_cast<std::size_t>(w)])]);
  }
}

void StreamExecutor::record_for_others(int position, DeviceStream& on) {
  const int event = plan_.steps[static_cast<std::size_t>(position)].event;
  if (event >= 0) on.record(*events_[static_cast<std::size_t>(event)]);
}

bool StreamExecutor::enqueue(Positions ops, Queue& on, Patience patience) {
  const OpKind kind = program_.ops[static_cast<std::size_t>(ops.front())].kind;
  const DeviceRange range(name_of(kind));
  if (kind == OpKind::receive) return receive(ops, on, patience);
  for (const int id : ops) {
    const auto at = static_cast<std::size_t>(id);
    const Op& op = program_.ops[at];
    times_.begin(at, *on.stream);
    // An operation that is left out is recorded all the same where the other stream waits for it.
    const bool left_out = skipping_ && op.invariant;
    if (left_out_[at]) {
      // An FFT has done it.
    } else if (!left_out && op.kind == OpKind::fft) {
      fft_ = &op;
    } else if (!left_out && op.call >= 0) {
      copy(op, *on.stream);
    } else if (!left_out && !exchange(op, on, patience)) {
      return false;
    }
    // Times are those of each by itself.
    if (times_.on()) enqueue_collected(on);
    times_.end(at, *on.stream);
  }
  enqueue_collected(on);
  record_for_others(ops.back(), *on.stream);
  return true;
}

void StreamExecutor::fft(const Op& op, DeviceStream& on, const DeviceSignals* signals) {
  const auto call = static_cast<std::size_t>(op.call);
  std::byte* const work = memory_[static_cast<std::size_t>(Space::work)];
  const FftCall& f = program_.ffts[call];
  std::byte* const fft_work = work == nullptr ? nullptr : work + fft_work_offset_;
  FftContext context{operator_, f.from_box.lo, {}, signals};
  std::array<std::byte*, DivertedModes::most_pieces> diverted;
  if (const auto part = diverted_.find(call); part != diverted_.end()) {
    const StoredElsewhere& stored = part->second;
    const auto end = std::ranges::transform(stored.pieces, diverted.begin(), [&](const auto& piece) {
      return target(stored.reshape, piece.to_rank, piece.to);
    });
    context.diverted = {diverted.begin(), end.out};
  }
  ffts_[call]->enqueue(on, address(f.from), address(f.to), fft_work, context);
  if (const auto turn = twiddles_.find(call); turn != twiddles_.end())
    on.elements(address(f.to), nullptr, turn->second);
}

void StreamExecutor::copy(const Op& op, DeviceStream& on) {
  const auto call = static_cast<std::size_t>(op.call);
  const CopyCall& c = program_.copies[call];
  copies_[call].enqueue(on, target(op, c), address(c.from), jobs_);
}

void StreamExecutor::enqueue_collected(Queue& on) {
  const DeviceSignals signals{on.flags, on.count};
  if (const Op* const op = std::exchange(fft_, nullptr)) {
    alone([&] { fft(*op, *on.stream, on.flags.empty() ? nullptr : &signals); });
  } else if (!jobs_.empty()) {
    on.stream->permute(jobs_, signals);
  } else if (!on.flags.empty()) {
    on.stream->flags(on.flags);
  }
  on.flags.clear();
  jobs_.clear();
}

/// Parts are unpacked as they arrive; the operation comes back to where it was if it has to be left.
bool StreamExecutor::receive(Positions ops, Queue& on, Patience patience) {
  const auto at = static_cast<std::size_t>(ops.front());
  const Op& op = program_.ops[at];
  times_.begin(at, *on.stream);
  for (;;) {
    int i = no_arrival_yet;
    const auto look = [&](Patience p) {
      i = links_.carrier(op.reshape).next_arrival(op.tile, on, p);
      return i != no_arrival_yet;
    };
    if (!links_.await(patience, look)) return false;
    if (i == no_more_arrivals) break;
    if (op.count == 0) continue;
    on.stream->record(*arrived_);
    stream(Lane::compute).wait(*arrived_);
    enqueue(ops.subspan(1 + static_cast<std::size_t>(i), 1), queue(Lane::compute), patience);
  }
  times_.end(at, *on.stream);
  record_for_others(ops.front(), *on.stream);
  return true;
}

void StreamExecutor::record_times(bool on) {
  const DeviceScope scope(*device_);
  times_.set(on, *device_, program_.ops.size());
}

double StreamExecutor::began() const {
  const DeviceScope scope(*device_);
  return times_.began(*device_);
}

std::optional<OperationTime> StreamExecutor::time(std::size_t i) const {
  if (left_out_[i]) return std::nullopt;
  const DeviceScope scope(*device_);
  const std::optional<StreamTimes::Interval> interval = times_.of(i, *device_);
  if (!interval) return std::nullopt;
  OperationTime t = time_of(program_.ops[i], interval->begin, interval->end);
  t.stream = static_cast<int>(program_.ops[i].lane);
  return t;
}

/// Peers may never send what these streams wait for, in executions of either direction, so that they are let
/// go, too; and whatever they still signal must not be the last that peers hear.
void StreamExecutor::cancel() noexcept {
  tell_failures();
  if (!begun_) return;
  try {
    const DeviceScope scope(*device_);
    // One that is complete may be on a stream that the user has destroyed since.
    if (!complete_) conclude();
    for (Backoff backoff; !device_->passed(*done_); backoff.pause()) tell_failures();
  } catch (const std::exception&) {
    // The device is lost, and nothing is done on it any more.
  }
  tell_failures();
}

void StreamExecutor::tell_failure() noexcept {
  links_.cancel_carriers();
  try {
    const DeviceScope scope(*device_);
    links_.cancel_windows();
  } catch (const std::exception&) {
    // Without the device nobody can be told.
  }
}

}  // namespace weft
