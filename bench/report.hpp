// The results of the benchmark as text, as JSON with stable keys, and as a timeline in Chrome's trace format.
#pragma once

#include <string>

#include "measurement.hpp"

namespace weft::bench {

std::string text_of(const Case& c, const Measured& m);
/// docs/benchmark.md explains the keys.
std::string json_of(const Case& c, const Measured& m, int ranks, const std::string& medium);
/// The last repetition, as option trace writes executions (src/api/trace_text.hpp).
std::string trace_of(const Measured& m);

}  // namespace weft::bench
