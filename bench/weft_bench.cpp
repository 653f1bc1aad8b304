// weft-bench: how fast a distributed transform is here, what it spends its time on, how far that is from what
// the machine could do, and how other libraries do on the same ranks. `weft-bench --help` lists the options;
// docs/benchmark.md explains the output.
#include <cstdio>
#include <new>
#include <optional>

#include "comm/agree.hpp"
#include "command_line.hpp"
#include "device/device.hpp"
#include "measure_machine.hpp"
#include "model/machine_json.hpp"
#include "output_file.hpp"
#include "report.hpp"
#include "transports.hpp"
#include "tune/wisdom_store.hpp"
#include "weft/thread_team.hpp"
#include "weft/wisdom.hpp"
#ifdef WEFT_WITH_GPU
#include "gpu/choose_device.hpp"
#endif
#ifdef WEFT_WITH_MPI
#include "weft/mpi.hpp"
#endif

namespace weft::bench {

namespace {

void write_machine(const Comm& comm, const Case& c, const std::shared_ptr<Device>& device) {
  c.check_device();
  const std::string& file = c.measure_machine;
  std::optional<OutputFile> output;
  agree(comm.impl(), "weft-bench", [&] {
    if (comm.rank() == 0) output.emplace(file);
  });
  const MachineDescription machine = measure_machine(comm, device);
  const Machine these_ranks = machine_of(comm.impl(), {});
  if (comm.rank() != 0) return;
  output->write(to_json(machine));
  std::printf("%s: %s\n", file.c_str(), machine.name.c_str());
  const std::string wisdom = c.options.get("wisdom");
  if (wisdom.empty()) return;
  WisdomStore::of_process().with([&](Wisdom& known) {
    known.remember_description(these_ranks.described(device ? device->model() : ""), to_json(machine));
  });
  if (export_wisdom(wisdom)) std::printf("%s: knows it, too\n", wisdom.c_str());
}

void run(const Comm& comm, const Case& c) {
#ifdef WEFT_WITH_GPU
  if (c.device == "cuda") choose_device(comm);
#endif
  if (!c.measure_machine.empty()) {
    std::shared_ptr<Device> device;
    agree(comm.impl(), "weft-bench", [&] {
      if (c.problem().memory == MemoryKind::cuda) device = current_device();
    });
    write_machine(comm, c, device);
    return;
  }
  std::optional<OutputFile> json, trace;
  agree(comm.impl(), "weft-bench", [&] {
    if (comm.rank() != 0) return;
    json.emplace(c.json);
    trace.emplace(c.trace);
  });
  Case chosen = c;
  if (!c.transport.empty()) {
    if (c.device != "cuda")
      throw Error("--transport", c.transport + " with arrays on the host", "--device cuda");
    choose_transport(c.transport, comm.impl(), chosen.options);
  }
  const Measured m = measure(comm, chosen);
  if (comm.rank() != 0) return;
  std::printf("%s", text_of(chosen, m).c_str());
  json->write(json_of(chosen, m, comm.size(), comm.medium()));
  trace->write(trace_of(m));
}

/// Whether this process says what is wrong with the arguments, which all processes of a job find wrong.
bool speaks() {
#ifdef WEFT_WITH_MPI
  int initialised = 0, rank = 0;
  MPI_Initialized(&initialised);
  if (initialised != 0) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 0;
#else
  return true;
#endif
}

int run_on_mpi(const Case& c) {
#ifdef WEFT_WITH_MPI
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  try {
    run(comm, c);
  } catch (const Error& e) {
    // What is wrong on all ranks is said once: by the rank that it is about, if any, else by the first.
    if (comm.rank() != std::max(0, e.rank())) return 1;
    throw;
  } catch (const std::exception& e) {
    // Of this rank alone: the others may wait for it.
    std::fprintf(stderr, "weft-bench: rank %d: %s\n", comm.rank(), e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return 0;
#else
  throw Error("--comm", c.comm, "a build with MPI, or threads:P");
#endif
}

int main(int argc, char** argv) {
  Case c;
  if (const std::optional<int> status = read_arguments(c, argc, argv, speaks())) return *status;
  try {
    const int threads = threads_of(c.comm);
    if (threads == 0) return run_on_mpi(c);
    ThreadTeam(threads).run([&](const Comm& comm) { run(comm, c); });
    return 0;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "weft: weft-bench: no memory left; expected a smaller --shape or --batch\n");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
  return 1;
}

}  // namespace

}  // namespace weft::bench

int main(int argc, char** argv) {
#ifdef WEFT_WITH_MPI
  bool mpi = true;
  for (int i = 1; i < argc; ++i) mpi = mpi && std::string(argv[i]).find("threads:") == std::string::npos;
  if (mpi) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  }
  const int result = weft::bench::main(argc, argv);
  if (mpi) MPI_Finalize();
  return result;
#else
  return weft::bench::main(argc, argv);
#endif
}
