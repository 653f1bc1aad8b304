// weft-model messages: Table II of communication-tuning for a number of ranks, counted on grids beside the
// formulas, and what Weft's own schedules send in each of their reshapes.
#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/arithmetic.hpp"
#include "base/nearest_name.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "geometry/layout.hpp"
#include "model/analytic.hpp"
#include "schedule/planner.hpp"
#include "weft/error.hpp"

namespace weft::bench {

namespace {

using Json = nlohmann::ordered_json;
using analytic::Reading;
using analytic::ReshapeCount;
using analytic::ReshapeType;

/// "P^2/3", "P"
std::string power(ReshapeType type, Reading reading) {
  const int sixths = static_cast<int>(std::lround(6 * analytic::partner_exponent(type, reading)));
  if (sixths == 6) return "P";
  return sixths % 2 == 0 ? formatted("P^%d/3", sixths / 2) : "P^1/2";
}

Distribution side(const char* option, const std::string& name, bool input) {
  if (name == "brick") return Distribution::brick();
  if (name == "pencil") return Distribution::pencil(input ? 2 : 0);
  if (name == "slab") return Distribution::slab(input ? 0 : 1);
  throw Error(option, "\"" + name + "\"", one_of({"brick", "pencil", "slab"}, name));
}

Decomposition decomposition_named(const std::string& name) {
  if (name == "auto") return Decomposition::automatic;
  if (name == "slab") return Decomposition::slab;
  if (name == "pencil") return Decomposition::pencil;
  if (name == "brick") return Decomposition::brick;
  throw Error("--decompositions", "\"" + name + "\"", one_of({"auto", "slab", "pencil", "brick"}, name));
}

class Messages : public Command {
 public:
  void describe(CLI::App& app) override {
    app.add_option("--shape", shape_, "global lengths of three axes")
        ->delimiter(',')
        ->expected(3)
        ->capture_default_str()
        ->check(CLI::Range(1, 1 << 20))
        ->group("Problem");
    app.add_option("--ranks", ranks_, "number of ranks")
        ->capture_default_str()
        ->check(CLI::Range(1, 1 << 16))
        ->group("Problem");
    app.add_option("--input", input_, "brick, pencil or slab")->capture_default_str()->group("Problem");
    app.add_option("--output", output_, "brick, pencil or slab")->capture_default_str()->group("Problem");
    app.add_option("--decompositions", decompositions_, "schedules of Weft: auto, slab, pencil, brick")
        ->delimiter(',')
        ->capture_default_str()
        ->group("Schedule");
    app.add_option("--grid", grid_, "parts of the two axes that pencils cut: 8,16; without it near-square")
        ->delimiter(',')
        ->expected(2)
        ->check(CLI::Range(1, 1 << 16))
        ->group("Schedule");
    app.footer(R"(Examples:
  weft-model messages --ranks 64
  weft-model messages --ranks 384 --shape 1024,1024,1024 --json messages.json
  weft-model messages --ranks 64 --grid 4,16 --decompositions pencil
  weft-model messages --ranks 64 --input slab --output slab --decompositions auto,brick
)");
  }

  Answer answer() const override {
    const Shape shape = Shape::from(shape_.begin(), shape_.end());
    if (!grid_.empty() && static_cast<Index>(grid_[0]) * grid_[1] != ranks_)
      throw Error("--grid", join(grid_, ","),
                  "two numbers with the product " + std::to_string(ranks_) + ", that of --ranks");
    Json json = {
        {"shape", shape_}, {"ranks", ranks_}, {"table", Json::array()}, {"schedules", Json::array()}};
    std::string text =
        by_x(shape) + " on " + std::to_string(ranks_) +
        " ranks. Partners of a rank, itself included, at most:\n\n" +
        formatted("%-22s%-23s%s\n", "Table II", "pencils P^1/3 x P^2/3", "pencils P^1/2 x P^1/2");
    for (const ReshapeType type : analytic::reshape_types) text += table_line(type, shape, json["table"]);
    text += "\nformula, its value, and as counted on grids; \"across\" is not in the table\n";
    for (const std::string& name : decompositions_) text += schedule_lines(name, shape, json["schedules"]);
    return {text, json_text("messages", json)};
  }

