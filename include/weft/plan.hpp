// A plan: a problem bound to the resources that carry it out. Making one is collective and takes time;
// executing it allocates nothing (but for graphs on GPUs, docs/gpus.md) and may be repeated as often as
// wanted.
#pragma once

#include <complex>
#include <cstddef>
#include <iosfwd>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "weft/comm.hpp"
#include "weft/export.hpp"
#include "weft/options.hpp"
#include "weft/plan_types.hpp"
#include "weft/problem.hpp"
#include "weft/timing.hpp"

struct CUstream_st;  ///< what CUDA's cudaStream_t and CUstream point to

namespace weft {

struct PlanImpl;

/// One transform, forward and backward, ready to be executed. Moves, does not copy.
class WEFT_API Plan {
 public:
  /// Collective over `comm`: all ranks give the same problem and options, except for their own box and memory
  /// orders. If anything is wrong on any rank, every rank throws the same `weft::Error`.
  Plan(const Comm& comm, const Problem& problem, const Options& options = {});
  ~Plan();
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;

  /// Transforms `in` (this rank's input box) into `out` (its output box). Collective. Scaled as the problem
  /// says, by default not at all.
  ///
  /// Out of place the arrays must not overlap, and `in` is left as it was; in place both pointers are the
  /// same, to `buffer_bytes()` bytes. A rank whose box is empty may pass null. Elements are float, double or
  /// std::complex of them, as the problem says: another of these throws, any other type does not compile, and
  /// void pointers are taken as they are. Complex arrays may also be passed as the real numbers they consist
  /// of, two for each element, of the problem's precision. Arrays are aligned for these real numbers.
  /// `workspace` is given if and only if option workspace is "user": `workspace_bytes()` bytes on a multiple
  /// of 16.
  ///
  /// Throws `weft::Error` for misuse, before anything has moved: on all ranks among threads and with option
  /// check=collective, otherwise on the rank at fault. If an execution fails in the middle, the plan refuses
  /// to be used again, and a workspace of the user must stay valid until the communicator is gone. Ranks that
  /// wait for the failed one throw, except inside MPI in a blocking exchange: there they wait for ever.
  ///
  /// A plan is executed by one thread at a time; plans that share a Comm by one thread, in the same order on
  /// all ranks. Plans on different Comms may be executed by different threads at the same time: under MPI at
  /// level MPI_THREAD_MULTIPLE, and at MPI_THREAD_SERIALIZED with exchanges direct, p2p, p2pw or ialltoallv
  /// and option check=local, whose MPI calls take turns; everything else (other exchanges, making plans,
  /// splitting, barriers) waits inside MPI and must not meet a call of another thread there. Below that level
  /// only the thread that initialised MPI may call.
  template <class In, class Out>
  void forward(const In* in, Out* out, void* workspace = nullptr, std::size_t workspace_bytes = 0) {
    execute(Direction::forward, {in, out, workspace, workspace_bytes, type_of<In>(), type_of<Out>()});
  }
  /// The same from the output box back to the input box. Unscaled, backward after forward multiplies by the
  /// product of the logical lengths of the transformed axes, `scale_factor()`.
  template <class In, class Out>
  void backward(const In* in, Out* out, void* workspace = nullptr, std::size_t workspace_bytes = 0) {
    execute(Direction::backward, {in, out, workspace, workspace_bytes, type_of<In>(), type_of<Out>()});
  }

  /// As `forward` and `backward`, but return as soon as the execution would have to wait for another rank. It
  /// is under way, and the arrays and a workspace of the user belong to it, until `test` returns true or
  /// `wait` returns. There is no thread behind it: the execution goes on inside `test` and `wait` of the
  /// plan, and inside `wait` of other plans of its Comm, so that ranks may wait for them in any order. It
  /// also goes on where starting or making another plan of the Comm waits for all ranks. Collective.
  ///
  /// A plan has one execution under way at a time. Several plans of one Comm may be under way together if
  /// their exchanges allow it (p2p, p2pw, direct, copy), else starting the second throws. The blocking
  /// exchanges (alltoallv, alltoall, alltoallw, pairwise) wait inside `start` and `test`: beside other work
  /// that waits for other ranks (a plan on another Comm, calls of MPI) ranks must then come to them in the
  /// same order. What waits for all ranks of the same Comm (a start with check=collective, making a plan,
  /// `Comm::split`, `Comm::barrier`) completes their executions first.
  ///
  /// A plan destroyed under way has failed in the middle, as above: the other ranks throw, thread ranks all
  /// of them, MPI ranks when they wait for it. MPI ranks that wait inside a blocking exchange wait for ever;
  /// therefore under MPI the rank that destroyed the plan names it on standard error. What was being sent
  /// from its arrays may still be read until the communicator is gone.
  template <class In, class Out>
  void start_forward(const In* in, Out* out, void* workspace = nullptr, std::size_t workspace_bytes = 0) {
    start(Direction::forward, {in, out, workspace, workspace_bytes, type_of<In>(), type_of<Out>()});
  }
  template <class In, class Out>
  void start_backward(const In* in, Out* out, void* workspace = nullptr, std::size_t workspace_bytes = 0) {
    start(Direction::backward, {in, out, workspace, workspace_bytes, type_of<In>(), type_of<Out>()});
  }
  /// Takes the execution that was started as far as it goes without waiting; true if it is complete, or if
  /// none is under way.
  bool test();
  /// Completes it.
  void wait();

