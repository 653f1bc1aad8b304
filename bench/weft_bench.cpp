// weft-bench: how fast a distributed transform is here, what it spends its time on, how far that is from what
// the machine could do, and how other libraries do on the same ranks. `weft-bench --help` lists the options;
// docs/benchmark.md explains the output.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iomanip>
#include <optional>
#include <sstream>

#include "base/environment.hpp"
#include "fft/local_fft.hpp"
#include "program/pipeline.hpp"
#include "report.hpp"
#include "transport/transport.hpp"
#include "transports.hpp"
#include "weft/thread_team.hpp"
#ifdef WEFT_WITH_CUDA
#include "cuda/choose_device.hpp"
#endif
#ifdef WEFT_WITH_MPI
#include "weft/mpi.hpp"
#endif

namespace weft::bench {

namespace {

void write(const std::string& file, const std::string& text) {
  if (file.empty()) return;
  std::ofstream out(file);
  out << text;
  out.close();
  if (!out) throw Error("weft-bench", "cannot write " + file, "a file in an existing folder");
}

void run(const Comm& comm, const Case& c) {
#ifdef WEFT_WITH_CUDA
  if (c.device == "cuda") choose_device(comm);
#endif
  Case chosen = c;
  if (!c.transport.empty()) {
    if (c.device != "cuda")
      throw Error("--transport", c.transport + " with arrays on the host", "--device cuda");
    choose_transport(c.transport, comm.impl(), chosen.options);
  }
  const Measured m = measure(comm, chosen);
  if (comm.rank() != 0) return;
  std::printf("%s", text_of(chosen, m).c_str());
  write(c.json, json_of(chosen, m, comm.size(), comm.medium()));
  write(c.trace, trace_of(m));
}

/// "threads:4" -> 4; "mpi" -> 0.
int threads_of(const std::string& comm) {
  if (comm == "mpi") return 0;
  const std::string prefix = "threads:";
  const int n = comm.starts_with(prefix) ? std::atoi(comm.c_str() + prefix.size()) : 0;
  if (n < 1) throw Error("--comm", "\"" + comm + "\"", "mpi, or threads:P with P >= 1");
  return n;
}

/// "auto, a, b": the names of a table's rows, behind auto if there is no such row.
template <class Row>
std::string names_of(std::span<const Row> table) {
  std::string names = "auto";
  for (const Row& row : table)
    if (names != row.name) names += std::string(", ") + row.name;
  return names;
}

/// A table's names and what they mean, line by line.
template <class Row>
std::string listed(const char* title, std::span<const Row> table) {
  std::ostringstream text;
  text << title << ":\n";
  for (const Row& row : table) text << "  " << std::left << std::setw(28) << row.name << row.meaning << "\n";
  return text.str();
}

/// Which pipelines have a parameter, and what it means with them.
std::string help_of(const std::string& parameter) {
  std::string help, last;
  for (const Pipeline& pipeline : pipeline_table())
    for (const PipelineParameter& p : pipeline.parameters) {
      if (parameter != p.name) continue;
      if (last.empty()) {
        help = "of ";
      } else {
        help += last == p.meaning ? ", " : ": " + last + "; of ";
      }
      help += pipeline.name;
      last = p.meaning;
    }
  return help + ": " + last;
}

void add_plan_options(CLI::App& app, Options& options) {
  const auto plan_option = [&](const std::string& flag, const char* name, const std::string& help) {
    app.add_option_function<std::string>(
        flag, [&options, name](const std::string& value) { options.set(name, value); }, help);
  };
  plan_option("--decomposition", "decomposition", "auto, slab, pencil, brick");
  plan_option("--grid", "grid", "auto, or the grid of pencils: 2x4");
  plan_option("--pipeline", "pipeline", names_of(pipeline_table()));
  plan_option("--overlap", "overlap", "on, off: each tile is awaited before anything else is done");
  for (const Pipeline& pipeline : pipeline_table())
    for (const PipelineParameter& p : pipeline.parameters)
      if (const std::string flag = std::string("--") + p.name; app.get_option_no_throw(flag) == nullptr)
        plan_option(flag, p.name, help_of(p.name));
  plan_option("--exchange", "exchange",
              names_of(exchange_table()) + "; one, or one per reshape, separated by commas");
  plan_option("--staging", "staging", "auto, on, off: of GPUs, whether messages go through pinned memory");
  plan_option("--puts", "puts", "auto, kernel, engine: of GPUs, what carries a direct exchange");
  plan_option("--graph", "graph",
              "auto, on, off: whether executions on a device are launched as CUDA graphs");
  plan_option("--layout", "layout", "auto, contiguous, strided");
  plan_option("--fft", "fft", names_of(fft_table()));
  plan_option("--shrink", "shrink", "number of ranks that compute");
  plan_option("--threads", "threads", "threads of each rank");
  plan_option("--effort", "effort", "estimate, measure, patient");
  plan_option("--trials", "trials", "candidates that efforts measure and patient time at most");
  plan_option("--budget", "budget", "seconds that they spend on it at most: 30, 30s");
  plan_option("--search", "search", "of effort patient: nelder-mead, random");
  plan_option("--wisdom", "wisdom", "file of what was found before, and of what is found now");
  app.footer(listed("Pipelines", pipeline_table()) + "\n" + listed("Exchanges", exchange_table()) + "\n" +
             listed("Transports between GPUs", transport_table()) + "\n" +
             listed("Environment variables", environment_table()));
}

void parse(CLI::App& app, Case& c) {
  app.add_option("--shape", c.shape, "global lengths")->capture_default_str();
  app.add_option("--transform", c.transform,
                 "c2c, r2c (the last axis), dct1 ... dst4, or one per axis: c2c,dct2,r2c")
      ->capture_default_str();
  app.add_option("--precision", c.precision, "double or float")->capture_default_str();
  app.add_option("--input", c.input, "slab, pencil or brick")->capture_default_str();
  app.add_option("--output", c.output,
                 "natural (as the input), transposed (cut along axis 1, its first in memory), slab1 (only "
                 "cut there), pencil or brick")
      ->capture_default_str();
  app.add_option("--device", c.device, "host, or cuda: arrays in memory of GPUs, one for each rank")
      ->capture_default_str();
  app.add_option(
      "--transport", c.transport,
      "with --device cuda, in the place of --exchange and --staging: " + names_of(transport_table()));
  app.add_option("--batch", c.batch, "arrays transformed together")->capture_default_str();
  app.add_option("--direction", c.direction, "forward, backward or both")->capture_default_str();
  app.add_flag("--in-place", c.in_place, "input and output in one array");
  app.add_option("--repeat", c.repeat, "timed repetitions, after three that are not")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--json", c.json, "file for the results");
  app.add_option("--trace", c.trace, "file for a timeline of the last repetition (Chrome trace format)");
  app.add_option("--peers", c.peers, "fftw-mpi, mkl, cufft: the same problem by others, in turn with Weft")
      ->delimiter(',');
  app.add_option("--comm", c.comm, "mpi, or threads:P for P threads of this process")->capture_default_str();
  add_plan_options(app, c.options);
  for (const char* flag : {"--exchange", "--staging"})
    app.get_option("--transport")->excludes(app.get_option(flag));
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

/// The exit status if there is nothing to run.
std::optional<int> read_arguments(CLI::App& app, Case& c, int& threads, int argc, char** argv) {
  try {
    parse(app, c);
    app.parse(argc, argv);
    threads = threads_of(c.comm);
    return std::nullopt;
  } catch (const CLI::ParseError& e) {
    std::ostringstream nowhere;
    return speaks() ? app.exit(e) : app.exit(e, nowhere, nowhere);
  } catch (const Error& e) {
    if (speaks()) std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
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
  }
  return 0;
#else
  throw Error("--comm", c.comm, "a build with MPI, or threads:P");
#endif
}

int main(int argc, char** argv) {
  Case c;
#ifdef WEFT_WITH_MPI
  c.comm = "mpi";
#else
  c.comm = "threads:2";
#endif
  CLI::App app("How fast a distributed Fourier transform is here, and why.", "weft-bench");
  int threads = 0;
  if (const std::optional<int> status = read_arguments(app, c, threads, argc, argv)) return *status;
  try {
    if (threads == 0) return run_on_mpi(c);
    ThreadTeam(threads).run([&](const Comm& comm) { run(comm, c); });
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
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