 private:
  std::string table_line(ReshapeType type, const Shape& shape, Json& rows) const {
    std::string text = formatted("%-20s", name_of(type));
    Json row = {{"reshape", name_of(type)}};
    for (const Reading reading : {Reading::cube_root, Reading::near_square}) {
      const double value = table_partners(type, reading, ranks_);
      const auto [from, to] = table_grids(type, reading, shape, ranks_);
      const Index counted = analytic::partners(shape, from, to);
      const std::string formula = power(type, reading);
      text += formatted("  %-6s%8.2f%7lld", formula.c_str(), value, static_cast<long long>(counted));
      row[reading == Reading::cube_root ? "cube_root" : "near_square"] = {{"formula", formula},
                                                                          {"value", value},
                                                                          {"from", by_x(from)},
                                                                          {"to", by_x(to)},
                                                                          {"counted", counted}};
    }
    rows.push_back(row);
    return text + "\n";
  }

  Schedule schedule(const std::string& decomposition, const Shape& shape) const {
    ScheduleRequest r;
    r.shape = shape;
    r.transforms = AxisVector<Transform>(3, Transform::c2c);
    r.ranks = ranks_;
    r.input = named_tiling(side("--input", input_, true), shape, ranks_, "input");
    r.output = named_tiling(side("--output", output_, false), shape, ranks_, "output");
    r.input_orders = r.output_orders = {c_order(3)};
    r.decomposition = decomposition_named(decomposition);
    r.pencil_grid = AxisVector<int>::from(grid_.begin(), grid_.end());
    return make_schedule(r);
  }

  std::string schedule_lines(const std::string& decomposition, const Shape& shape, Json& schedules) const {
    const Schedule s = schedule(decomposition, shape);
    Json rows = Json::array();
    std::string text = "\nWeft's schedule, " + s.reason + "\n" +
                       formatted("%-36s%10s%13s%10s%10s%14s\n", "", "Table II", "near-square", "partners",
                                 "messages", "points sent");
    for (const ReshapeCount& c : analytic::counted_messages(s)) {
      const Tiling& from = *at(s.fields, c.stage).tiling;
      const Tiling& to = *at(s.fields, c.stage + 1).tiling;
      const std::string between = from.name() + " - " + to.name();
      Json row = {{"from", from.name()}, {"to", to.name()}};
      text += formatted("%-36s", between.c_str());
      const std::optional<ReshapeType> type = analytic::type_of(*from.grid(), *to.grid());
      for (const Reading reading : {Reading::cube_root, Reading::near_square}) {
        const int width = reading == Reading::cube_root ? 10 : 13;
        const double value = type ? table_partners(*type, reading, ranks_) : 0;
        text += type ? formatted("%*.2f", width, value) : formatted("%*s", width, "-");
        row[reading == Reading::cube_root ? "table" : "near_square"] = type ? Json(value) : Json();
      }
      text += formatted("%10lld%10lld%14lld\n", static_cast<long long>(c.partners),
                        static_cast<long long>(c.messages), static_cast<long long>(c.sent_points));
      row.update({{"partners", c.partners}, {"messages", c.messages}, {"sent_points", c.sent_points}});
      rows.push_back(row);
    }
    schedules.push_back({{"decomposition", decomposition}, {"reason", s.reason}, {"reshapes", rows}});
    return text;
  }

  std::vector<Index> shape_{512, 512, 512};
  int ranks_ = 64;
  std::string input_ = "brick", output_ = "brick";
  std::vector<std::string> decompositions_{"slab", "pencil"};
  std::vector<int> grid_;
};

}  // namespace

std::unique_ptr<Command> make_messages() {
  return std::make_unique<Messages>();
}

}  // namespace weft::bench
