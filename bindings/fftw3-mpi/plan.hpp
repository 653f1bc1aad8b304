// What a program holds as an fftw_plan: a plan of Weft with the arrays and the direction that it was made
// for. It begins with a mark, by which the functions that take FFTW's plans as well tell it from these.
#pragma once

#include <memory>
#include <string>

#include "request.hpp"
#include "weft/buffer.hpp"
#include "weft/fftw3-mpi.h"
#include "weft/plan.hpp"

namespace weft::fftw3_mpi {

class MarkedPlan {
 public:
  /// Plans are made by `make`.
  MarkedPlan(const Translation& translation, const Comm& comm, void* in, void* out);

  /// Executes on the arrays of planning; on others. What goes wrong ends the program, with a message.
  void execute() noexcept { execute(in_, out_); }
  void execute(void* in, void* out) noexcept;

  double flops() const { return flops_; }
  std::string to_string() const;

  /// The plan of a handle, if it is one of this library; else null. The handle is null or a plan that lives.
  static MarkedPlan* of(const void* handle);

 private:
  static const char mark;

  [[maybe_unused]] const void* mark_ = &mark;  // first: `of` reads it
  Comm comm_;
  Plan plan_;
  Direction direction_;
  void *in_, *out_;
  bool in_place_;
  bool reads_, writes_;  ///< whether this rank has points to read, to write
  Buffer<std::byte> relay_;
  bool relayed_;
  double flops_;
};

/// A plan, or null on all ranks: then one of them has said why. Collective.
MarkedPlan* make(const Request& request, void* in, void* out, MPI_Comm communicator) noexcept;

}  // namespace weft::fftw3_mpi
