// Who takes part: communicators, and teams of threads whose bodies are Python functions.
#include "bindings.hpp"

namespace weft::python {

namespace {

using nanobind::arg;

/// Tracing and profiling functions are of one thread. Debuggers and coverage give theirs to `threading`,
/// whose threads install it when they start, and so does this one.
void install_tracers() {
  const nanobind::module_ threading = nanobind::module_::import_("threading"),
                          sys = nanobind::module_::import_("sys");
  for (const auto& [known, install] : {std::pair{"gettrace", "settrace"}, {"getprofile", "setprofile"}}) {
    const nanobind::object function = threading.attr(known)();
    if (!function.is_none()) sys.attr(install)(function);
  }
}

/// Calls `body` on every thread of the team. The threads take the GIL in turns; plans release it while they
/// work.
nanobind::object run(const Team& team, const nanobind::callable& body) {
  ThreadTeam& threads = team.get("ThreadTeam.run");
  nanobind::list results;
  for (int rank = 0; rank < threads.size(); ++rank) results.append(nanobind::none());
  {
    const nanobind::gil_scoped_release released;
    threads.run([&](Comm comm) {  // NOLINT(performance-unnecessary-value-param)
      const nanobind::gil_scoped_acquire held;
      install_tracers();
      results[static_cast<std::size_t>(comm.rank())] = body(comm);
    });
  }
  return results;
}

}  // namespace

void bind_ranks(nanobind::module_& module) {
  const nanobind::call_guard<nanobind::gil_scoped_release> released;
  // Attributes are what Python knows of these ranks beside (weft/_together.py).
  nanobind::class_<Comm>(module, "Comm", nanobind::dynamic_attr(),
                         "The ranks that take part in a plan: MPI ranks, or threads of this process.")
      .def_static("self", &Comm::self, "The calling thread as the only rank. Local.")
      .def("split", &Comm::split, arg("colour"), released,
           "A new Comm of the ranks that give the same colour, in rank order. Collective.")
      .def("barrier", &Comm::barrier, released, "Waits for all ranks. Collective.")
      .def_prop_ro("rank", &Comm::rank, "The number of this rank, from 0.")
      .def_prop_ro("size", &Comm::size, "The number of ranks.")
      .def_prop_ro("medium", &Comm::medium, "'mpi' or 'threads'.");
  nanobind::class_<Team>(
      module, "ThreadTeam",
      "ThreadTeam(size): threads of this process, each of which is a rank. They live as long as the team.")
      .def(nanobind::init<int>(), arg("size"))
      .def_prop_ro(
          "size", [](const Team& team) { return team.get("ThreadTeam.size").size(); },
          "The number of threads.")
      .def("run", run, arg("body"),
           "Calls body(comm) on every thread and returns the list of results, in rank order. If a rank "
           "raises, ranks that\n"
           "wait for it raise weft.Error, and run raises the exception of the first rank; the team can be "
           "used again.\n"
           "Not to be called from inside a body, nor by two threads at once.");
}

}  // namespace weft::python
