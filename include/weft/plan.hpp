// A plan: a problem bound to the resources that carry it out. Making a plan is collective and takes time.
// Executing it allocates nothing (except graphs on GPUs, docs/gpus.md, and with effort online while it tries)
// and can be repeated.
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <iosfwd>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "weft/accuracy.hpp"
#include "weft/block.hpp"
#include "weft/comm.hpp"
#include "weft/error.hpp"
#include "weft/explanation.hpp"
#include "weft/export.hpp"
#include "weft/options.hpp"
#include "weft/plan_types.hpp"
#include "weft/problem.hpp"
#include "weft/timing.hpp"

struct CUstream_st;   ///< what CUDA's cudaStream_t and CUstream point to
struct ihipStream_t;  ///< what HIP's hipStream_t points to

namespace weft {

struct PlanImpl;

/// A transform, forward and backward, ready to be executed. Can be moved, not copied. Functions that only
/// return facts are local.
class WEFT_API Plan {
 public:
  /// Collective over `comm`. All ranks give the same options and the same problem, except for what `Problem`
  /// lets differ. If planning fails on any rank, every rank throws the same `weft::Error`.
  Plan(const Comm& comm, const Problem& problem, const Options& options = {});
  ~Plan();
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;

  /// What a rank calls instead of the constructor if it has found by itself that it was given something
  /// wrong, as interfaces of other languages do. The ranks that are making a plan would wait for it; all of
  /// them throw `why`, with this rank's number. So does this call. Collective, with those constructors.
  [[noreturn]] static void refuse(const Comm& comm, const Error& why);

  /// Transforms `in` (this rank's input box) into `out` (its output box). Collective. The result is scaled as
  /// the problem says, by default not at all.
  ///
  /// Out of place the arrays must not overlap, and `in` is left as it was. In place both pointers are the
  /// same, to `buffer_bytes()` bytes. A rank whose box is empty may pass null. Elements are float, double or
  /// std::complex of them, as the problem says; void pointers are not checked. Complex arrays may also be
  /// passed as real numbers of the problem's precision, two for each element. Arrays are aligned for their
  /// real numbers. `workspace` is given if and only if option workspace is "user": `workspace_bytes()` bytes
  /// on a multiple of 16.
  ///
  /// Throws `weft::Error` for misuse before any data move: on all ranks among threads and with option
  /// check=collective, otherwise on the rank at fault. If an execution fails in the middle, the plan cannot
  /// be used again, unless it has lost a network of exchange ucx (docs/rails.md), and a workspace of the user
  /// must stay valid until the communicator is gone. Ranks that wait for the failed rank throw as well. Where
  /// all exchanges block, as alltoallv does, that holds for operators that throw and data that a codec
  /// refuses; after any other failure, and beside exchanges that do not block, ranks inside a blocking one
  /// wait for ever.
  ///
  /// One thread at a time executes the plans of a Comm, in the same order on all ranks. Plans on different
  /// Comms may be executed by different threads at the same time. MPI then needs level MPI_THREAD_MULTIPLE;
  /// MPI_THREAD_SERIALIZED suffices with exchanges direct, p2p, p2pw, ring or ialltoallv and option
  /// check=local, because their MPI calls take turns. Everything else (other exchanges, making plans,
  /// splitting, barriers) waits inside MPI, and at that level no other thread may call MPI meanwhile. Below
  /// MPI_THREAD_SERIALIZED only the thread that initialised MPI may call.
  ///
  /// With effort online, beginning an execution may make another plan in the place of this one, which waits
  /// for all ranks as making a plan does. Results are the same to rounding, or within the tolerance.
  template <class In, class Out>
  void forward(const In* in, Out* out, void* workspace = nullptr, std::size_t workspace_bytes = 0) {
    execute(Direction::forward, {in, out, workspace, workspace_bytes, type_of<In>(), type_of<Out>()});
  }
  /// The same from the output box to the input box. Without scaling, forward followed by backward multiplies
  /// by `scale_factor()`.
  template <class In, class Out>
  void backward(const In* in, Out* out, void* workspace = nullptr, std::size_t workspace_bytes = 0) {
    execute(Direction::backward, {in, out, workspace, workspace_bytes, type_of<In>(), type_of<Out>()});
  }

