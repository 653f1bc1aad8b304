// weft-model choose: the plan that effort estimate takes on a described machine, what else there is, and why.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "api/explaining.hpp"
#include "api/explanation_json.hpp"
#include "api/option_table.hpp"
#include "base/timing.hpp"
#include "command.hpp"
#include "plan_arguments.hpp"

namespace weft::bench {

namespace {

class Choose : public Command {
 public:
  void describe(CLI::App& app) override {
    arguments_.describe(app);
    app.add_option("--ranks", ranks_, "number of ranks")
        ->capture_default_str()
        ->check(CLI::Range(2, 1 << 20))
        ->group("Machine");
    app.footer(R"(
Examples:
  weft-model choose --machine here.json --ranks 2 --ranks-per-node 2 --shape 256,256,256
  weft-model choose --machine bench/machines/h200.json --device cuda --ranks 2 --threads --shape 512,512,512
  weft-model choose --machine cluster.json --ranks 1024 --shape 1024,1024,1024 --input brick --output natural
)");
  }

  Answer answer() const override {
    const MachineDescription machine = machine_in(arguments_.machine);
    const DescribedRanks of = described_ranks(arguments_, machine, ranks_);
    const Options& options = arguments_.problem.options;
    const Wishes wishes = wishes_of(options);
    const ChoiceRequest request{of.problem, options, wishes, of.setting, machine, arguments_.library};
    const double begin = seconds_now();
    const ModelChoice choice = choose_by_model(request);
    const double took = seconds_now() - begin;
    const Design chosen = design(of.problem, wishes_of(options, choice.options, Origin::model), of.setting);
    const PredictedDesign predicted = predict_both(request, chosen);
    Explanation explanation;
    explanation.chosen = choice.options.empty() ? "by rules: nothing is predicted to be clearly faster"
                                                : "predicted to be the fastest on the described machine";
    explanation.candidates = choice.candidates;
    explain_prediction(explanation, predicted);
    explanation.advice = advice_for(request, choice.options, predicted.seconds());
    return {formatted("on %s\n", machine.name.c_str()) + to_string(chosen) + to_string(explanation) +
                formatted("chosen in %.1f ms\n", 1e3 * took),
            json_text("choose", {{"machine", machine.name},
                                 {"ranks", ranks_},
                                 {"ranks_per_node", arguments_.ranks_per_node},
                                 {"choosing_s", took},
                                 {"options", choice.options},
                                 {"explanation", json_of(explanation)}})};
  }

 private:
  PlanArguments arguments_;
  int ranks_ = 4;
};

}  // namespace

std::unique_ptr<Command> make_choose() {
  return std::make_unique<Choose>();
}

}  // namespace weft::bench
