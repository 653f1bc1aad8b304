// The module `weft._core`: Weft's C++ classes, as they are. What can be said well in Python is there
// (bindings/python/weft).
#include "bindings.hpp"

#include <nanobind/stl/map.h>

namespace weft::python {

namespace {

/// The value of CMake's options, as far as users have to know them.
std::map<std::string, bool> built_with() {
#ifdef WEFT_WITH_MPI
  const bool mpi = true;
#else
  const bool mpi = false;
#endif
#ifdef WEFT_WITH_CUDA
  const bool cuda = true;
#else
  const bool cuda = false;
#endif
  return {{"mpi", mpi}, {"cuda", cuda}, {"fftw", WEFT_PYTHON_FFTW != 0}, {"mkl", WEFT_PYTHON_MKL != 0}};
}

std::map<std::string, std::string> all_options() {
  std::map<std::string, std::string> values;
  for (auto& [name, value] : Options().all()) values.emplace(name, value);
  return values;
}

/// For the text of a message that Python composes, which is to look like one of C++.
std::string message(const std::string& operation, const std::string& got, const std::string& expected,
                    int rank) {
  return Error(operation, got, expected, rank).what();
}

/// Becomes the exception of weft/_error.py. Other exceptions are left to nanobind.
void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    nanobind::object type = nanobind::module_::import_("weft._error").attr("Error");
    nanobind::object value = type(error.operation(), error.got(), error.expected(), error.rank());
    PyErr_SetObject(type.ptr(), value.ptr());
  }
}

}  // namespace

void bind_errors(nanobind::module_& module) {
  using nanobind::arg;
  nanobind::register_exception_translator(translate);
  module.def("message", message, arg("operation"), arg("got"), arg("expected"), arg("rank"));
}

}  // namespace weft::python

NB_MODULE(_core, module) {  // NOLINT(performance-unnecessary-value-param)
  using namespace weft::python;
  // What is alive when the interpreter ends is no leak: communicators of MPI keep theirs for plans to come.
  nanobind::set_leak_warnings(false);
  bind_errors(module);
  bind_devices(module);
  bind_information(module);
  bind_ranks(module);
  bind_problems(module);
  bind_findings(module);
  bind_plans(module);
  bind_gradients(module);
  bind_spread_plans(module);
  bind_whole_plans(module);
  bind_result_memory(module);
#ifdef WEFT_WITH_MPI
  bind_mpi(module);
#endif
  module.def("version", [] { return std::string(weft::version()); });
  const nanobind::call_guard<nanobind::gil_scoped_release> released;
  module.def("built_with", built_with,
             "Which of 'mpi', 'fftw' and 'mkl' this package was built with: a dict of bool.");
  module.def(
      "options", all_options,
      "The names of all options and their values, as the environment or else the default has them: a dict "
      "of str.");
  module.def(
      "export_wisdom", weft::export_wisdom, nanobind::arg("file"), released,
      "Adds what planning has found out by trying to a file, which need not exist. On one rank. Returns "
      "True if\n"
      "the file now holds it; else the file is unchanged, and a warning on standard error says why.");
  module.def(
      "import_wisdom", weft::import_wisdom, nanobind::arg("file"), released,
      "Adds the wisdom of a file to that of this process, for later plans; that of rank 0 counts. Returns "
      "True if the\n"
      "file was read, False if there is none, or with a warning on standard error if it cannot be used.");
  module.def("forget_wisdom", weft::forget_wisdom, released,
             "Forgets all wisdom of this process, also that of FFTW.");
}
