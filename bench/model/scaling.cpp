// weft-model scaling: predicted times over numbers of ranks, of one array (strong scaling) or of an array
// that grows with the ranks (weak scaling).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "command.hpp"
#include "plan_arguments.hpp"

namespace weft::bench {

namespace {

using Json = nlohmann::ordered_json;

class Scaling : public Command {
 public:
  void describe(CLI::App& app) override {
    arguments_.describe(app);
    app.add_option("--ranks", ranks_, "numbers of ranks")
        ->delimiter(',')
        ->capture_default_str()
        ->check(CLI::Range(1, 1 << 20))
        ->group("Machine");
    app.add_flag("--weak", weak_,
                 "every axis grows with the cube root of the ranks, --shape being that of the fewest")
        ->group("Problem");
    app.footer(R"(
Examples:
  weft-model scaling --machine here.json --ranks 1,2,4,8 --ranks-per-node 2 --shape 256,256,256
  weft-model scaling --machine bench/machines/summit.json --ranks 24,96,384,1536,6144 --ranks-per-node 6 --shape 1024,1024,1024
  weft-model scaling --machine here.json --ranks 1,8,64 --weak --json weak.json
)");
  }

  Answer answer() const override {
    const MachineDescription machine = machine_in(arguments_.machine);
    static_cast<void>(arguments_.problem.problem());  // what is wrong with it is said before anything is done
    std::vector<int> ranks = ranks_;
    std::sort(ranks.begin(), ranks.end());
    Json json = {{"machine", machine.name}, {"weak", weak_}, {"rows", Json::array()}};
    std::string text =
        formatted("on %s, %s scaling\n   ranks            shape  reshapes         ms  efficiency  waiting\n",
                  machine.name.c_str(), weak_ ? "weak" : "strong");
    double first = 0;
    for (const int p : ranks) {
      PlanArguments arguments = arguments_;
      if (weak_) arguments.problem.shape = grown(std::cbrt(static_cast<double>(p) / ranks.front()));
      const PredictedPlan plan = predict_plan(arguments, machine, p);
      const double seconds = plan.seconds();
      if (first == 0) first = seconds * (weak_ ? 1 : ranks.front());
      const double efficiency = first / seconds / (weak_ ? 1 : p);
      double waiting = 0;
      for (const PlanPrediction& d : plan.directions)
        for (const char* const activity : {"wait", "exchange"})
          if (const auto found = d.prediction.activities.find(activity);
              found != d.prediction.activities.end())
            waiting += found->second;
      const std::size_t reshapes = plan.design.legs_of(Direction::forward).size();
      text += formatted("%8d  %15s  %8zu %10.3f  %9.0f%%  %6.0f%%\n", p, arguments.problem.shape.c_str(),
                        reshapes, 1e3 * seconds, 100 * efficiency, 100 * waiting / seconds);
      json["rows"].push_back({{"ranks", p},
                              {"shape", arguments.problem.shape},
                              {"reshapes", reshapes},
                              {"seconds", seconds},
                              {"efficiency", efficiency},
                              {"waiting_s", waiting}});
    }
    return {text, json_text("scaling", json)};
  }

 private:
  std::string grown(double factor) const {
    std::vector<std::string> lengths;
    for (const std::string& n : split(arguments_.problem.shape, ','))
      lengths.push_back(std::to_string(std::lround(std::stod(n) * factor)));
    return join(lengths, ",");
  }

  PlanArguments arguments_;
  std::vector<int> ranks_ = {1, 2, 4, 8};
  bool weak_ = false;
};

}  // namespace

std::unique_ptr<Command> make_scaling() {
  return std::make_unique<Scaling>();
}

}  // namespace weft::bench
