// weft-model compare: one problem with several exchanges, pipelines or decompositions, on one machine or on
// several.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "command.hpp"
#include "plan_arguments.hpp"

namespace weft::bench {

namespace {

using Json = nlohmann::ordered_json;

class Compare : public Command {
 public:
  void describe(CLI::App& app) override {
    arguments_.describe(app);
    app.add_option("--ranks", ranks_, "number of ranks")
        ->capture_default_str()
        ->check(CLI::Range(1, 1 << 20))
        ->group("Machine");
    app.add_option("--and", machines_, "files of further machines")->delimiter(',')->group("Machine");
    app.add_option("--over", over_, "an option of the plan and its values, NAME=VALUE,VALUE; may be repeated")
        ->group("Plan");
    app.footer(R"(
Examples:
  weft-model compare --machine here.json --ranks 2 --ranks-per-node 2 --over exchange=direct,p2p,alltoallv
  weft-model compare --machine cluster.json --ranks 4 --over pipeline=sequential,windowed,two-front --over exchange=p2p,p2pw
  weft-model compare --machine cluster.json --ranks 4 --set exchange=ucx --over rails=1,2
  weft-model compare --machine here.json --and cluster.json --ranks 4
)");
  }

  Answer answer() const override {
    std::vector<std::string> files = {arguments_.machine};
    files.insert(files.end(), machines_.begin(), machines_.end());
    std::vector<Row> rows;
    for (const std::string& file : files) add(rows, file, arguments_.problem.options, 0, "");
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
      return std::pair(a.seconds == 0, a.seconds) < std::pair(b.seconds == 0, b.seconds);
    });
    Json json = {{"ranks", ranks_}, {"rows", Json::array()}};
    std::string text;
    for (const Row& r : rows) {
      const std::string name = (files.size() > 1 ? r.machine + ": " : "") + r.what;
      if (r.seconds > 0) {
        text += formatted("%10.3f ms  %5.2f  %s\n", 1e3 * r.seconds, r.seconds / rows.front().seconds,
                          name.c_str());
      } else {
        text += "         -             " + name + ": " + r.why_not + "\n";
      }
      json["rows"].push_back({{"machine", r.machine},
                              {"options", r.what},
                              {"seconds", r.seconds > 0 ? Json(r.seconds) : Json()},
                              {"why_not", r.why_not}});
    }
    return {text, json_text("compare", json)};
  }

 private:
  struct Row {
    std::string machine, what, why_not;
    double seconds = 0;
  };

  void add(std::vector<Row>& rows, const std::string& file, const Options& options, std::size_t which,
           const std::string& what) const {
    if (which < over_.size()) {
      const std::string& choice = over_[which];
      const std::size_t equals = choice.find('=');
      if (equals == std::string::npos) throw Error("--over", choice, "NAME=VALUE,VALUE");
      const std::string name = choice.substr(0, equals);
      for (const std::string& value : split(choice.substr(equals + 1), ',')) {
        Options chosen = options;
        chosen.set(name, value);
        add(rows, file, chosen, which + 1, what + (what.empty() ? "" : " ") + name + "=" + value);
      }
      return;
    }
    const MachineDescription machine = machine_in(file);
    Row row{file, what.empty() ? "by rule" : what, "", 0};
    PlanArguments arguments = arguments_;
    arguments.problem.options = options;
    try {
      row.seconds = predict_plan(arguments, machine, ranks_).seconds();
    } catch (const Error& e) {
      row.why_not = e.what();
    }
    rows.push_back(row);
  }

  PlanArguments arguments_;
  int ranks_ = 4;
  std::vector<std::string> machines_, over_;
};

}  // namespace

std::unique_ptr<Command> make_compare() {
  return std::make_unique<Compare>();
}

}  // namespace weft::bench
