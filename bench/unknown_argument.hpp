// What command lines say of an argument that they do not know: which, and which one it is nearest to.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace weft::bench {

/// A line about the first of `extras` that looks like an option, or else about the first. `program` is what
/// to ask for help: "weft-bench", "weft-model phase".
std::string unknown_argument(const CLI::App& app, const std::vector<std::string>& extras,
                             const std::string& program);

}  // namespace weft::bench
