// What was asked for: every option of a plan, parsed once, with who chose it. Nothing behind this parses the
// text of an option again. The table of options (api/options.cpp) fills a `Wishes`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/effort.hpp"
#include "codec/codec.hpp"
#include "program/pipeline.hpp"
#include "schedule/planner.hpp"
#include "traffic/rail_settings.hpp"

namespace weft {

/// Who chose a value.
enum class Origin : std::uint8_t {
  rule,         ///< nobody but Weft
  option,       ///< the program, by `Options`
  environment,  ///< a variable
  wisdom,
  trial,
  model,   ///< as it is predicted to be the fastest
  online,  ///< as executions of the plan have found
};
const char* name_of(Origin origin);

template <class T>
struct Wish {
  T value{};
  Origin origin = Origin::rule;

  /// Wisdom, trials and predictions choose among what the user leaves open.
  bool learnt() const {
    return origin == Origin::wisdom || origin == Origin::trial || origin == Origin::model ||
           origin == Origin::online;
  }
  /// Why a value other than "auto" was chosen, as printed plans say it.
  std::string reason() const { return learnt() ? name_of(origin) : "as asked for"; }
};

enum class Switch : std::uint8_t { automatic, on, off };
enum class LayoutWish : std::uint8_t { automatic, contiguous, strided };
enum class Puts : std::uint8_t { automatic, kernel, engine };

struct Wishes {
  Wish<Decomposition> decomposition;
  Wish<AxisVector<int>> grid;  ///< empty: auto
  Wish<std::optional<Index>> shrink;
  Wish<FftStage> fft_stage;
  Wish<std::string> pipeline;  ///< a name, or "auto"
  Wish<bool> overlap;
  Wish<std::vector<std::string>> exchange;    ///< one for all reshapes, or one for each; each may be "auto"
  Wish<std::vector<Codec>> codec{{Codec()}};  ///< one for all reshapes, or one for each
  Wish<std::optional<double>> tolerance;      ///< relative error of the output
  Wish<std::string> rails{RailSettings().rails};
  Wish<Index> chunk{RailSettings().chunk};
  Wish<int> in_flight{RailSettings().in_flight};
  Wish<int> barrier{RailSettings().barrier};
  Wish<double> rebalance{RailSettings().rebalance};
  Wish<OneSided> one_sided;
  Wish<Switch> staging;
  Wish<LayoutWish> layout;
  Wish<Puts> puts;
  Wish<Switch> graph;
  Wish<std::string> fft;
  Wish<Effort> effort;
  Wish<std::optional<Effort>> fft_effort;  ///< of local FFTs; none: as `effort`
  Wish<Index> trials;
  Wish<std::optional<double>> budget;  ///< seconds
  Wish<Index> online{20};              ///< executions that may try
  Wish<bool> random_search;
  Wish<std::string> wisdom;   ///< a file, or empty
  Wish<std::string> machine;  ///< a file, "none", or empty: what wisdom has
  Wish<std::string> trace;    ///< a file, or empty
  Wish<Index> threads{1};
  Wish<bool> users_workspace;
  Wish<bool> collective_check;
  PipelineParameters parameters;  ///< those that are set

  /// What trials may take.
  double trial_seconds() const { return budget.value.value_or(effort.value == Effort::patient ? 60 : 10); }
  /// What the local FFT library may try.
  Effort effort_of_ffts() const {
    return fft_effort.value.value_or(makes_trials(effort.value) ? effort.value : Effort::estimate);
  }
  bool any_codec() const {
    return std::any_of(codec.value.begin(), codec.value.end(), [](const Codec& c) { return bool(c); });
  }
  bool any_varying_codec() const {
    return std::any_of(codec.value.begin(), codec.value.end(),
                       [](const Codec& c) { return c && c.row->varies; });
  }
  /// Whether fewer ranks may compute if that is faster.
  bool may_shrink() const { return !shrink.value && shrink.origin != Origin::rule; }
  /// Whether the codec is free within the tolerance.
  bool may_code() const { return tolerance.value && codec.origin == Origin::rule; }
  /// Whether nothing that was asked for needs one exchange rather than another.
  bool any_exchange() const {
    return std::all_of(exchange.value.begin(), exchange.value.end(),
                       [](const std::string& name) { return name == "auto"; });
  }
};

}  // namespace weft
