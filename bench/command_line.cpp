#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iomanip>
#include <sstream>

#include "base/environment.hpp"
#include "codec/codec.hpp"
#include "fft/local_fft.hpp"
#include "program/pipeline.hpp"
#include "transport/transport.hpp"
#include "transports.hpp"
#include "unknown_argument.hpp"
#include "weft/error.hpp"
#include "weft/version.hpp"

namespace weft::bench {

namespace {

constexpr const char* examples = R"(Examples:
  mpirun -n 4 weft-bench --shape 256,256,256
      c2c of 256 x 256 x 256 points on four MPI ranks
  mpirun -n 4 weft-bench --shape 256,256,256 --transform r2c --output natural --json r2c.json
      real data, output as the input is distributed; results also in a file
  weft-bench --comm threads:4 --shape 128,128,128 --trace timeline.json
      without MPI, with a timeline for Perfetto
  mpirun -n 4 weft-bench --shape 192,192,192 --transform r2c --modes 128,128,65 --between points
      the 3/2 rule: from modes to points and back to modes, in one execution
  mpirun -n 4 weft-bench --line 67108864
      one transform of 2^26 points, in natural order on both sides; with --transform r2c of real ones
  mpirun -n 4 weft-bench --shape 256,256,256 --effort patient --budget 30s --wisdom fft.json
      the fastest plan that half a minute of trials finds, remembered for the next run
  mpirun -n 4 weft-bench --shape 256,256,256 --peers fftw-mpi
      in turn with FFTW's own distributed transform
  weft-bench --comm threads:2 --device cuda --shape 512,512,512 --peers cufft
      two GPUs, beside plain cuFFT on one of them
  mpirun -n 2 weft-bench --device cuda --shape 512,512,512 --output slab1 --peers cufftmp
      two GPUs, in turn with cuFFTMp on both
)";

/// "auto, a, b": the names of a table's rows, behind auto if there is no such row.
template <class Table>
std::string names_of(const Table& table, std::string names = "auto") {
  for (const auto& row : table)
    if (names != row.name) names += std::string(", ") + row.name;
  return names;
}

/// A table's names and what they mean, line by line.
template <class Table>
std::string listed(const char* title, const Table& table) {
  std::ostringstream text;
  text << "\n" << title << ":\n";
  for (const auto& row : table) text << "  " << std::left << std::setw(28) << row.name << row.meaning << "\n";
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

void add_problem(CLI::App& app, Case& c) {
  const auto group = "Problem";
  app.add_option("--shape", c.shape, "global lengths")->capture_default_str()->group(group);
  app.add_option("--transform", c.transform,
                 "c2c, r2c (the last axis), dct1 ... dst4, or one per axis: c2c,dct2,r2c")
      ->capture_default_str()
      ->group(group);
  app.add_option("--precision", c.precision, "double or float")->capture_default_str()->group(group);
  app.add_option("--input", c.input, "slab, pencil or brick")->capture_default_str()->group(group);
  app.add_option("--output", c.output,
                 "natural (as the input), transposed (cut along axis 1, its first in memory), slab1 (only "
                 "cut there), pencil or brick")
      ->capture_default_str()
      ->group(group);
  app.add_option("--batch", c.batch, "arrays transformed together")->capture_default_str()->group(group);
  app.add_option("--modes", c.modes,
                 "lengths of the modes that are kept, of the lowest frequencies; else all")
      ->group(group);
  app.add_option("--points", c.points,
                 "lengths of the points that are given, behind which are zeros; else all")
      ->group(group);
  app.add_option("--line", c.line,
                 "two axes that are one line, 0,1, or without --shape the number of its points")
      ->group(group);
  app.add_option("--between", c.between,
                 "none, or what an execution passes through: modes, from points to points, or points, from "
                 "modes to modes; with an operator that leaves the data as they are")
      ->capture_default_str()
      ->group(group);
  app.add_option("--results", c.results, "arrays that the operator leaves, if not those of --batch")
      ->group(group);
  app.add_option("--direction", c.direction, "forward, backward or both")
      ->capture_default_str()
      ->group(group);
  app.add_option("--data", c.data,
                 "random or smooth: the functions in the arrays, whose transform is known, for the error")
      ->capture_default_str()
      ->group(group);
  app.add_flag("--in-place", c.in_place, "input and output in one array")->group(group);
}

void add_measurement(CLI::App& app, Case& c) {
  app.add_option("--comm", c.comm, "mpi, or threads:P for P threads of this process")
      ->capture_default_str()
      ->group("Ranks");
  app.add_option("--device,--memory", c.device, "host, or cuda: arrays in memory of GPUs, one for each rank")
      ->capture_default_str()
      ->group("Ranks");
  app.add_option("--repeat", c.repeat, "timed repetitions, after three that are not")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000))
      ->group("Measurement");
  app.add_flag("--series", c.series, "every execution is a repetition, with its time in the JSON")
      ->group("Measurement");
  app.add_option("--peers", c.peers,
                 "fftw-mpi, mkl, cufft, cufftmp: the same problem by others, in turn with Weft")
      ->delimiter(',')
      ->group("Measurement");
  app.add_option("--json", c.json, "file for the results")->group("Measurement");
  app.add_flag("--explain", c.explain, "why the plan is as it is, and what would make it faster")
      ->group("Measurement");
  app.add_option(
         "--measure-machine", c.measure_machine,
         "measures memory, local FFTs, codecs and links of these ranks, with exchange ucx those of one "
         "network, two and so on, and with --device cuda of a GPU into a file, and that of --wisdom, "
         "and does nothing else")
      ->group("Measurement");
  app.add_option("--trace", c.trace, "file for a timeline of the last repetition (Chrome trace format)")
      ->group("Measurement");
}

