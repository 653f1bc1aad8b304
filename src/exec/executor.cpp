#include "exec/executor.hpp"

#include <cstdint>

#include "base/test_hook.hpp"

namespace weft {

namespace {

/// The local transform that a call of the program asks for.
FftProblem fft_problem(const FftCall& call, Precision precision, Effort effort) {
  FftProblem p;
  p.precision = precision;
  p.real = call.real_axis >= 0;
  p.direction = call.direction;
  p.in_place = call.from.space == call.to.space && call.from.offset == call.to.offset;
  p.may_destroy_input = call.may_destroy_input;
  p.effort = effort;
  const auto dimension = [&](int a) {
    return FftDimension{call.extents[a], call.from.strides[a], call.to.strides[a]};
  };
  for (int a = 0; a < call.extents.size(); ++a) {
    if (a == call.real_axis) continue;
    if (call.axes.contains(a)) {
      p.dimensions.push_back(dimension(a));
    } else if (call.extents[a] > 1) {
      p.loops.push_back(dimension(a));
    }
  }
  if (p.real) p.dimensions.push_back(dimension(call.real_axis));
  return p;
}

}  // namespace

Executor::Executor(Program program, const ExecutorSettings& settings) : program_(std::move(program)) {
  for (const FftCall& call : program_.ffts) {
    FftProblem problem = fft_problem(call, settings.precision, settings.effort);
    const bool offsets_aligned = call.from.offset % 16 == 0 && call.to.offset % 16 == 0;
    const bool users = call.from.space != Space::work || call.to.space != Space::work;
    BoundFft bound;
    if (offsets_aligned) bound.aligned = settings.fft->plan(problem);
    if (users || !offsets_aligned) {
      problem.aligned = false;
      if (offsets_aligned) problem.effort = Effort::estimate;  // the rare case is not worth long planning
      bound.unaligned = settings.fft->plan(problem);
    }
    if (!bound.aligned) bound.aligned = bound.unaligned;
    if (!bound.unaligned) bound.unaligned = bound.aligned;
    ffts_.push_back(std::move(bound));
  }
  copies_.reserve(program_.copies.size());
  for (const CopyCall& c : program_.copies)
    copies_.emplace_back(c.extents, c.from.strides, c.to.strides, c.element_bytes);
}

void Executor::make_exchanges(CommImpl& comm, const ExchangeRow& exchange,
                              const std::vector<std::vector<int>>& groups,
                              const std::shared_ptr<std::byte>& workspace) {
  for (std::size_t j = 0; j < program_.reshapes.size(); ++j) {
    const ExchangeContext context{comm, program_.reshapes[j].messages, groups[j], workspace};
    buffered_.push_back(exchange.direct ? nullptr : exchange.make_buffered(context));
    direct_.push_back(exchange.direct ? exchange.make_direct(context) : nullptr);
  }
}

void Executor::connect() {
  for (const auto& b : buffered_)
    if (b) b->connect();
  for (const auto& d : direct_)
    if (d) d->connect();
}

void Executor::run_fft(const Op& op, const Bases& bases) const {
  const auto call = static_cast<std::size_t>(op.call);
  const FftCall& f = program_.ffts[call];
  const LocalFft& fft = bases.aligned ? *ffts_[call].aligned : *ffts_[call].unaligned;
  fft.execute(address(f.from, bases), address(f.to, bases));
}

void Executor::run_copy(const Op& op, const Bases& bases) const {
  const auto call = static_cast<std::size_t>(op.call);
  const CopyCall& c = program_.copies[call];
  std::byte* to = c.to_rank < 0
                      ? address(c.to, bases)
                      : direct_[static_cast<std::size_t>(op.reshape)]->workspace_of(c.to_rank) + c.to.offset;
  copies_[call].run(address(c.from, bases), to);
}

void Executor::run_op(std::size_t& position, const Bases& bases) {
  const Op& op = program_.ops[position];
  switch (op.kind) {
    case OpKind::fft:
      run_fft(op, bases);
      break;
    case OpKind::copy:
    case OpKind::pack:
    case OpKind::put:
    case OpKind::unpack:
      run_copy(op, bases);
      break;
    case OpKind::post:
      moving_ = &buffered(op);
      ++in_flight_;
      moving_->post(op.tile, bases.space[static_cast<std::size_t>(Space::work)]);
      return;
    case OpKind::wait_sent:
      buffered(op).wait_sent(op.tile);
      return;
    case OpKind::receive: {
      const std::size_t first = position + 1;
      for (int i = buffered(op).next_arrival(op.tile); i >= 0; i = buffered(op).next_arrival(op.tile))
        run_copy(program_.ops[first + static_cast<std::size_t>(i)], bases);
      --in_flight_;
      position += static_cast<std::size_t>(op.count);
      return;
    }
    case OpKind::signal_free:
      direct(op).signal_free(op.tile);
      return;
    case OpKind::await_free:
      direct(op).await_free(op.tile, op.peer);
      return;
    case OpKind::signal_full:
      direct(op).signal_full(op.tile, op.peer);
      return;
    case OpKind::await_full:
      direct(op).await_full(op.tile, op.peer);
      return;
  }
  if (in_flight_ > 0) moving_->progress();
}

void Executor::run(const void* in, void* out, std::byte* work) {
  const auto aligned16 = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
  // The program reads the input only: in place it names that memory as output.
  const Bases bases{{static_cast<std::byte*>(const_cast<void*>(in)), static_cast<std::byte*>(out), work},
                    aligned16(in) && aligned16(out)};
  in_flight_ = 0;
  for (const auto& d : direct_)
    if (d) d->begin();
  for (std::size_t i = 0; i < program_.ops.size(); ++i) {
    test_point("op", program_.rank);
    run_op(i, bases);
  }
}

void Executor::cancel() noexcept {
  for (const auto& b : buffered_)
    if (b) b->cancel();
}

}  // namespace weft
