// weft-model predict: how long a transform takes on a described machine, what the time is spent on and what
// it hangs on, without ranks and arrays; and the timeline of it.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "design_json.hpp"
#include "output_file.hpp"
#include "plan_arguments.hpp"
#include "predicted_trace.hpp"

namespace weft::bench {

namespace {

using Json = nlohmann::ordered_json;

class Predict : public Command {
 public:
  void describe(CLI::App& app) override {
    arguments_.describe(app);
    app.add_option("--ranks", ranks_, "number of ranks")
        ->capture_default_str()
        ->check(CLI::Range(1, 1 << 20))
        ->group("Machine");
    app.add_option("--trace", trace_, "file for the timeline of the replayed ranks, which Perfetto opens")
        ->group("Results");
    app.footer(R"(
Examples:
  mpirun -n 2 weft-bench --measure-machine here.json
  weft-model predict --machine here.json --ranks 2 --ranks-per-node 2 --shape 256,256,256
  weft-model predict --machine here.json --ranks 2 --ranks-per-node 2 --set pipeline=sequential --set exchange=p2p
  weft-model predict --machine gpu.json --device cuda --ranks 1 --shape 256,256,256
  weft-model predict --machine bench/machines/summit.json --ranks 6144 --ranks-per-node 6 --shape 1024,1024,1024 --json p.json
  weft-model predict --machine bench/machines/summit.json --ranks 24 --ranks-per-node 6 --direction both --trace t.json
)");
  }

  Answer answer() const override {
    OutputFile trace(trace_, "weft-model: --trace");
    const MachineDescription machine = machine_in(arguments_.machine);
    const PredictedPlan plan = predict_plan(arguments_, machine, ranks_);
    std::string text = formatted("on %s\n", machine.name.c_str()) + to_string(plan.design);
    Json json = {{"machine", machine.name},
                 {"ranks", ranks_},
                 {"ranks_per_node", arguments_.ranks_per_node},
                 {"seconds", plan.seconds()},
                 {"directions", Json::array()},
                 {"design", json_of(plan.design)}};
    for (const PlanPrediction& p : plan.directions) {
      const Prediction& of = p.prediction;
      text += to_string(of);
      text +=
          formatted("  replayed %zu of %d ranks, %zu operations on the slowest\n", p.replayed.ranks.size(),
                    ranks_, p.replayed.ranks[static_cast<std::size_t>(p.replayed.slowest)].operations.size());
      Json stages = Json::array();
      for (const auto& [stage, seconds] : of.stages)
        stages.push_back({{"stage", stage}, {"seconds", seconds}});
      json["directions"].push_back({{"seconds", of.seconds},
                                    {"operations", of.activities},
                                    {"critical", of.critical},
                                    {"stages", stages},
                                    {"compute_s", of.compute_s},
                                    {"wire_s", of.wire_s},
                                    {"rails", of.rails.used}});
    }
    if (!trace_.empty()) trace.write(predicted_trace(plan, title_of_prediction(arguments_, machine, ranks_)));
    return {text, json_text("predict", json)};
  }

 private:
  PlanArguments arguments_;
  int ranks_ = 4;
  std::string trace_;
};

}  // namespace

std::unique_ptr<Command> make_predict() {
  return std::make_unique<Predict>();
}

}  // namespace weft::bench
