// A plan: a problem bound to the resources that carry it out. Making one is collective and takes time;
// executing it allocates nothing and may be repeated as often as wanted.
#pragma once

#include <complex>
#include <cstddef>
#include <iosfwd>
#include <memory>
#include <string>

#include "weft/comm.hpp"
#include "weft/options.hpp"
#include "weft/plan_types.hpp"
#include "weft/problem.hpp"

namespace weft {

class Plan {
 public:
  /// Collective over `comm`: all ranks give the same problem and options, except for their own box and memory
  /// orders. If anything is wrong on any rank, every rank throws the same `weft::Error`.
  Plan(const Comm& comm, const Problem& problem, const Options& options = {});
  ~Plan();
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;

  /// Transforms `in` (this rank's input box) into `out` (its output box). Collective. Neither direction is
  /// scaled.
  ///
  /// Out of place the arrays must not overlap, and `in` is left as it was; in place both pointers are the
  /// same, to `buffer_bytes()` bytes. A rank whose box is empty may pass null. Elements are float, double or
  /// std::complex of them, as the problem says: another of these throws, any other type does not compile, and
  /// void pointers are taken as they are. `workspace` is given if and only if option workspace is "user":
  /// `workspace_bytes()` bytes on a multiple of 16.
  ///
  /// Throws `weft::Error` for misuse, before anything has moved: on all ranks among threads and with option
  /// check=collective, otherwise on the rank at fault. If an execution fails in the middle, the plan refuses
  /// to be used again, and a workspace of the user must stay valid until the communicator is gone.
  ///
  /// A plan is executed by one thread at a time; plans that share a Comm one after the other, in the same
  /// order on all ranks. Under MPI any thread level serves as long as no two threads are inside Weft at once.
  template <class In, class Out>
  void forward(const In* in, Out* out, void* workspace = nullptr, std::size_t workspace_bytes = 0) {
    execute(Direction::forward, {in, out, workspace, workspace_bytes, type_of<In>(), type_of<Out>()});
  }
  /// The same from the output box back to the input box. Backward after forward multiplies by the product of
  /// the transformed (real) lengths, `scale_factor()`.
  template <class In, class Out>
  void backward(const In* in, Out* out, void* workspace = nullptr, std::size_t workspace_bytes = 0) {
    execute(Direction::backward, {in, out, workspace, workspace_bytes, type_of<In>(), type_of<Out>()});
  }

  /// The boxes of this rank before and after forward, their memory orders, and their number of elements.
  const Box& input_box() const;
  const Box& output_box() const;
  const Order& input_order() const;
  const Order& output_order() const;
  std::size_t input_count() const;
  std::size_t output_count() const;
  /// Bytes of an array that serves in place: the larger of input and output.
  std::size_t buffer_bytes() const;
  /// Bytes of workspace on this rank: at most twice the largest box of any stage, each rounded up to 64
  /// bytes.
  std::size_t workspace_bytes() const;
  /// The product of the transformed lengths: what forward followed by backward multiplies by.
  double scale_factor() const;

  /// The schedule, the pipelines, the exchanges, the local FFT and the memory, on one screen.
  std::string to_string() const;
  /// The operations of this rank, one per line.
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

  struct Impl;
  Impl& impl() const;  ///< throws for a plan that has been moved away
  std::unique_ptr<Impl> impl_;
};

/// `plan.to_string()`
std::ostream& operator<<(std::ostream& out, const Plan& plan);

}  // namespace weft
