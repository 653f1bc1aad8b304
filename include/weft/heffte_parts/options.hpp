// heFFTe's options of a plan, and what they become as options of Weft's.
#pragma once

#include "backends.hpp"
#include "engine.hpp"

// NOLINTBEGIN(readability-identifier-naming): the names are heFFTe's
namespace heffte {

/// How parts of the array travel. With alltoallv, which is heFFTe's default, and with p2p_plined Weft
/// chooses. p2p asks for messages between pairs of ranks (option exchange is p2p), alltoall for MPI's
/// collective (alltoallv, since Weft's alltoall pads messages and does not serve all boxes).
enum class reshape_algorithm { alltoallv = 0, p2p_plined = 1, p2p = 2, alltoall = 3 };

/// The default of `plan_options::use_reorder`.
template <typename backend_tag>
struct default_plan_options {
  static constexpr bool use_reorder = backend::facts<backend_tag>::use_reorder;
};

/// How a plan is to be made. What is left as it is by default is chosen by Weft; the environment may say more
/// (WEFT_EXCHANGE and the others of Weft's variables).
struct plan_options {
  /// The defaults of a backend.
  template <typename backend_tag>
  explicit plan_options(backend_tag const)
      : plan_options(default_plan_options<backend_tag>::use_reorder, reshape_algorithm::alltoallv, true) {}
  plan_options(bool reorder, reshape_algorithm alg, bool pencils)
      : use_reorder(reorder), algorithm(alg), use_pencils(pencils), use_gpu_aware(true) {}

  /// Not as the backend's default: Weft's option layout is contiguous (true) or strided (false).
  bool use_reorder;
  /// Option exchange: see `reshape_algorithm`.
  reshape_algorithm algorithm;
  /// false: option decomposition is slab, if the array has three axes longer than 1.
  bool use_pencils;
  /// false: messages of arrays on GPUs go through memory of the host (option staging).
  bool use_gpu_aware;

  /// Only the first `num_subranks` ranks transform (option shrink). Not positive: all.
  void use_num_subranks(int num_subranks) { num_sub_ = num_subranks; }
  /// Only the ranks of `comm` transform. They are the first ones of the transform's communicator;
  /// MPI_COMM_NULL on ranks that are not among them.
  void use_subcomm(MPI_Comm comm) {
    has_subcomm_ = true;
    in_subcomm_ = comm != MPI_COMM_NULL;
    num_sub_ = 1;
  }
  /// What was given to `use_num_subranks`, or -1; 1 after `use_subcomm`.
  int get_subranks() const { return num_sub_; }

 private:
  template <typename backend_tag>
  friend weft::HeffteRequest request_of(plan_options const& options);
  bool has_subcomm_ = false, in_subcomm_ = false;
  int num_sub_ = -1;
};

/// The options on a line.
inline std::ostream& operator<<(std::ostream& os, plan_options const options) {
  const char* const algorithms[] = {"mpi:alltoallv", "mpi:point-to-point-pipelined", "mpi:point-to-point",
                                    "mpi:alltoall"};
  return os << "options = (" << (options.use_reorder ? "fft1d:contiguous" : "fft1d:strided") << ", "
            << algorithms[static_cast<int>(options.algorithm)] << ", "
            << (options.use_pencils ? "decomposition:pencil" : "decomposition:slab") << ", "
            << (options.use_gpu_aware ? "mpi:from-gpu" : "mpi:from-cpu") << ")";
}

/// The options that heFFTe has by default.
template <typename backend_tag>
plan_options default_options() {
  return plan_options(backend_tag());
}

/// What Weft is told of a backend and of options; boxes, axis of r2c and stream are still to be filled in.
template <typename backend_tag>
weft::HeffteRequest request_of(plan_options const& options) {
  using facts = backend::facts<backend_tag>;
  weft::HeffteRequest r{};
  r.transform = facts::transform;
  r.backward_factor = facts::backward_factor;
  r.on_gpu = backend::uses_gpu<backend_tag>::value;
  r.slabs = !options.use_pencils;
  r.has_subcomm = options.has_subcomm_;
  r.in_subcomm = options.in_subcomm_;
  r.first_ranks = options.has_subcomm_ ? 0 : options.num_sub_;
  if (!backend::local_fft<backend_tag>().empty())
    r.options.emplace_back("fft", backend::local_fft<backend_tag>());
  if (options.use_reorder != facts::use_reorder)
    r.options.emplace_back("layout", options.use_reorder ? "contiguous" : "strided");
  if (options.algorithm == reshape_algorithm::p2p) r.options.emplace_back("exchange", "p2p");
  if (options.algorithm == reshape_algorithm::alltoall) r.options.emplace_back("exchange", "alltoallv");
  if (!options.use_gpu_aware && r.on_gpu) r.options.emplace_back("staging", "on");
  return r;
}

}  // namespace heffte
// NOLINTEND(readability-identifier-naming)
