// Wisdom: what planning has found out by trying, kept so that it is not tried again. A plain value, with a
// JSON text for files and for other ranks. wisdom_store.hpp has the wisdom of a process, wisdom_file.hpp its
// file. Machines (machine.hpp) and problems are keys without further meaning here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "weft/explanation.hpp"

namespace weft {

/// The options found for one problem.
struct WisdomEntry {
  std::map<std::string, std::string> options;  ///< name of an option -> value: "pipeline" -> "windowed"
  double seconds = 0;                          ///< of an execution, on the slowest rank
  int trials = 0;                              ///< candidates that were timed
  double budget = 0;  ///< in seconds, if the search ended for lack of time; 0: it was complete
  std::vector<Candidate> candidates = {};  ///< what was tried, the found one first
  friend bool operator==(const WisdomEntry&, const WisdomEntry&) = default;
};

template <class Value>
using ByName = std::map<std::string, Value>;
template <class Value>
using ByMachine = ByName<ByName<Value>>;

class Wisdom {
 public:
  std::optional<WisdomEntry> find(const std::string& machine, const std::string& problem) const;
  /// Replaces the entry of the problem. Throws `weft::Error` if its seconds or budget are no valid time.
  void remember(const std::string& machine, const std::string& problem, const WisdomEntry& entry);

  /// A measured constant of a machine, such as the speed of its memory.
  std::optional<double> constant(const std::string& machine, const std::string& name) const;
  /// Throws `weft::Error` for a value that is not finite.
  void remember_constant(const std::string& machine, const std::string& name, double value);

  /// Descriptions of machines (model/machine_json.hpp), by hardware and placement of the ranks that measured
  /// them.
  const ByName<std::string>& descriptions() const { return descriptions_; }
  /// Throws `weft::Error` for text that is no JSON.
  void remember_description(const std::string& machine, const std::string& json);

  /// The wisdom of a local FFT library, in its own format; `library` names machine, library and precision.
  std::optional<std::string> library(const std::string& library) const;
  void remember_library(const std::string& library, const std::string& text);

  /// Adds `other`. Of two entries for one problem the faster one stays, with the larger budget of the two; of
  /// two constants or descriptions that of `other`; wisdom of libraries is merged.
  void merge(const Wisdom& other);

  /// The part that concerns a machine, and the libraries and descriptions of its `hardware` (see `Machine`).
  Wisdom of(const std::string& machine, const std::string& hardware) const;

  bool empty() const {
    return problems_.empty() && constants_.empty() && libraries_.empty() && descriptions_.empty();
  }
  friend bool operator==(const Wisdom&, const Wisdom&) = default;

  /// JSON text; equal wisdom gives equal text.
  std::string to_json() const;
  /// Throws `weft::Error` for text that is no wisdom, is damaged, or is from a newer version.
  static Wisdom from_json(const std::string& text);

 private:
  ByMachine<WisdomEntry> problems_;
  ByMachine<double> constants_;
  ByName<std::string> libraries_;
  ByName<std::string> descriptions_;
};

/// The result of reading text that should be wisdom.
struct WisdomText {
  enum class Kind {
    nothing,  ///< empty, or a file that does not exist
    wisdom,
    damaged,    ///< wisdom that is incomplete or invalid
    foreign,    ///< something else
    newer,      ///< wisdom that a later version of Weft wrote
    unreadable  ///< a file that this process may not read
  };
  Kind kind = Kind::nothing;
  Wisdom wisdom;
  std::string why;  ///< what is wrong, if anything is
};

WisdomText read_wisdom_text(const std::string& text);

}  // namespace weft
