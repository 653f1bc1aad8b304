#include "exec/stream_executor.hpp"

#include <algorithm>
#include <map>
#include <thread>

#include "base/test_hook.hpp"
#include "transport/peer/peer_memory.hpp"
#include "transport/staged/staged.hpp"
#include "transport/staged/unstaged.hpp"
#include "weft/error.hpp"

namespace weft {

StreamExecutor::StreamExecutor(Program program, const ExecutorSettings& settings)
    : Interpreter(std::move(program)), device_(settings.device) {
  const auto real = static_cast<int>(real_bytes(settings.precision));
  // Most tiles ask for the same transform.
  std::map<FftProblem, std::shared_ptr<StreamFft>> known;
  for (const FftCall& call : program_.ffts) {
    FftProblem problem = fft_problem(call, settings.precision, Effort::estimate);
    // Arrays start on multiples of 16 bytes; real lines of a tile may start anywhere.
    problem.aligned = call.from.offset % (2 * real) == 0 && call.to.offset % (2 * real) == 0;
    std::shared_ptr<StreamFft>& fft = known[problem];
    if (!fft) {
      PlannedStreamFft planned = plan_stream_fft(settings.ffts, problem, *device_);
      note_library(planned.row);
      fft = std::move(planned.fft);
    }
    fft_work_bytes_ = std::max(fft_work_bytes_, static_cast<Index>(fft->work_bytes()));
    ffts_.push_back(fft);
  }
  for (const CopyCall& c : program_.copies)
    copies_.emplace_back(
        DeviceCopy{copy_loops(c.extents, c.from.strides, c.to.strides), c.element_bytes, c.scale, real},
        c.to_rank < 0 ? rows_within_device : rows_to_peer);
  compute_ = device_->borrow_stream(nullptr);
  transfer_ = device_->make_stream();
  if (settings.plain_executions) {
    graphs_.emplace(*settings.plain_executions);
    captures_ = device_->make_stream();
  }
  for (auto* event : {&forked_, &arrived_, &joined_, &done_}) *event = device_->make_event(false);
}

StreamExecutor::~StreamExecutor() {
  try {
    const DeviceScope scope(*device_);
    if (begun_ && !complete_) conclude();
    if (begun_) let_finish();
    // What is freed here is the device's.
    graphs_.reset();
    ffts_.clear();
    buffered_.clear();
    direct_.clear();
    timed_.clear();
    events_.clear();
    for (auto* event : {&forked_, &arrived_, &joined_, &done_, &began_}) event->reset();
    for (auto* stream : {&compute_, &transfer_, &captures_}) stream->reset();
  } catch (const std::exception&) {
    // The device is lost; its driver has freed what there was.
  }
}

void StreamExecutor::make_exchanges(CommImpl& comm, const std::vector<const ExchangeRow*>& exchanges,
                                    const std::vector<std::vector<int>>& groups,
                                    const ExchangeMemory& memory) {
  fft_work_offset_ = memory.fft_work_offset;
  Index flags = memory.flags_offset;
  std::vector<bool> carried;
  for (const ExchangeRow* row : exchanges) carried.push_back(row->make_stream_buffered != nullptr);
  carried_on_streams_ = std::find(carried.begin(), carried.end(), true) != carried.end();
  plan_ = plan_streams(program_, carried);
  for (int i = 0; i < plan_.events; ++i) events_.push_back(device_->make_event(false));
  Index far_offset = memory.far_offset;
  for (std::size_t j = 0; j < program_.reshapes.size(); ++j) {
    const ExchangeRow& row = *exchanges[j];
    const ReshapeProgram& reshape = program_.reshapes[j];
    const auto context_of = [&](const ReshapeMessages& messages, std::shared_ptr<std::byte> at) {
      return ExchangeContext{
          comm,    messages,    groups[j], std::move(at), nullptr, flags, memory.workspace_offset,
          device_, memory.peers};
    };
    if (row.carry == Carry::direct) {
      direct_.push_back(row.make_stream_direct(context_of(reshape.messages, memory.workspace)));
      std::byte* const pinned = memory.pinned.get() + far_offset;
      buffered_.push_back(memory.far == nullptr
                              ? nullptr
                              : make_staged(*memory.far, context_of(reshape.far, {memory.pinned, pinned})));
      far_offset += staged_bytes(reshape.far);
    } else {
      const ExchangeContext context = context_of(reshape.messages, memory.pinned);
      const bool hands_over = memory.hands_over && takes_devices(row, comm);
      direct_.push_back(nullptr);
      buffered_.push_back(carried[j]   ? row.make_stream_buffered(context)
                          : hands_over ? make_unstaged(row, context)
                                       : make_staged(row, context));
    }
    flags += peer_flag_bytes(reshape.messages, program_.ranks);
  }
  const auto any = [](const auto& all) {
    return std::any_of(all.begin(), all.end(), [](const auto& exchange) { return exchange != nullptr; });
  };
  mixed_ = any(direct_) && any(buffered_);
}

void StreamExecutor::connect() {
  for (const auto& b : buffered_)
    if (b) b->connect();
}

void StreamExecutor::use_stream(void* native) {
  const DeviceScope scope(*device_);
  compute_ = device_->borrow_stream(native);
  // Executions follow each other, whatever streams they are on.
  if (begun_) compute_->wait(*done_);
}

void StreamExecutor::start(const void* in, void* out, std::byte* work) {
  const DeviceScope scope(*device_);
  turn_ = 1 - turn_;
  for (const auto& d : direct_)
    if (d) d->begin(turn_);
  // The program reads the input only: in place it names that memory as output.
  memory_ = {static_cast<std::byte*>(const_cast<void*>(in)), static_cast<std::byte*>(out), work,
             work == nullptr ? nullptr : work + program_.scratch_offset};
  position_ = 0;
  waited_ = false;
  begun_ = true;
  complete_ = false;
  noted_ = 0;
  computes_ = compute_.get();
  // What notes times, or leaves something out, is enqueued as it is.
  as_graph_ = graphs_ && !recording_ && !skipping_ ? graphs_->find(turn_, {in, out, work}) : nullptr;
  if (test_spoils_workspace() && program_.workspace_bytes > 0)
    compute_->fill(work, 0xff, static_cast<std::size_t>(program_.workspace_bytes));
  if (recording_) compute_->record(*began_);
  if (as_graph_ == nullptr) fork();
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
  return true;
}

/// Of an execution that was left in the middle.
void StreamExecutor::conclude() {
  computes_ = compute_.get();
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
  computes_ = captures_.get();
  fork();
  enqueue_all(Patience::wait);
  join();
  computes_ = compute_.get();
  std::unique_ptr<DeviceGraph> captured = capture.end();
  if (!execution.graph || !execution.graph->update(*captured)) execution.graph = std::move(captured);
  execution.captured = true;
}

bool StreamExecutor::enqueue_all(Patience patience) {
  for (; position_ < program_.ops.size(); ++position_) {
    const std::size_t at = position_;
    const Op& op = program_.ops[at];
    // What others wait for is recorded all the same.
    const bool left_out = skipping_ && op.invariant;
    const StreamPlan::Step& step = plan_.steps[at];
    DeviceStream& on = stream(step.stream);
    if (!waited_) {
      test_point("op", program_.rank);
      await_others(at);
      // Parts are unpacked in the order in which they arrive.
      for (int u = 1; op.kind == OpKind::receive && u <= op.count; ++u)
        await_others(at + static_cast<std::size_t>(u));
      begin_timing(op, on);
      waited_ = true;
    }
    if (!left_out && !enqueue(op, on, patience)) return false;
    end_timing(op, on);
    if (step.event >= 0) on.record(*events_[static_cast<std::size_t>(step.event)]);
    waited_ = false;
    if (op.kind == OpKind::receive) position_ += static_cast<std::size_t>(op.count);
  }
  return true;
}

void StreamExecutor::fork() {
  if (!plan_.transfers) return;
  computes_->record(*forked_);
  transfer_->wait(*forked_);
}

/// What follows on the computing stream comes after everything here.
void StreamExecutor::join() {
  if (!plan_.transfers) return;
  transfer_->record(*joined_);
  computes_->wait(*joined_);
}

bool StreamExecutor::settled(Patience patience) {
  if (!begun_) return true;
  const DeviceScope scope(*device_);
  if (patience == Patience::wait && !carried_on_streams_) device_->wait_for(*done_);
  for (;;) {
    const bool passed = device_->passed(*done_);
    try {
      check_others();
    } catch (const Error&) {
      // Arrays may be freed once this has thrown; and others may wait for what this rank will not enqueue.
      cancel();
      throw;
    }
    if (passed || patience == Patience::look) return passed;
    std::this_thread::yield();
  }
}

/// Whatever has become of the other ranks.
void StreamExecutor::let_finish() {
  try {
    settled(Patience::wait);
  } catch (const Error&) {
    // All has come to rest before it was thrown.
  }
}

/// Throws if a rank has failed that streams may wait for, or whose parts they have taken.
void StreamExecutor::check_others() {
  for (const auto& b : buffered_)
    if (b) b->check();
  for (const auto& d : direct_)
    if (d) d->check();
}

void StreamExecutor::await_others(std::size_t position) {
  const StreamPlan::Step& step = plan_.steps[position];
  for (int w = step.waits_begin; w < step.waits_end; ++w)
    stream(step.stream).wait(*events_[static_cast<std::size_t>(plan_.waits[static_cast<std::size_t>(w)])]);
}

void StreamExecutor::copy(const Op& op) {
  const auto call = static_cast<std::size_t>(op.call);
  const CopyCall& c = program_.copies[call];
  const bool far = c.to_rank >= 0;
  std::byte* const to = far ? direct(op).workspace_of(c.to_rank) + c.to.offset : address(c.to);
  copies_[call].enqueue(stream(far ? StreamRole::transfer : StreamRole::compute), to, address(c.from));
}

/// A wait of the host for its stream or for messages. The stream may wait for flags of ranks that wait for
/// messages themselves, which need this rank to move on.
template <class Look>
bool StreamExecutor::await(Patience patience, const Look& look) {
  if (!mixed_) return look(patience);
  for (;;) {
    if (look(Patience::look)) return true;
    for (const auto& b : buffered_)
      if (b) b->progress();
    check_others();
    if (patience == Patience::look) return false;
    std::this_thread::yield();
  }
}

bool StreamExecutor::enqueue(const Op& op, DeviceStream& on, Patience patience) {
  const DeviceRange range(name_of(op.kind));
  switch (op.kind) {
    case OpKind::fft: {
      const auto call = static_cast<std::size_t>(op.call);
      std::byte* const work = memory_[static_cast<std::size_t>(Space::work)];
      const FftCall& f = program_.ffts[call];
      std::byte* const fft_work = work == nullptr ? nullptr : work + fft_work_offset_;
      ffts_[call]->enqueue(on, address(f.from), address(f.to), fft_work);
      return true;
    }
    case OpKind::copy:
    case OpKind::pack:
    case OpKind::put:
    case OpKind::keep:
    case OpKind::unpack:
      copy(op);
      return true;
    case OpKind::post:
      return await(patience, [&](Patience p) { return buffered(op).post(op.tile, memory_, on, p); });
    case OpKind::wait_sent:
      return await(patience, [&](Patience p) { return buffered(op).sent(op.tile, p); });
    case OpKind::receive:
      return receive(op, on, patience);
    case OpKind::signal_free:
      direct(op).signal_free(op.tile, on);
      return true;
    case OpKind::await_free:
      direct(op).await_free(op.tile, op.peer, on);
      return true;
    case OpKind::signal_full:
      direct(op).signal_full(op.tile, op.peer, on);
      return true;
    case OpKind::await_full:
      direct(op).await_full(op.tile, op.peer, on);
      return true;
  }
  return true;
}

/// Parts are unpacked as they arrive; the operation comes back to where it was if it has to be left.
bool StreamExecutor::receive(const Op& op, DeviceStream& on, Patience patience) {
  for (;;) {
    int i = no_arrival_yet;
    const auto look = [&](Patience p) {
      i = buffered(op).next_arrival(op.tile, on, p);
      return i != no_arrival_yet;
    };
    if (!await(patience, look)) return false;
    if (i == no_more_arrivals) break;
    if (op.count == 0) continue;
    on.record(*arrived_);
    computes_->wait(*arrived_);
    const std::size_t at = position_ + 1 + static_cast<std::size_t>(i);
    const Op& unpack = program_.ops[at];
    begin_timing(unpack, *computes_);
    copy(unpack);
    end_timing(unpack, *computes_);
    const int event = plan_.steps[at].event;
    if (event >= 0) computes_->record(*events_[static_cast<std::size_t>(event)]);
  }
  return true;
}

void StreamExecutor::record_times(bool on) {
  const DeviceScope scope(*device_);
  recording_ = on;
  if (!on || !timed_.empty()) return;
  began_ = device_->make_event(true);
  for (std::size_t i = 0; i < program_.ops.size(); ++i)
    timed_.push_back({nullptr, device_->make_event(true), device_->make_event(true)});
}

void StreamExecutor::begin_timing(const Op& op, DeviceStream& on) {
  if (!recording_) return;
  Timed& t = timed_[static_cast<std::size_t>(&op - program_.ops.data())];
  t.op = &op;
  on.record(*t.begin);
}

void StreamExecutor::end_timing(const Op& op, DeviceStream& on) {
  if (!recording_) return;
  on.record(*timed_[static_cast<std::size_t>(&op - program_.ops.data())].end);
  ++noted_;
}

std::vector<OperationTime> StreamExecutor::times() {
  std::vector<OperationTime> all;
  if (noted_ == 0 || !settled(Patience::wait)) return all;
  const DeviceScope scope(*device_);
  for (const Timed& t : timed_) {
    if (t.op == nullptr) continue;
    const Traffic traffic = traffic_of(*t.op);
    const auto position = static_cast<std::size_t>(t.op - program_.ops.data());
    all.push_back({kind_of(t.op->kind), t.op->stage, t.op->reshape, t.op->tile,
                   device_->seconds_between(*began_, *t.begin), device_->seconds_between(*began_, *t.end),
                   traffic.bytes, traffic.memory_read, traffic.memory_written,
                   static_cast<int>(plan_.steps[position].stream)});
  }
  return all;
}

/// Peers may never send what these streams wait for, so that they are let go, too; and whatever they still
/// signal must not be the last that peers hear.
void StreamExecutor::cancel() noexcept {
  for (const auto& b : buffered_)
    if (b) b->cancel();
  tell_failure();
  if (!begun_) return;
  try {
    const DeviceScope scope(*device_);
    // One that is complete may be on a stream that the user has destroyed since.
    if (!complete_) conclude();
    while (!device_->passed(*done_)) {
      std::this_thread::yield();
      tell_failure();
    }
  } catch (const std::exception&) {
    // The device is lost, and nothing is done on it any more.
  }
  tell_failure();
}

void StreamExecutor::tell_failure() noexcept {
  try {
    const DeviceScope scope(*device_);
    for (const auto& d : direct_)
      if (d) d->cancel();
  } catch (const std::exception&) {
    // Without the device nobody can be told.
  }
}

}  // namespace weft
