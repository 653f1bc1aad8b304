// What the library has, and how far trials are, for the command line.
#include <nanobind/stl/map.h>
#include <nanobind/stl/vector.h>

#include <atomic>

#include "bindings.hpp"

namespace weft::python {

namespace {

using nanobind::arg;

/// The function of Python that is told of trials. Never destroyed: the interpreter may be gone by then.
nanobind::object& listener() {
  static auto* const object = new nanobind::object(nanobind::none());
  return *object;
}

void tell_python(const TrialProgress& progress) {
  const nanobind::gil_scoped_acquire held;
  try {
    listener()(progress);
  } catch (nanobind::python_error& error) {  // planning goes on
    error.discard_as_unraisable("weft: a function that is told of trials");
  }
}

void report_to(const nanobind::object& told) {
  listener() = told;
  weft::report_trials_to(told.is_none() ? nullptr : tell_python);
}

std::atomic<bool> interruption_wanted{false};

}  // namespace

bool trials_interrupted() {
  return interruption_wanted;
}

void bind_information(nanobind::module_& module) {
  nanobind::class_<TrialProgress>(module, "TrialProgress", "What a trial found, and how far the trials are.")
      .def_ro("round", &TrialProgress::round, "Why it was timed: candidate, play-off, point, final.")
      .def_ro("trial", &TrialProgress::trial, "Trials so far.")
      .def_ro("most_trials", &TrialProgress::most_trials, "How many there are at most.")
      .def_ro("options", &TrialProgress::options, "What was timed; none: as the rules choose.")
      .def_ro("seconds", &TrialProgress::seconds, "Of forward and backward on the slowest rank.")
      .def_ro("best_options", &TrialProgress::best_options, "The best of its round so far.")
      .def_ro("best_seconds", &TrialProgress::best_seconds, "Its seconds.")
      .def_ro("is_best", &TrialProgress::is_best, "Whether the best is what was timed last.")
      .def_ro("seconds_left", &TrialProgress::seconds_left, "Of the budget.");
  module.def("report_trials_to", report_to, arg("told").none(),
             "Calls told(TrialProgress) in the process of rank 0 after each trial, for all plans; None: no "
             "more.");
  module.def(
      "interrupt_trials", [](bool now) { interruption_wanted = now; }, arg("now"),
      "True: planning by trials ends with weft.Error between two of them, on all ranks, until False is "
      "given. For "
      "ranks that are threads, of which none handles signals.");
  nanobind::class_<Variable>(module, "Variable", "An environment variable that Weft reads.")
      .def_ro("name", &Variable::name)
      .def_ro("meaning", &Variable::meaning)
      .def_ro("value", &Variable::value, "'' if it is not set.");
  module.def("environment_variables", environment_variables);
  nanobind::class_<FftLibrary>(module, "FftLibrary", "A library for local FFTs that this build knows.")
      .def_ro("name", &FftLibrary::name)
      .def_ro("version", &FftLibrary::version, "In its own words; '' if it is missing.")
      .def_ro("missing", &FftLibrary::missing, "Why it cannot be used; '' if it can.")
      .def_ro("on_gpus", &FftLibrary::on_gpus);
  module.def("fft_libraries", fft_libraries);
  nanobind::class_<Gpu>(module, "Gpu", "Whether arrays may be in memory of GPUs.")
      .def_ro("name", &Gpu::name, "Of the current one; '' if there is none.")
      .def_ro("missing", &Gpu::missing, "Why there is none; '' if there is one.");
  module.def("gpu", gpu);
  module.def("hardware", hardware);
  module.def("numa_nodes", numa_nodes);
}

}  // namespace weft::python
