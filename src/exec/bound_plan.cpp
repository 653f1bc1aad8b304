#include "exec/bound_plan.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/backoff.hpp"
#include "base/test_hook.hpp"
#include "comm/agree.hpp"
#include "exec/host/executor.hpp"
#include "exec/stream/executor.hpp"

namespace weft {

BoundPlan::BoundPlan(Design design, Binding binding)
    : design_(std::move(design)), binding_(std::move(binding)), comm_(binding_.comm.impl()) {
  for (const Direction d : {Direction::forward, Direction::backward}) make_half(d);
  halves_[0].executor->stands_beside(halves_[1].executor);
  halves_[1].executor->stands_beside(halves_[0].executor);
  set_workspace_bytes();
  for (const ExchangeRow* row : halves_[0].exchanges) exclusive = exclusive || !row->traits.concurrent;
  test_point("prepare", comm_.rank());
}

void BoundPlan::set_workspace_bytes() {
  workspace_bytes_ = program_bytes_;
  Index fft_work = 0;
  for (const Half& h : halves_) fft_work = std::max(fft_work, h.executor->fft_work_bytes());
  if (fft_work > 0) workspace_bytes_ = device_aligned(program_bytes_) + device_aligned(fft_work);
  workspace_bytes_ = std::max(workspace_bytes_, binding_.room.least);
}

BoundPlan::~BoundPlan() {
  if (!under_way_ && !untold_) return;
  const Aftermath error(name_of(last_), "a plan destroyed while it was under way: " + binding_.title,
                        "wait() before that", comm_.rank());
  // Nobody else may have a chance to say so.
  if (comm_.threads() == nullptr) std::fprintf(stderr, "%s\n", error.what());
  comm_.poison(std::make_exception_ptr(error));
  give_up();
}

void BoundPlan::make_half(Direction direction) {
  Half& h = half(direction);
  const Schedule& schedule = design_.schedule(direction);
  for (const Leg& leg : design_.legs_of(direction)) h.exchanges.push_back(&exchange_row(leg.exchange));
  for (int reshape = 0; reshape < static_cast<int>(h.exchanges.size()); ++reshape)
    h.groups.push_back(exchange_groups(schedule, reshape));
  h.name = std::string("weft ") + name_of(direction) + " " + binding_.shape;
  Program program = program_of(design_, direction, comm_.rank(), binding_.layouts);
  program_bytes_ = std::max(program_bytes_, program.workspace_bytes);
  largest_box_ = std::max(largest_box_, program.largest_box_bytes);
  if (device()) {
    h.executor = std::make_shared<StreamExecutor>(std::move(program), binding_.settings);
  } else {
    h.executor = std::make_shared<Executor>(std::move(program), binding_.settings);
  }
}

void BoundPlan::connect() {
  collectively([&] {
    JointSteps steps("plan");
    for (Half& h : halves_) h.executor->connect(steps);
    steps.agree(comm_);
  });
}

Interpreter::Libraries BoundPlan::libraries() const {
  Interpreter::Libraries used;
  for (const Half& h : halves_)
    for (const auto& [name, elsewise] : h.executor->libraries()) used[name].add(elsewise);
  return used;
}

/// What a rank fails to do here, others wait for.
template <class Step>
auto BoundPlan::failing_together(const Step& step) {
  try {
    return step();
  } catch (...) {
    fail(std::current_exception());
    throw;
  }
}

void BoundPlan::fail(const std::exception_ptr& why) noexcept {
  ending_ = ending_of(why);
  comm_.poison(why);
  give_up();
}

void BoundPlan::start(Direction direction, const void* in, void* out, void* users_workspace,
                      const BlockOperator& op) {
  std::byte* workspace = memory_ ? memory_.get() : static_cast<std::byte*>(users_workspace);
  if (in_second_) workspace += second_workspace_;
  in_second_ = second_workspace_ > 0 && !in_second_;
  if (!device() && workspace != nullptr) {
    // Peers may still read what all ranks share in the execution before.
    Index shared = 0;
    for (const Half& h : halves_)
      if (comm_.rank() == 0) shared = std::max(shared, h.executor->program().shared_bytes);
    test_workspace(workspace + shared, static_cast<std::size_t>(workspace_bytes_ - shared));
  }
  if (design_.program.in_place) {
    if (in == nullptr) in = out;
    if (out == nullptr) out = const_cast<void*>(in);
  }
  under_way_ = direction;
  comm_.begin_execution(*this);
  failing_together([&] {
    collect();
    last_ = direction;
    executor(direction).use_operator(op);
    executor(direction).start(in, out, workspace);
  });
}

bool BoundPlan::advance(Patience patience) {
  if (!under_way_) {
    if (untold_) std::rethrow_exception(std::exchange(untold_, nullptr));
    if (broken())
      throw Error("test or wait", "a plan whose execution failed in the middle", "a new plan", comm_.rank());
    return true;
  }
  const bool complete = go_on(patience);
  if (complete) finish();
  return complete;
}

bool BoundPlan::go_on(Patience patience) {
  comm_.check_caller(name_of(*under_way_));
  return failing_together([&] {
    comm_.check_alive(name_of(*under_way_));
    return executor(*under_way_).advance(patience);
  });
}

void BoundPlan::look_after(Patience patience) noexcept {
  try {
    go_on(patience);
  } catch (...) {
    if (broken()) untold_ = std::current_exception();
  }
}

/// Beside other executions it looks after them as well: their peers may wait for this plan in another order.
void BoundPlan::wait() {
  const auto others = [&] { return comm_.executions() != this || next != nullptr; };
  for (Backoff backoff; under_way_ && others(); backoff.pause()) {
    if (advance(Patience::look)) return;
    comm_.advance_executions(this);
  }
  advance(Patience::wait);
}

bool BoundPlan::settled(Patience patience) {
  try {
    return executor(last_).settled(patience);
  } catch (...) {
    ending_ = ending_of(std::current_exception());
    throw;
  }
}

void BoundPlan::use_stream(void* native) {
  constexpr const char* operation = "set_stream";
  if (!device())
    throw Error(operation, "a plan of arrays on the host", "a problem whose memory is cuda", comm_.rank());
  if (under_way_) throw Error(operation, "a plan that is under way", "wait() before that", comm_.rank());
  for (Half& h : halves_) h.executor->use_stream(native);
}

/// Other ranks may still send to this one: what they reach is kept.
void BoundPlan::give_up() noexcept {
  if (under_way_) half(*under_way_).executor->cancel();
  for (Half& h : halves_) {
    h.executor->tell_failure();
    comm_.retain(h.executor);  // with its tags, as others may not look for what was told with them
  }
  comm_.retain(memory_);
  if (under_way_) finish();
}

void BoundPlan::finish() {
  comm_.end_execution(*this);
  under_way_.reset();
  uncollected_ = !broken() && trace_ && trace_->has_room();
}

void BoundPlan::record_times(bool on) {
  const bool notes = on || (trace_ && trace_->has_room());
  for (Half& h : halves_) h.executor->record_times(notes);
  recording_ = on;
}

void BoundPlan::trace() {
  std::size_t operations = 0;
  for (const Half& h : halves_) operations = std::max(operations, h.executor->program().ops.size());
  trace_.emplace(operations);
  record_times(recording_);
}

/// Streams may still be busy with the last execution when the host is done with it. What fails there is heard
/// of here: peers may already wait for the execution that this rank is about to start.
void BoundPlan::collect() {
  if (!uncollected_) return;
  uncollected_ = false;
  settled(Patience::wait);
  trace_->add(last_, executor(last_));
  if (!trace_->has_room()) record_times(recording_);
}

const Trace* BoundPlan::traced() {
  if (!trace_) return nullptr;
  collect();
  return &*trace_;
}

}  // namespace weft
