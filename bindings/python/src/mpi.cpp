// Communicators of MPI, given by mpi4py as the address of the handle, and which MPI this module was built for
// and runs with.
#include "weft/mpi.hpp"

#include "bindings.hpp"

namespace weft::python {

namespace {

/// The library whose functions this module calls. It need not be the one that it was built for.
std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return {text.data(), static_cast<std::size_t>(length)};
}

/// "Open MPI 4.1.4", "MPICH 4.0.2", "Intel MPI 2021.16": by its mpi.h.
std::string built_for() {
#if defined(I_MPI_VERSION)
  return std::string("Intel MPI ") + I_MPI_VERSION;
#elif defined(OMPI_MAJOR_VERSION)
  return "Open MPI " + std::to_string(OMPI_MAJOR_VERSION) + "." + std::to_string(OMPI_MINOR_VERSION) + "." +
         std::to_string(OMPI_RELEASE_VERSION);
#elif defined(MPICH_VERSION)
  return std::string("MPICH ") + MPICH_VERSION;
#else
  return "an unknown MPI";
#endif
}

Comm comm_at(std::uintptr_t address) {
  return Comm::mpi(*reinterpret_cast<MPI_Comm*>(address));  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

void bind_mpi(nanobind::module_& module) {
  module.def("mpi_library_version", library_version);
  module.def("mpi_built_for", built_for);
  module.def("mpi_comm", comm_at, nanobind::arg("address"),
             nanobind::call_guard<nanobind::gil_scoped_release>());
}

}  // namespace weft::python
