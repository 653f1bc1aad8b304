// What an executor on streams needs before the first execution, and gives back after the last.
#include <algorithm>
#include <map>

#include "base/test_hook.hpp"
#include "exec/stream/executor.hpp"
#include "fft/calls/resized_calls.hpp"
#include "program/diversions.hpp"
#include "traffic/placement.hpp"

namespace weft {

namespace {
/// Work memory of a block: enough that kernels take longer than their launch.
constexpr Index block_bytes = Index{256} << 20;
}  // namespace

StreamExecutor::StreamExecutor(Program program, const ExecutorSettings& settings)
    : Interpreter(std::move(program)), device_(settings.device) {
  const auto real = static_cast<int>(real_bytes(settings.precision));
  bind_ffts(settings);
  std::vector<bool> stored(program_.copies.size(), true);
  for (const Op& op : program_.ops)
    if (op.kind == OpKind::put &&
        program_.reshapes[static_cast<std::size_t>(op.reshape)].leg.store_lane == Lane::transfer)
      stored[static_cast<std::size_t>(op.call)] = false;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const CopyCall& c = program_.copies[i];
    if (c.coded.codec) {
      if (!fault_) fault_ = device_->allocate_pinned(sizeof(std::uint32_t), "plan: codec");
      copies_.emplace_back(coding_copy(i), rows_within_device);
      continue;
    }
    const CopyShape s = copy_shape(c);
    copies_.emplace_back(DeviceCopy{copy_loops(s.extents, s.from, s.to), c.element_bytes, c.scale, real},
                         c.to_rank < 0 || stored[i] ? rows_within_device : rows_to_peer);
  }
  compute_ = device_->borrow_stream(nullptr);
  transfer_ = device_->make_stream(true);
  queue(Lane::transfer).stream = transfer_.get();
  if (settings.plain_executions) {
    graphs_.emplace(*settings.plain_executions);
    captures_ = device_->make_stream();
  }
  for (auto* event : {&forked_, &arrived_, &joined_, &done_}) *event = device_->make_event(false);
}

/// Where FFTs can store all that stays on the rank in one exchange, no copy brings it there. Whether peers
/// always have room for what they get is known only when the ranks are linked.
void StreamExecutor::bind_ffts(const ExecutorSettings& settings) {
  KnownFfts known;
  ffts_.resize(program_.ffts.size());
  used_.resize(program_.ffts.size());
  left_out_.assign(program_.ops.size(), false);
  const auto reshapes = static_cast<int>(program_.reshapes.size());
  for (const BoundDiversion& d : bind_diversions(known, Diverted::own, settings, reshapes)) divert(d);
  for (std::size_t i = 0; i < ffts_.size(); ++i) {
    const FftCall& call = program_.ffts[i];
    if (call.twiddles) twiddles_.emplace(i, twiddles_of(call));
    if (!ffts_[i]) use(i, bind(known, call, nullptr, settings), nullptr);
  }
  if (program_.workspace_bytes > settings.largest_in_turn) return;
  const bool in_turn =
      std::ranges::all_of(program_.reshapes, [](const ReshapeProgram& r) { return r.leg.in_turn(); });
  with_room_ = bind_diversions(known, Diverted::puts, settings, in_turn ? 2 : 1);
  for (const BoundDiversion& d : with_room_)
    for (const BoundFft& b : d.ffts) reserve_work(*b.fft);
}

/// What FFTs store on peers and where it is read next is nowhere else.
Index StreamExecutor::bytes_in_turn() const {
  const bool has_scratch = program_.workspace_bytes != aligned(workspace_end(program_));
  if (with_room_.empty() || has_scratch) return program_.workspace_bytes;
  Program used = program_;
  std::vector<bool> left_out(program_.copies.size(), false);
  for (const BoundDiversion& d : with_room_) {
    for (std::size_t i = 0; i < d.ffts.size(); ++i) {
      if (!d.ffts[i].fft->spares_output) return program_.workspace_bytes;
      FftCall& call = used.ffts[call_of(d.diversion.parts[i])];
      call.to = call.from;
      call.to_box = call.from_box;
      call.to_bytes = call.from_bytes;
    }
    for (const int copy : d.diversion.copies)
      left_out[static_cast<std::size_t>(program_.ops[static_cast<std::size_t>(copy)].call)] = true;
  }
  used.copies.clear();
  for (std::size_t i = 0; i < left_out.size(); ++i)
    if (!left_out[i]) used.copies.push_back(program_.copies[i]);
  return aligned(workspace_end(used));
}

