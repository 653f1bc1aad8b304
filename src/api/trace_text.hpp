// Timelines as text in Chrome's trace format, which Perfetto opens: a process for each plan, in it a lane for
// each rank, or two where operations are on streams.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "design/design.hpp"
#include "exec/trace.hpp"

namespace weft {

/// What a trace says of a plan, alike on all ranks.
struct TracedPlan {
  int number = 1;
  std::string title;                               ///< of its problem
  bool streams = false;                            ///< whether operations are on streams of a device
  std::array<std::vector<std::string>, 2> stages;  ///< by direction: what each stage does, "fft axis 0, 1"
};

TracedPlan traced_plan(int number, const std::string& title, const Design& design, bool streams);

struct TracedRank {
  int rank = 0;
  int stands_for = 1;  ///< ranks that do the same, itself included, and have no lanes of their own
};

/// The events of a rank, JSON objects without line breaks: the names of its lanes, the printed plan `text`
/// unless that is empty, executions and their operations. Times are in seconds since the zero of the trace.
/// Empty operations are left out.
std::vector<std::string> trace_events(const TracedPlan& plan, const TracedRank& rank, const std::string& text,
                                      std::span<const TracedOperation> operations);

/// A trace with these events is `trace_begin`, the events with `trace_between` between them, and `trace_end`.
inline constexpr const char *trace_begin = "{\"traceEvents\":[\n", *trace_between = ",\n",
                            *trace_end = "\n],\"displayTimeUnit\":\"ms\"}\n";

}  // namespace weft
