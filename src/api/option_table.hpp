// The options of a plan as text: from their names and values to wishes, and what wisdom and trials may do
// with them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "design/wishes.hpp"
#include "weft/options.hpp"

namespace weft {

/// Every option, parsed: as wisdom or trials have found, else as the program has set it, else from the
/// environment, else the default. Throws `weft::Error` for values in the environment that do not exist.
Wishes wishes_of(const Options& options, const std::map<std::string, std::string>& learnt = {},
                 Origin learnt_by = Origin::trial);

/// Throws `weft::Error` unless wisdom or trials may set these options: all of them exist, have such a value,
/// change only how fast a plan is, and are at their defaults in `options`.
void check_learnt(const Options& options, const std::map<std::string, std::string>& learnt);

/// Whether trials, predictions and wisdom may choose the value of an option.
bool is_left_open(const Options& options, const std::string& name);

/// "option NAME VALUE" for every option; with `of_problem` only for those that have a value and on which the
/// fastest choices depend.
std::vector<std::string> describe(const Options& options, bool of_problem = false);

}  // namespace weft
