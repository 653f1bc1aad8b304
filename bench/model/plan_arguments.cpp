#include "plan_arguments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "api/option_table.hpp"
#include "api/problem_check.hpp"
#include "model/machine_json.hpp"
#include "output_file.hpp"

namespace weft::bench {

void PlanArguments::describe(CLI::App& app) {
  const char* const group = "Problem";
  app.add_option("--shape", problem.shape, "global lengths")->capture_default_str()->group(group);
  app.add_option("--transform", problem.transform, "c2c, r2c, none or a DCT or DST; or one for each axis")
      ->capture_default_str()
      ->group(group);
  app.add_option("--precision", problem.precision, "double or float")->capture_default_str()->group(group);
  app.add_option("--input", problem.input, "slab, pencil or brick")->capture_default_str()->group(group);
  app.add_option("--output", problem.output, "transposed, natural, or a distribution")
      ->capture_default_str()
      ->group(group);
  app.add_option("--batch", problem.batch, "arrays transformed together")
      ->capture_default_str()
      ->group(group);
  app.add_option("--direction", problem.direction, "forward, backward or both")
      ->capture_default_str()
      ->group(group);
  app.add_option("--machine", machine, "file of weft-bench --measure-machine, or one of bench/machines")
      ->required()
      ->group("Machine");
  app.add_option("--ranks-per-node", ranks_per_node, "ranks on each machine")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20))
      ->group("Machine");
  app.add_option("--device,--memory", problem.device,
                 "host, or cuda: arrays in memory of GPUs, of a machine whose description has one")
      ->capture_default_str()
      ->check(CLI::IsMember({"host", "cuda"}))
      ->group("Machine");
  app.add_option("--devices-per-node", devices_per_node,
                 "GPUs of each machine, which its ranks take in turn; 0: one for each rank")
      ->capture_default_str()
      ->check(CLI::Range(0, 1 << 20))
      ->group("Machine");
  app.add_flag("--threads", threads, "ranks are threads of one process")->group("Machine");
  app.add_flag("--every-rank", every_rank, "replays also those ranks of 64 or more that are alike")
      ->group("Machine");
  app.add_option("--fft", library, "library of local FFTs whose figures count")
      ->capture_default_str()
      ->group("Machine");
  app.add_option_function<std::vector<std::string>>(
         "--set",
         [this](const std::vector<std::string>& settings) {
           for (const std::string& s : settings) {
             const std::size_t equals = s.find('=');
             if (equals == std::string::npos) throw Error("--set", s, "NAME=VALUE, as in exchange=p2p");
             problem.options.set(s.substr(0, equals), s.substr(equals + 1));
           }
         },
         "an option of the plan, NAME=VALUE; may be repeated")
      ->group("Plan");
}

namespace {

/// The number of every rank's device; none for arrays on the host.
std::vector<int> devices_of(const PlanArguments& arguments, const MachineDescription& machine,
                            const std::vector<int>& nodes) {
  std::vector<int> devices;
  if (arguments.problem.device != "cuda") return devices;
  device_of(machine);
  std::map<int, int> before;  // ranks of each machine
  for (std::size_t r = 0; r < nodes.size(); ++r) {
    const int own = arguments.devices_per_node, place = before[nodes[r]]++;
    devices.push_back(own == 0 ? static_cast<int>(r) : nodes[r] * own + place % own);
  }
  return devices;
}

}  // namespace

double PredictedPlan::seconds() const {
  double sum = 0;
  for (const PlanPrediction& p : directions) sum += p.prediction.seconds;
  return sum;
}

MachineDescription machine_in(const std::string& file) {
  const std::string text = read_file(file);
  try {
    return read_machine(text);
  } catch (const Error& e) {
    throw Error("--machine " + file, e.what(), "a machine description");
  }
}

DescribedRanks described_ranks(const PlanArguments& arguments, const MachineDescription& machine, int ranks) {
  std::vector<int> nodes;
  for (int r = 0; r < ranks; ++r) nodes.push_back(arguments.threads ? 0 : r / arguments.ranks_per_node);
  DescribedRanks of{arguments.problem.problem(), described_setting(machine, nodes, arguments.threads,
                                                                   devices_of(arguments, machine, nodes))};
  check_problem(of.problem, ranks);
  const bool any = std::any_of(of.setting.offers.begin(), of.setting.offers.end(),
                               [](const Offer& o) { return o.why_not.empty() && !o.traits.stores; });
  if (!any)
    throw Error("weft-model",
                "ranks that are processes, in a build without MPI, which knows no exchange among them",
                "--threads, or a build with MPI");
  return of;
}

PredictedPlan predict_plan(const PlanArguments& arguments, const MachineDescription& machine, int ranks) {
  constexpr int few = 64;
  const DescribedRanks of = described_ranks(arguments, machine, ranks);
  PredictedPlan plan;
  plan.design = design(of.problem, wishes_of(arguments.problem.options), of.setting);
  const PredictionRequest request{
      machine,           plan.design,
      of.setting,        of.problem.precision,
      arguments.library, ranks >= few && !arguments.every_rank ? ReplayedRanks::classes : ReplayedRanks::all};
  for (const Direction d : {Direction::forward, Direction::backward})
    if (d == Direction::forward ? arguments.problem.forward() : arguments.problem.backward())
      plan.directions.push_back(predict(request, d));
  return plan;
}

}  // namespace weft::bench
