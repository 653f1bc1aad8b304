// What executes a program: on the host (host/executor.hpp), or on the streams of a device
// (stream/executor.hpp). An execution can be left where it would have to wait, and taken up again; it
// allocates nothing.
#pragma once

#include <cstddef>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/arithmetic.hpp"
#include "base/thread_pool.hpp"
#include "codec/block.hpp"
#include "comm/agree.hpp"
#include "exec/links.hpp"
#include "fft/lines_elsewise.hpp"
#include "fft/local_fft.hpp"
#include "fft/threads/resized_fft.hpp"
#include "kernels/coded_loops.hpp"
#include "program/diversions.hpp"
#include "program/program.hpp"
#include "weft/timing.hpp"

namespace weft {

struct ExecutorSettings {
  Precision precision = Precision::float64;
  Effort effort = Effort::estimate;
  double planning_seconds = 0;       ///< for each local FFT; 0: as long as its library likes
  std::vector<const FftRow*> ffts;   ///< to be asked in turn
  bool compare_ffts = false;         ///< or rather the fastest of them for each transform
  std::shared_ptr<ThreadPool> pool;  ///< the threads of this rank; null: the caller alone
  std::shared_ptr<Device> device;    ///< that of this rank, entered; null: arrays are on the host
  /// Executions with the same arrays are captured as a graph after so many of them; none: never.
  std::optional<int> plain_executions;
  Index largest_in_turn = 0;  ///< as in MemoryMap
};

/// A copy between boxes that have strides alone: each axis of cells is two axes.
struct CopyShape {
  Shape extents;
  Strides from, to;
};
CopyShape copy_shape(const CopyCall& call);

class Interpreter {
 public:
  explicit Interpreter(Program program) : program_(std::move(program)) {}
  virtual ~Interpreter() = default;
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;
  Interpreter& operator=(Interpreter&&) = delete;

  /// Bytes that local FFTs need behind the workspace of the program.
  virtual Index fft_work_bytes() const { return 0; }
  /// Bytes of the program's workspace that are used where executions take turns with two.
  virtual Index bytes_in_turn() const { return program_.workspace_bytes; }
  /// Whether FFTs can store all that leaves in every reshape where it is read next, if there is room.
  virtual bool ffts_can_put_all() const { return false; }
  /// Makes the exchanges. Local; throws `weft::Error`.
  virtual void link(const LinkRequest& request);
  /// Connects them, a step for each. Collective.
  void connect(JointSteps& steps) { links_.connect(steps); }

  /// Begins an execution; `in` and `out` are the user's arrays (alike for an in-place program).
  virtual void start(const void* in, void* out, std::byte* work) = 0;
  /// What executions from now on do between two transforms (`Problem::between`).
  void use_operator(const BlockOperator& op) { operator_ = op; }
  /// Goes on until the program is done or enqueued (true), or, without patience, until it would have to wait
  /// (false).
  virtual bool advance(Patience patience) = 0;
  /// Whether what has been enqueued is done.
  virtual bool settled(Patience /*patience*/) { return true; }
  /// Executions are enqueued on this stream from now on.
  virtual void use_stream(void* /*native*/) {}

  /// Whether executions note the time of every operation, and those of the last one.
  virtual void record_times(bool on) = 0;
  std::vector<OperationTime> times();
  /// Of the last noted execution, which has settled: by `seconds_now` when it began, how many times there may
  /// be, and one of them, if it is there. They allocate nothing.
  virtual double began() const = 0;
  virtual std::size_t count_of_times() const = 0;
  virtual std::optional<OperationTime> time(std::size_t i) const = 0;

  /// Whether executions leave out what no parameter of a pipeline changes; their results are wrong then.
  void skip_invariant(bool on) { skipping_ = on; }

  /// The other direction of the plan: what it has enqueued may be in front of this one's executions.
  void stands_beside(const std::shared_ptr<Interpreter>& other) { other_ = other; }
  /// After a failure: no other rank touches this rank's memory once this returns.
  virtual void cancel() noexcept { tell_failure(); }
  /// The part of it that also concerns a direction that was not under way: peers may be in it already.
  virtual void tell_failure() noexcept {
    links_.cancel_carriers();
    links_.cancel_windows();
  }

  const Program& program() const { return program_; }
  /// The libraries that compute the local FFTs, and the lengths of lines that are done otherwise.
  using Libraries = std::map<std::string, LinesElsewise>;
  const Libraries& libraries() const { return libraries_; }

 protected:
  Interpreter(Interpreter&&) = default;

  /// Sets the memory of an execution. The program reads the input only: in place it names that memory as
  /// output.
  void use_memory(const void* in, void* out, std::byte* work);
  std::byte* address(const Operand& o) const { return at(memory_, o.space) + o.offset; }
  /// Where a copy writes: in memory of this rank, or in the workspace of a peer.
  std::byte* target(const Op& op, const CopyCall& c) const { return target(op.reshape, c.to_rank, c.to); }
  /// `to_rank`: as in CopyCall.
  std::byte* target(int reshape, int to_rank, const Operand& to) const;
  /// Does, or enqueues, an operation of an exchange other than `receive`, `queue` being that of its lane.
  /// False without patience: the operation would have to wait.
  bool exchange(const Op& op, Queue& queue, Patience patience);

  /// An execution begins, on all ranks with an operator or without.
  void begin_agreeing();
  /// Does what is no call of an exchange that all ranks have to call alike. In an execution that agrees its
  /// failure waits for `agree`: inside such an exchange other ranks would not hear of it. After a failure
  /// nothing of the kind is done.
  template <class Work>
  void alone(const Work& work) {
    if (!agrees_) return work();
    if (failure_) return;
    try {
      work();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  /// All exchanges are done. Collective in executions that agree; throws on all ranks if one has failed.
  void agree();

  /// What one of the copies that code has failed in.
  [[noreturn]] void fail_coding(const Op& op, codec::Outcome outcome) const;

  /// What is noted of an operation that took from `begin` to `end`, in seconds since the start.
  OperationTime time_of(const Op& op, double begin, double end) const;
  void note_library(const std::string& name, const LinesElsewise& elsewise = {}) {
    libraries_[name].add(elsewise);
  }

  /// In both directions.
  void tell_failures() noexcept {
    tell_failure();
    if (const std::shared_ptr<Interpreter> other = other_.lock()) other->tell_failure();
  }

  Program program_;
  Links links_;
  Libraries libraries_;
  std::weak_ptr<Interpreter> other_;
  bool skipping_ = false;
  bool in_step_ = false;  ///< some exchange has to be called alike on all ranks
  bool coded_ = false;    ///< parts of some exchange are

  // Of the execution that is under way.
  Memory memory_{};
  BlockOperator operator_{};
  Index peer_shift_ = 0;      ///< from the workspace that peers name to the one that they use now
  std::size_t position_ = 0;  ///< of what comes next
  bool agrees_ = false;       ///< ranks agree at its end whether one has failed
  std::exception_ptr failure_;
  int failed_in_ = 0;  ///< the stage
};

/// The copy between a box and coded rows that a call of the program asks for.
CodedRequest coded_request(const CopyCall& call);

/// The local transform that a call of the program asks for: one that is resized, or any other.
ResizedProblem resized_problem(const FftCall& call, Precision precision, Effort effort,
                               const Program& program);
/// `diverted`: what of the result is best stored elsewhere.
FftProblem fft_problem(const FftCall& call, Precision precision, Effort effort,
                       const Diversion::Part* diverted = nullptr);

}  // namespace weft