void StreamExecutor::reserve_work(const StreamFft& fft) {
  fft_work_bytes_ = std::max(fft_work_bytes_, static_cast<Index>(fft.work_bytes()));
}

void StreamExecutor::use(std::size_t call, const BoundFft& bound, const Diversion::Part* part) {
  LinesElsewise elsewise = bound.fft->elsewise;
  if (part != nullptr)
    for (const Diversion::Piece& piece : part->pieces) {
      const bool packs = piece.packed_for >= 0, puts = piece.to_rank >= 0;
      elsewise.packs = elsewise.packs || packs;
      elsewise.puts = elsewise.puts || puts;
      elsewise.diverts = elsewise.diverts || (!packs && !puts);
    }
  used_[call] = {bound.row->name, elsewise};
  reserve_work(*bound.fft);
  ffts_[call] = bound.fft;
}

std::size_t StreamExecutor::call_of(const Diversion::Part& part) const {
  return static_cast<std::size_t>(program_.ops[static_cast<std::size_t>(part.op)].call);
}

/// Those of the first `reshapes` of which FFTs can store all parts elsewhere.
std::vector<StreamExecutor::BoundDiversion> StreamExecutor::bind_diversions(KnownFfts& known, Diverted what,
                                                                            const ExecutorSettings& settings,
                                                                            int reshapes) {
  std::vector<BoundDiversion> all;
  for (Diversion& diversion : diversions(program_, what)) {
    if (diversion.reshape >= reshapes) continue;
    BoundDiversion bound{std::move(diversion), {}};
    const bool diverts = std::ranges::all_of(bound.diversion.parts, [&](const Diversion::Part& part) {
      static_assert(Diversion::most_pieces == DivertedModes::most_pieces);
      if (part.pieces.size() > Diversion::most_pieces) return false;
      bound.ffts.push_back(bind(known, program_.ffts[call_of(part)], &part, settings));
      return bound.ffts.back().fft->diverts;
    });
    if (diverts) all.push_back(std::move(bound));
  }
  return all;
}

void StreamExecutor::divert(const BoundDiversion& bound) {
  for (std::size_t i = 0; i < bound.ffts.size(); ++i) {
    const Diversion::Part& part = bound.diversion.parts[i];
    use(call_of(part), bound.ffts[i], &part);
    diverted_[call_of(part)] = {bound.diversion.reshape, part.pieces};
  }
  for (const int copy : bound.diversion.copies) left_out_[static_cast<std::size_t>(copy)] = true;
}

StreamExecutor::BoundFft StreamExecutor::bind(KnownFfts& known, const FftCall& call,
                                              const Diversion::Part* diverted,
                                              const ExecutorSettings& settings) {
  // Arrays start on multiples of 16 bytes; real lines of a tile may start anywhere.
  const Index complex = 2 * real_bytes(settings.precision);
  const bool aligned = call.from.offset % complex == 0 && call.to.offset % complex == 0;
  if (!call.resized.empty()) {
    ResizedProblem problem = resized_problem(call, settings.precision, Effort::estimate, program_);
    problem.aligned = aligned;
    BoundFft& fft = known.resized[problem];
    if (!fft.fft) {
      const auto calls =
          std::make_shared<ResizedCalls>(problem, settings.ffts, *device_, test_block_bytes(block_bytes));
      fft = {calls, &calls->row()};
    }
    return fft;
  }
  FftProblem problem = fft_problem(call, settings.precision, Effort::estimate, diverted);
  problem.aligned = aligned;
  BoundFft& fft = known.plain[problem];
  if (!fft.fft) {
    PlannedStreamFft planned = plan_stream_fft(settings.ffts, problem, *device_);
    fft = {std::move(planned.fft), planned.row};
  }
  return fft;
}

TurnLine StreamExecutor::twiddles_of(const FftCall& call) const {
  TurnLine turn;
  turn.n = program_.line_points;
  turn.forward = call.direction == Direction::forward;
  turn.real_bytes = static_cast<int>(call.to_bytes / 2);
  std::vector<int> axes;  // the fastest first
  for (int a = 0; a < call.to_box.ndim(); ++a) axes.push_back(a);
  std::ranges::stable_sort(axes, {}, [&](int a) { return call.to.strides[a]; });
  for (const int a : axes) {
    for (int i = 0; i < 2; ++i)
      if (a == program_.line[i]) {
        at(turn.line, i) = turn.loops.count;
        at(turn.first, i) = call.to_box.lo[a];
      }
    turn.loops.add({call.to_box.extent(a), call.to.strides[a], 0});
  }
  return turn;
}

