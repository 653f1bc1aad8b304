// weft-model phase: a map of which decomposition is predicted to be faster, over numbers of ranks and sizes
// of a cube (communication-tuning, Figure 3).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "model/analytic.hpp"

namespace weft::bench {

namespace {

using Json = nlohmann::ordered_json;
using analytic::Choice;
using analytic::PhaseModel;

struct ModelRow {
  const char* name;
  PhaseModel model;
  const char* meaning;
};
constexpr std::array models{
    ModelRow{"exchanges", PhaseModel::exchanges,
             "slabs to slabs, pencils to pencils: multi-gpu-fft-performance, eqs. 2 and 3"},
    ModelRow{"near-square", PhaseModel::near_square,
             "bricks to bricks: communication-tuning, eq. 2, pencils of P^1/2 x P^1/2 ranks"},
    ModelRow{"table", PhaseModel::table, "bricks to bricks: the same with Table II as printed"},
    ModelRow{"grids", PhaseModel::grids, "bricks to bricks: the same with messages counted on the grids"}};

/// What stands for a choice in the map.
char letter(const Choice& c) {
  if (c.slabs_win()) return 'S';
  if (!c.pencils_fit) return '.';
  return c.slabs_fit ? 'P' : 'p';
}

class Phase : public Command {
 public:
  void describe(CLI::App& app) override {
    app.add_option("--sizes", sizes_, "n of n x n x n points")
        ->delimiter(',')
        ->capture_default_str()
        ->check(CLI::Range(1, 1 << 20))
        ->group("Problem");
    app.add_option("--ranks", ranks_, "numbers of ranks")
        ->delimiter(',')
        ->capture_default_str()
        ->check(CLI::Range(1, 1 << 20))
        ->group("Problem");
    add_positive(app, "--point-bytes", point_bytes_, "bytes of a point: 16 for complex in double precision")
        ->group("Problem");
    add_positive(app, "--latency", link_.latency, "seconds of a message before its first byte")
        ->group("Machine");
    add_positive(app, "--bandwidth", link_.bandwidth,
                 "bytes per second that one rank sends; the papers give each the bandwidth of its node")
        ->group("Machine");
    app.add_option("--ranks-per-node", ranks_per_node_, "for the line of nodes only")
        ->capture_default_str()
        ->check(CLI::Range(1, 1 << 20))
        ->group("Machine");
    std::vector<std::string> names;
    std::string footer = "Models:\n";
    for (const ModelRow& m : models) {
      names.emplace_back(m.name);
      footer += formatted("  %-14s %s\n", m.name, m.meaning);
    }
    app.add_option("--model", model_, "exchanges, near-square, table or grids")
        ->capture_default_str()
        ->check(CLI::IsMember(names))
        ->group("Model");
    app.footer(footer + R"(
The defaults are the figures of Summit that multi-gpu-fft-performance predicts with.

Examples:
  weft-model phase
  weft-model phase --model near-square --bandwidth 25e9 --json phase.json
  weft-model phase --sizes 256,512 --ranks 4,16,64,256 --latency 5e-6 --bandwidth 3e9
)");
  }

  Answer answer() const override {
    const ModelRow& model =
        *std::find_if(models.begin(), models.end(), [&](const ModelRow& m) { return model_ == m.name; });
    std::vector<Index> sizes = sizes_;
    std::vector<int> ranks = ranks_;
    std::sort(sizes.begin(), sizes.end());
    std::sort(ranks.begin(), ranks.end());
    Json json = {{"model", model.name},         {"meaning", model.meaning},
                 {"latency_s", link_.latency},  {"bandwidth_bytes_per_s", link_.bandwidth},
                 {"point_bytes", point_bytes_}, {"ranks_per_node", ranks_per_node_},
                 {"rows", Json::array()}};
    std::string text =
        formatted("%s: %s\n%g s for a message, %g GB/s per rank, %g bytes for a point\n\n", model.name,
                  model.meaning, link_.latency, link_.bandwidth / 1e9, point_bytes_);
    text += head(ranks);
    for (const Index n : sizes) {
      Json row = {{"n", n}};
      text += formatted("%8lld", static_cast<long long>(n));
      for (const int p : ranks) {
        const Choice c = choose(model.model, n, p, link_, point_bytes_);
        text += formatted("%6c", letter(c));
        row["choices"].push_back({{"ranks", p},
                                  {"slab_s", c.slab_s},
                                  {"pencil_s", c.pencil_s},
                                  {"slabs_fit", c.slabs_fit},
                                  {"pencils_fit", c.pencils_fit},
                                  {"faster", std::string(1, letter(c))}});
      }
      const std::optional<double> ranks_at_tie = tie(model.model, n, link_, point_bytes_);
      row["tie_ranks"] = ranks_at_tie ? Json(*ranks_at_tie) : Json();
      text += ranks_at_tie ? formatted("%8.0f\n", *ranks_at_tie) : formatted("%8s\n", "-");
      json["rows"].push_back(row);
    }
    text +=
        "\nS: slabs; P: pencils; p: pencils, as there are fewer planes than ranks; .: too few lines for "
        "both\n"
        "tie: the number of ranks, on grids as square as real numbers allow, where both take equally long\n";
    return {text, json_text("phase", json)};
  }

 private:
  std::string head(const std::vector<int>& ranks) const {
    std::string nodes = "   nodes", line = " n ranks";
    for (const int p : ranks) {
      nodes += formatted("%6d", (p + ranks_per_node_ - 1) / ranks_per_node_);
      line += formatted("%6d", p);
    }
    return nodes + "\n" + line + "     tie\n";
  }

  std::vector<Index> sizes_{64, 128, 256, 512, 1024, 2048, 4096};
  std::vector<int> ranks_{6, 12, 24, 48, 96, 192, 384, 768, 1536, 3072};
  analytic::Link link_ = analytic::summit_practical;
  double point_bytes_ = 16;
  int ranks_per_node_ = analytic::summit_gpus;
  std::string model_ = "exchanges";
};

}  // namespace

std::unique_ptr<Command> make_phase() {
  return std::make_unique<Phase>();
}

}  // namespace weft::bench
