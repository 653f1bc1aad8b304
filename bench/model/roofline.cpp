// weft-model roofline: the best that the network and the processors of some nodes allow, if one hides the
// other (communication-tuning, Figure 10).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "model/analytic.hpp"

namespace weft::bench {

namespace {

using Json = nlohmann::ordered_json;

class Roofline : public Command {
 public:
  void describe(CLI::App& app) override {
    app.add_option("--size", size_, "n of n x n x n points")
        ->capture_default_str()
        ->check(CLI::Range(2, 1 << 20))
        ->group("Problem");
    app.add_option("--reshapes", reshapes_, "4: pencils between bricks; 2: pencils; 1: slabs")
        ->capture_default_str()
        ->check(CLI::Range(1, 100))
        ->group("Problem");
    add_positive(app, "--point-bytes", point_bytes_, "bytes of a point: 16 for complex in double precision")
        ->group("Problem");
    app.add_option("--nodes", nodes_, "numbers of nodes")
        ->delimiter(',')
        ->capture_default_str()
        ->check(CLI::Range(1, 1 << 20))
        ->group("Machine");
    add_positive(app, "--node-bandwidth", node_.bandwidth,
                 "bytes per second that a node sends into the network")
        ->group("Machine");
    add_positive(app, "--node-flops", node_.flops, "peak of a node in flop/s")->group("Machine");
    app.footer(R"(The defaults are the figures of Summit in communication-tuning.

Examples:
  weft-model roofline
  weft-model roofline --size 512 --reshapes 2 --nodes 1,2,4,8 --json roofline.json
  weft-model roofline --node-bandwidth 12.5e9 --node-flops 2e12
)");
  }

  Answer answer() const override {
    const double n = static_cast<double>(size_), points = n * n * n;
    std::vector<int> nodes = nodes_;
    std::sort(nodes.begin(), nodes.end());
    const analytic::Roof one = roofline(points, 1, reshapes_, node_, point_bytes_);
    std::string text = formatted(
        "%lld x %lld x %lld points of %g bytes, %d reshapes: %.4g flop, %.3g flop per byte sent\n"
        "a node sends %g GB/s and computes %g Tflop/s\n\n"
        "   nodes      wire s   compute s    roof Gflop/s   bound by      eq. 3\n",
        static_cast<long long>(size_), static_cast<long long>(size_), static_cast<long long>(size_),
        point_bytes_, reshapes_, one.flops, one.intensity, node_.bandwidth / 1e9, node_.flops / 1e12);
    Json json = {{"n", size_},
                 {"point_bytes", point_bytes_},
                 {"reshapes", reshapes_},
                 {"node_bytes_per_s", node_.bandwidth},
                 {"node_flops_per_s", node_.flops},
                 {"flops", one.flops},
                 {"flops_per_byte", one.intensity},
                 {"rows", Json::array()}};
    for (const int p : nodes) {
      const analytic::Roof r = roofline(points, p, reshapes_, node_, point_bytes_);
      const char* bound = r.wire_s >= r.compute_s ? "network" : "processors";
      const double curve = analytic::summit_curve(p, points);
      text += formatted("%8d  %10.3e  %10.3e  %14.1f  %9s  %10.1f\n", p, r.wire_s, r.compute_s,
                        r.flops_per_s / 1e9, bound, curve);
      json["rows"].push_back({{"nodes", p},
                              {"wire_s", r.wire_s},
                              {"compute_s", r.compute_s},
                              {"roof_flops_per_s", r.flops_per_s},
                              {"bound_by", bound},
                              {"eq3_gflops_per_s", curve}});
    }
    text +=
        "\neq. 3: 1.953 P log2 N of communication-tuning for P nodes, in Gflop/s: the roof of Summit with "
        "four "
        "reshapes\n";
    return {text, json_text("roofline", json)};
  }

 private:
  Index size_ = 1024;
  std::vector<int> nodes_{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
  int reshapes_ = 4;
  double point_bytes_ = 16;
  analytic::Node node_ = analytic::summit_node;
};

}  // namespace

std::unique_ptr<Command> make_roofline() {
  return std::make_unique<Roofline>();
}

}  // namespace weft::bench