/// A failure is told by the number of the call.
DeviceCopy StreamExecutor::coding_copy(std::size_t call) {
  *fault() = 0;
  const CopyCall& c = program_.copies[call];
  const CodingFault told{fault(), outcomes * static_cast<std::uint32_t>(call)};
  DeviceCopy copy;
  copy.coded = std::make_shared<DeviceCoding>(coded_request(c), told, c.to_rank >= 0);
  return copy;
}

StreamExecutor::~StreamExecutor() {
  try {
    const DeviceScope scope(*device_);
    if (begun_ && !complete_) conclude();
    if (begun_) let_finish();
    // What is freed here is the device's.
    graphs_.reset();
    ffts_.clear();
    links_ = {};
    times_.clear();
    events_.clear();
    for (auto* event : {&forked_, &arrived_, &joined_, &done_}) event->reset();
    for (auto* stream : {&compute_, &transfer_, &captures_}) stream->reset();
  } catch (const std::exception&) {
    // The device is lost; its driver has freed what there was.
  }
}

void StreamExecutor::link(const LinkRequest& request) {
  Interpreter::link(request);
  const PlanMemory& memory = request.memory;
  fft_work_offset_ = memory.fft_work_offset;
  spoilt_to_ = memory.program_bytes;
  workspace_ = memory.workspace.get();
  second_ = memory.second;
  for (const BoundDiversion& d : with_room_)
    if (d.diversion.reshape < memory.roomy) divert(d);
  spoilt_from_ = memory.roomy > 1 ? program_.workspace_bytes : 0;
  for (const BoundDiversion& d : with_room_)
    for (const Diversion::Part& part : d.diversion.parts)
      for (const Diversion::Piece& piece : part.pieces)
        if (d.diversion.reshape > 0) spoilt_from_ = std::min(spoilt_from_, piece.to.offset);
  with_room_.clear();
  for (const auto& [name, elsewise] : used_) note_library(name, elsewise);
  const auto by_device = [](const ReshapeProgram& r) { return r.leg.traits.by_device; };
  carried_on_streams_ = std::any_of(program_.reshapes.begin(), program_.reshapes.end(), by_device);
  plan_ = plan_streams(program_, memory.roomy);
  join_launches();
  for (int i = 0; i < plan_.events; ++i) events_.push_back(device_->make_event(false));
  reserve();
}

/// An FFT that stores in the place of all puts of a tile also signals them. Nothing may have to be waited for
/// in between.
void StreamExecutor::join_launches() {
  std::vector<StreamPlan::Launch> joined;
  for (std::size_t i = 0; i < plan_.launches.size(); ++i) {
    joined.push_back(plan_.launches[i]);
    const auto step = [&](int id) -> const StreamPlan::Step& { return at(plan_.steps, id); };
    const auto op = [&](int id) -> const Op& { return at(program_.ops, id); };
    const int fft = launch_at(i).front();
    if (op(fft).kind != OpKind::fft || step(fft).event >= 0 || i + 1 == plan_.launches.size()) continue;
    if (!diverted_.contains(static_cast<std::size_t>(op(fft).call))) continue;
    const Positions next = launch_at(i + 1);
    const bool signals = std::ranges::all_of(next, [&](int id) {
      return op(id).lane == op(fft).lane && step(id).waits_begin == step(id).waits_end &&
             (left_out_[static_cast<std::size_t>(id)] || op(id).kind == OpKind::signal_full);
    });
    if (!signals) continue;
    joined.back().count += plan_.launches[++i].count;
  }
  plan_.launches = std::move(joined);
}

/// Executions allocate nothing.
void StreamExecutor::reserve() {
  std::size_t most = 0;
  for (std::size_t i = 0; i < plan_.launches.size(); ++i) most = std::max(most, launch_at(i).size());
  const auto peers = static_cast<std::size_t>(program_.ranks);
  for (Queue& queue : queues_) queue.flags.reserve(most * peers);
  jobs_.reserve(most);
}

}  // namespace weft