  /// Of a plan whose problem has something between (`Problem::between`): transforms `in` (the input box),
  /// calls `op` with blocks of the modes, or points, until it has had all elements of this rank once, and
  /// transforms the result into `out` (the output box). Collective; everything else is as in `forward`, which
  /// executes such a plan without an operator. With `Direction::backward` it goes from the output box to the
  /// input box, by the same transforms in the same order, and `op` finds `results` fields and leaves `batch`.
  ///
  /// `op` is anything that can be called with a `const Block&`, also by several threads of the rank at the
  /// same time, with different blocks. Blocks differ from plan to plan; an operator that needs neighbours has
  /// no place here. It must not call plans and communicators. If it throws, the execution fails in the
  /// middle. Ranks without elements between get no call. There is no `start_apply`. Ready-made operators are
  /// in weft/operators.hpp.
  template <class In, class Out, class Op>
  void apply(const In* in, Out* out, const Op& op, Direction direction = Direction::forward,
             void* workspace = nullptr, std::size_t workspace_bytes = 0) {
    execute(direction,
            {in, out, workspace, workspace_bytes, type_of<In>(), type_of<Out>(), BlockOperator(op)});
  }

  /// As `forward` and `backward`, but return as soon as the execution would have to wait for another rank.
  /// Collective. The execution is under way until `test` returns true or `wait` returns; until then the
  /// program must not touch the arrays nor a workspace of its own. No thread runs in the background: the
  /// execution makes progress inside `test` and `wait` of this plan and inside `wait` of other plans of the
  /// Comm, so that ranks may wait for plans in any order. It also makes progress while starting or making
  /// another plan of the Comm waits for all ranks. What fails there is an error of this plan's own `test` or
  /// `wait`.
  ///
  /// A plan has one execution under way at a time. Several plans of one Comm may be under way together if
  /// their exchanges allow it (p2p, p2pw, ring, direct, copy); otherwise starting the second throws. Blocking
  /// exchanges (alltoallv, alltoall, alltoallw, pairwise) wait for other ranks inside `start` and `test`. A
  /// program that also waits for other ranks elsewhere (in a plan on another Comm, in calls of MPI) must do
  /// both in the same order on all ranks. Calls that wait for all ranks of the same Comm (a start with
  /// check=collective, making a plan, `Comm::split`, `Comm::barrier`) complete such executions first.
  ///
  /// Destroying a plan under way is a failure in the middle: thread ranks throw, and MPI ranks throw when
  /// they wait for this rank, or wait for ever inside a blocking exchange. Under MPI the destroying rank
  /// therefore names the plan on standard error. Messages under way may read the plan's arrays until the
  /// communicator is gone.
  template <class In, class Out>
  void start_forward(const In* in, Out* out, void* workspace = nullptr, std::size_t workspace_bytes = 0) {
    start(Direction::forward, {in, out, workspace, workspace_bytes, type_of<In>(), type_of<Out>()});
  }
  template <class In, class Out>
  void start_backward(const In* in, Out* out, void* workspace = nullptr, std::size_t workspace_bytes = 0) {
    start(Direction::backward, {in, out, workspace, workspace_bytes, type_of<In>(), type_of<Out>()});
  }
  /// Takes the execution under way as far as possible without waiting. True if it is complete, or if none is
  /// under way.
  bool test();
  /// Completes the execution under way, if there is one.
  void wait();

  /// For arrays in memory of a GPU: later executions are enqueued on this stream; before the first call, on
  /// the default stream. They are ordered with all other work on the stream, and with exchange direct
  /// `forward` and `backward` return before the work is done. `wait` returns when the result is there, and
  /// `test` says whether it is. Ranks that share a GPU need a stream each. The stream must live as long as
  /// executions use it. Throws `weft::Error` for arrays on the host.
  void set_stream(CUstream_st* stream);
  /// The same with HIP's stream, in a build with HIP.
  template <std::same_as<ihipStream_t> HipStream>
  void set_stream(HipStream* stream) {
    set_stream(reinterpret_cast<CUstream_st*>(stream));
  }

