// The parts of the module `weft._core`, each in a file of its own, and what they share.
#pragma once

#include <nanobind/nanobind.h>

#include <map>
#include <string>

#include "conversions.hpp"
#include "process.hpp"
#include "weft/weft.hpp"

namespace weft::python {

/// The arguments that plans have in common, beside the two distributions, which are values in Python too.
struct PlanArguments {
  Shape shape;
  std::vector<std::string> transforms;
  std::string precision, element, forward_scale, backward_scale;
  bool in_place = false;
  Index batch = 1, input_distance = 0, output_distance = 0;
  std::vector<int> line{};
  Shape modes{}, points{};
  std::string modes_nyquist = "shared", between = "none";
  Index results = 0;
  int device = -1;  ///< the GPU whose memory the arrays are in, as CUDA counts; -1: memory of the host
  std::map<std::string, std::string> options;
};

/// Throws `weft::Error` for names that do not exist.
Problem problem_of(const PlanArguments& arguments, const Distribution& input, const Distribution& output);
Options options_of(const PlanArguments& arguments);

/// Threads as ranks. `weft::ThreadTeam`, in the process that started the threads.
struct Team : OfThisProcess<ThreadTeam> {
  explicit Team(int size) : OfThisProcess("team of threads") { set(std::make_unique<ThreadTeam>(size)); }
};

/// Whether the program has called interrupt_trials(True).
bool trials_interrupted();

void bind_errors(nanobind::module_& module);
void bind_devices(nanobind::module_& module);
void bind_information(nanobind::module_& module);
void bind_ranks(nanobind::module_& module);
void bind_problems(nanobind::module_& module);
void bind_plans(nanobind::module_& module);
void bind_gradients(nanobind::module_& module);
void bind_findings(nanobind::module_& module);
void bind_spread_plans(nanobind::module_& module);
void bind_whole_plans(nanobind::module_& module);
void bind_result_memory(nanobind::module_& module);
#ifdef WEFT_WITH_MPI
void bind_mpi(nanobind::module_& module);
#endif

}  // namespace weft::python