  /// Of arrays in memory of a GPU: what follows is enqueued on this stream, at first the default one.
  /// `forward` and `backward` come after what has been enqueued there, what is enqueued afterwards comes
  /// after them, and with exchange direct they return at once; `test` and `wait` are about the result itself.
  /// Ranks that share a GPU need a stream each. The stream belongs to the user and must live as long as
  /// executions use it. Throws `weft::Error` for arrays on the host.
  void set_stream(CUstream_st* stream);

  /// The boxes of this rank before and after forward, and their memory orders.
  const Box& input_box() const;
  const Box& output_box() const;
  const Order& input_order() const;
  const Order& output_order() const;
  /// Strides of this rank's arrays, in elements, and where the first point of the box lies behind the
  /// pointer: dense unless the problem says otherwise.
  const Strides& input_strides() const;
  const Strides& output_strides() const;
  Index input_offset() const;
  Index output_offset() const;
  /// From one array of a batch to the next, in elements.
  Index input_distance() const;
  Index output_distance() const;
  /// Number of elements of this rank's arrays: all of the batch, halo and padding included.
  std::size_t input_count() const;
  std::size_t output_count() const;
  /// Bytes of an array that serves in place: the larger of input and output.
  std::size_t buffer_bytes() const;
  /// Bytes of workspace on this rank: at most twice the largest box of any stage, each rounded up to 64
  /// bytes. With pipelines planes and two-front two boxes (one, if there is one reshape and it is direct),
  /// a box more for what leaves in messages (in a direct exchange: for other machines), and two sub-tiles; so
  /// one reshape by messages needs two boxes and several need three. On a rank alone two sub-tiles if its
  /// array is large.
  std::size_t workspace_bytes() const;
  /// The product of the logical lengths of the transformed axes: what forward followed by backward multiplies
  /// by if neither is scaled.
  double scale_factor() const;

  /// Whether executions note the time of every operation; off at first. Costs two looks at a clock per
  /// operation, and memory that is allocated here. Local.
  void record_times(bool on);
  /// The operations of the last execution that was recorded, in the order in which this rank did them. Local.
  std::vector<OperationTime> operation_times() const;

  /// The schedule, the pipelines, the exchanges, the local FFT and the memory, on one screen.
  std::string to_string() const;
  /// The operations of this rank, one per line. Throws `weft::Error` if `direction` is neither of the two.
  std::string program_to_string(Direction direction) const;

 private:
  enum class Type { any, real32, real64, complex32, complex64 };
  template <class T>
  static constexpr Type type_of() {
    if constexpr (std::is_same_v<T, float>) {
      return Type::real32;
    } else if constexpr (std::is_same_v<T, double>) {
      return Type::real64;
    } else if constexpr (std::is_same_v<T, std::complex<float>>) {
      return Type::complex32;
    } else if constexpr (std::is_same_v<T, std::complex<double>>) {
      return Type::complex64;
    } else {
      static_assert(std::is_void_v<T>, "arrays are of float, double, std::complex of them, or void");
      return Type::any;
    }
  }
  struct Arrays {
    const void* in;
    void* out;
    void* workspace;
    std::size_t workspace_bytes;
    Type in_type, out_type;
  };
  void execute(Direction direction, const Arrays& arrays);
  void start(Direction direction, const Arrays& arrays);

  friend struct PlanImpl;
  PlanImpl& impl() const;  ///< throws for a plan that has been moved away
  std::unique_ptr<PlanImpl> impl_;
};

/// `plan.to_string()`
WEFT_API std::ostream& operator<<(std::ostream& out, const Plan& plan);

}  // namespace weft