  /// The boxes of this rank before and after forward, and their memory orders.
  const Box& input_box() const;
  const Box& output_box() const;
  const Order& input_order() const;
  const Order& output_order() const;
  /// Strides of this rank's arrays, one per axis, and the distance from the pointer to the first point of the
  /// box, all in elements. Arrays are dense unless the problem says otherwise.
  const Strides& input_strides() const;
  const Strides& output_strides() const;
  Index input_offset() const;
  Index output_offset() const;
  /// The columns of this rank, where modes are distributed by columns (`Distribution::columns`, `sphere`), in
  /// the order of its array. Along c2c axes the numbers of their first modes are from -n/2 to (n-1)/2;
  /// those behind them go on, and may be larger: `wavenumbers` has those of all modes. The boxes of such a
  /// side have one axis: it counts the modes of all ranks, rank after rank. Throws `weft::Error` for other
  /// plans.
  const std::vector<ModeColumn>& columns() const;
  /// What of the modes, or points, between two transforms (`Problem::between`) the operator gets on this
  /// rank. Throws `weft::Error` for a plan with nothing between.
  Box between_box() const;
  /// Elements from one array of a batch to the next.
  Index input_distance() const;
  Index output_distance() const;
  /// Number of elements of this rank's arrays, with the whole batch, halo and padding.
  std::size_t input_count() const;
  std::size_t output_count() const;
  /// Bytes of an array that serves in place: the larger of input and output.
  std::size_t buffer_bytes() const;
  /// Bytes of workspace on this rank, counted in boxes, the largest of any stage, rounded up to 64 bytes.
  /// Pipelines sequential, th and windowed need at most two boxes, or 4% more where rows of what GPUs put
  /// begin on multiples of 128 bytes. Pipelines planes and two-front need one box for one reshape and two for
  /// several, at most one more box for what leaves in messages, and two sub-tiles, on GPUs at most a tile
  /// (docs/gpus.md). With pipeline shared the first rank has one or two arrays of all ranks, with some room
  /// between rows and planes, and the others have none. A plan on a single rank needs none, or two sub-tiles
  /// if its array is large; with an operator between two transforms up to two boxes, and every rank two
  /// blocks of it. With effort online it is as large as any plan needs that may be tried; workspace of the
  /// user stays as large.
  std::size_t workspace_bytes() const;
  /// The product of the logical lengths of the transformed axes: the factor of forward followed by backward
  /// if neither is scaled.
  double scale_factor() const;

  /// Whether executions record the time of every operation; off at first. Costs two clock readings per
  /// operation, and memory, which is allocated here.
  void record_times(bool on);
  /// The operations of the last recorded execution, in the order in which this rank did them.
  std::vector<OperationTime> operation_times() const;

  /// The error that the codecs of this plan (options codec and tolerance) make for the data in `in`, this
  /// rank's array of the side that `direction` starts from, as `forward` or `backward` takes it; it is left
  /// as it was, also in place. Collective; all ranks return the same. For arrays on the host.
  ///
  /// An exact plan that is the same but for the codecs is made, both transform `in`, and the results are
  /// compared in all points. That costs planning and two executions, and until the call returns two arrays of
  /// `buffer_bytes()` and the workspace of the exact plan, `workspace_bytes()`; with option workspace=user
  /// twice that. A plan without codecs returns zeros at once.
  ///
  /// Throws `weft::Error`, on all ranks alike, for misuse as `forward` does, while an execution of the plan
  /// is under way, and if planning fails. What fails in the middle is as in `forward`.
  template <class In>
  Accuracy measured_error(Direction direction, const In* in) {
    return measure(direction, in, type_of<In>());
  }

  /// The schedule, the pipelines, the exchanges, the local FFT and the memory, on one screen.
  std::string to_string() const;
  /// Why the plan is as it is: what else was looked at, with predicted and measured times, what bounds it,
  /// and what would make it faster. Times are predicted if the machine is described (option machine, or
  /// wisdom that has a description). Takes as long as some predictions, milliseconds to seconds; local.
  Explanation explain() const;
  /// The operations of this rank in one direction, one per line. Throws `weft::Error` if `direction` is no
  /// enumerator.
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
    BlockOperator op = {};  ///< of `apply`
  };
  void execute(Direction direction, const Arrays& arrays);
  void start(Direction direction, const Arrays& arrays);
  Accuracy measure(Direction direction, const void* in, Type type);

  friend struct PlanImpl;
  PlanImpl& impl() const;  ///< throws for a plan that has been moved away
  std::unique_ptr<PlanImpl> impl_;
};

/// `plan.to_string()`
WEFT_API std::ostream& operator<<(std::ostream& out, const Plan& plan);

}  // namespace weft