void add_plan(CLI::App& app, Case& c) {
  const char* group = "Plan";
  const auto plan_option = [&](const std::string& flag, const char* name, const std::string& help) {
    Options& options = c.options;
    return app
        .add_option_function<std::string>(
            flag, [&options, name](const std::string& value) { options.set(name, value); }, help)
        ->group(group);
  };
  plan_option("--decomposition", "decomposition", "auto, slab, pencil, brick");
  plan_option("--grid", "grid", "auto, or the grid of pencils: 2x4");
  plan_option("--shrink", "shrink", "number of ranks that compute");
  plan_option("--fft-stage", "fft_stage", "auto, early, next, last: when axes are transformed that can wait");
  plan_option("--pipeline", "pipeline", names_of(pipeline_table()));
  plan_option("--overlap", "overlap", "on, off: each tile is awaited before anything else is done");
  plan_option("--exchange", "exchange",
              names_of(exchange_table()) + "; one, or one per reshape, separated by commas");
  plan_option("--codec", "codec",
              names_of(codec_table(), "none") + ":m; what messages are coded in, one or one per reshape");
  plan_option("--tolerance", "tolerance", "relative error of the output: 1e-6; picks the codec");
  plan_option("--layout", "layout", "auto, contiguous, strided");
  plan_option("--fft", "fft", names_of(fft_table()));
  plan_option("--threads", "threads", "threads of each rank");
  group = "Plan: parameters of pipelines";
  for (const Pipeline& pipeline : pipeline_table())
    for (const PipelineParameter& p : pipeline.parameters)
      if (const std::string flag = std::string("--") + p.name; app.get_option_no_throw(flag) == nullptr)
        plan_option(flag, p.name, help_of(p.name));
  group = "Plan: exchange ucx";
  plan_option("--rails", "rails", "auto, a number, or names of network devices: eth0,eth1");
  plan_option("--chunk", "chunk", "auto, or the most bytes of a transfer");
  plan_option("--inflight", "inflight", "transfers that a rank sends on a rail at a time");
  plan_option("--barrier", "barrier",
              "off, on, or a number: ranks wait for each other after each ring step, or after so many");
  plan_option("--rebalance", "rebalance",
              "off, or how many times sooner a transfer has to be done on another rail");
  plan_option("--one-sided", "one_sided",
              "auto, on, off: transfers are put into their receivers' workspaces");
  group = "Plan: arrays in memory of GPUs";
  CLI::Option* const transport =
      app.add_option("--transport", c.transport,
                     "in the place of --exchange and --staging: " + names_of(transport_table()))
          ->group(group);
  CLI::Option* const staging =
      plan_option("--staging", "staging", "auto, on, off: whether messages go through pinned memory");
  plan_option("--puts", "puts", "auto, kernel, engine: what carries a direct exchange");
  plan_option("--graph", "graph", "auto, on, off: whether executions are launched as CUDA graphs");
  for (CLI::Option* const other : {app.get_option("--exchange"), staging}) transport->excludes(other);
  group = "Tuning";
  plan_option("--effort", "effort", "estimate, measure, patient, online");
  plan_option("--fft-effort", "fft_effort",
              "auto, estimate, measure, patient: what the library of local FFTs may try");
  plan_option("--trials", "trials", "candidates that efforts measure and patient time at most");
  plan_option("--budget", "budget", "seconds that they spend on it at most: 30, 30s");
  plan_option("--online", "online", "executions in which effort online tries");
  plan_option("--search", "search", "of effort patient: nelder-mead, random");
  plan_option("--machine", "machine",
              "file of --measure-machine, or none: estimate goes by what is predicted, which is printed too");
  plan_option("--wisdom", "wisdom", "file of what was found before, and of what is found now");
}

void describe(CLI::App& app, Case& c) {
  add_problem(app, c);
  add_measurement(app, c);
  add_plan(app, c);
  app.set_help_flag("-h,--help", "prints this")->group("Help");
  app.set_version_flag("--version", "weft-bench " + std::string(version()), "prints the version")
      ->group("Help");
  app.footer(examples + listed("Pipelines", pipeline_table()) + listed("Exchanges", exchange_table()) +
             listed("Codecs", codec_table()) + listed("Transports between GPUs", transport_table()) +
             listed("Environment variables", environment_table()));
}

}  // namespace

int threads_of(const std::string& comm) {
  if (comm == "mpi") return 0;
  const std::string prefix = "threads:";
  const int n = comm.starts_with(prefix) ? std::atoi(comm.c_str() + prefix.size()) : 0;
  if (n < 1) throw Error("--comm", "\"" + comm + "\"", "mpi, or threads:P with P >= 1");
  return n;
}

std::optional<int> read_arguments(Case& c, int argc, const char* const* argv, bool speaks) {
  CLI::App app("How fast a distributed Fourier transform is here, and why.", "weft-bench");
  std::ostringstream nowhere;
  try {
    describe(app, c);
    app.parse(argc, argv);
    threads_of(c.comm);
    c.expand_line(app.count("--shape") > 0);
    return std::nullopt;
  } catch (const CLI::ExtrasError& e) {
    if (speaks) std::fputs(unknown_argument(app, app.remaining(), "weft-bench").c_str(), stderr);
    return e.get_exit_code();
  } catch (const CLI::ParseError& e) {
    return speaks ? app.exit(e) : app.exit(e, nowhere, nowhere);
  } catch (const Error& e) {
    if (speaks) std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

}  // namespace weft::bench
