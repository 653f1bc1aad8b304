// What an executor on streams needs before the first execution, and gives back after the last.
#include <algorithm>
#include <map>

#include "base/test_hook.hpp"
#include "exec/stream_executor.hpp"
#include "transport/peer/peer_memory.hpp"
#include "transport/staged/staged.hpp"
#include "transport/staged/unstaged.hpp"

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
      note_library(planned.row->name, planned.fft->lengths_aside);
      fft = std::move(planned.fft);
    }
    fft_work_bytes_ = std::max(fft_work_bytes_, static_cast<Index>(fft->work_bytes()));
    ffts_.push_back(fft);
  }
  std::vector<bool> stored(program_.copies.size(), true);
  for (const Op& op : program_.ops)
    if (op.kind == OpKind::put &&
        program_.reshapes[static_cast<std::size_t>(op.reshape)].leg.store_lane == Lane::transfer)
      stored[static_cast<std::size_t>(op.call)] = false;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const CopyCall& c = program_.copies[i];
    copies_.emplace_back(
        DeviceCopy{copy_loops(c.box.extents(), c.from.strides, c.to.strides), c.element_bytes, c.scale, real},
        c.to_rank < 0 || stored[i] ? rows_within_device : rows_to_peer);
  }
  compute_ = device_->borrow_stream(nullptr);
  transfer_ = device_->make_stream(true);
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
    times_.clear();
    events_.clear();
    for (auto* event : {&forked_, &arrived_, &joined_, &done_}) event->reset();
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
  for (const ExchangeRow* row : exchanges) carried.push_back(row->traits.on_streams);
  carried_on_streams_ = std::find(carried.begin(), carried.end(), true) != carried.end();
  workspace_ = memory.workspace.get();
  second_ = memory.second;
  plan_ = plan_streams(program_, second_ > 0);
  for (int i = 0; i < plan_.events; ++i) events_.push_back(device_->make_event(false));
  reserve();
  Index far_offset = memory.far_offset;
  for (std::size_t j = 0; j < program_.reshapes.size(); ++j) {
    const ExchangeRow& row = *exchanges[j];
    const ReshapeProgram& reshape = program_.reshapes[j];
    const auto context_of = [&](const ReshapeMessages& messages, std::shared_ptr<std::byte> at) {
      return ExchangeContext{
          comm,    messages,     groups[j], std::move(at), nullptr, flags, memory.workspace_offset,
          device_, memory.peers, false,     second_ > 0};
    };
    if (row.traits.stores) {
      direct_.push_back(row.make_stream_direct(context_of(reshape.stored, memory.workspace)));
      std::byte* const pinned = memory.pinned.get() + far_offset;
      buffered_.push_back(memory.far == nullptr
                              ? nullptr
                              : make_staged(*memory.far, context_of(reshape.sent, {memory.pinned, pinned})));
      far_offset += staged_bytes(reshape.sent);
    } else {
      const ExchangeContext context = context_of(reshape.sent, memory.pinned);
      const bool hands_over = memory.hands_over && takes_devices(row, comm);
      direct_.push_back(nullptr);
      buffered_.push_back(carried[j]   ? row.make_stream_buffered(context)
                          : hands_over ? make_unstaged(row, context)
                                       : make_staged(row, context));
    }
    flags += peer_flag_bytes(reshape.stored, program_.ranks);
  }
  const auto any = [](const auto& all) {
    return std::any_of(all.begin(), all.end(), [](const auto& exchange) { return exchange != nullptr; });
  };
  mixed_ = any(direct_) && any(buffered_);
}

/// Executions allocate nothing.
void StreamExecutor::reserve() {
  std::size_t most = 0;
  for (std::size_t i = 0; i < plan_.launches.size(); ++i) most = std::max(most, launch_at(i).size());
  const auto peers = static_cast<std::size_t>(program_.ranks);
  flags_.reserve(most * peers);
  jobs_.reserve(most);
}

void StreamExecutor::connect(JointSteps& steps) {
  for (const auto& b : buffered_)
    steps.take([&] {
      if (b) b->connect();
      test_point("connect", program_.rank);
    });
}

}  // namespace weft
