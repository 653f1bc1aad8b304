// Wisdom: what planning has found out by trying, kept so that it is not tried again. A plain value, with a
// text form (JSON) for files and for sending it to other ranks; who holds it is in wisdom_store.hpp, its file
// in wisdom_file.hpp. Machines and problems are opaque texts here (see machine.hpp): what was found on one
// machine says nothing about another.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace weft {

/// What was found for one problem.
struct WisdomEntry {
  std::map<std::string, std::string> options;  ///< name of an option -> value: "pipeline" -> "windowed"
  double seconds = 0;                          ///< of the slowest rank, when it was found
  int trials = 0;                              ///< candidates that were timed
  double budget = 0;  ///< of a search that ended for lack of time, in seconds; 0: it came to its end
  friend bool operator==(const WisdomEntry&, const WisdomEntry&) = default;
};

class Wisdom {
 public:
  std::optional<WisdomEntry> find(const std::string& machine, const std::string& problem) const;
  /// Replaces what was known of the problem. Throws `weft::Error` for seconds that are no time.
  void remember(const std::string& machine, const std::string& problem, const WisdomEntry& entry);

  /// What was measured of a machine itself, such as the speed of its memory.
  std::optional<double> constant(const std::string& machine, const std::string& name) const;
  /// Throws `weft::Error` for a value that is not finite.
  void remember_constant(const std::string& machine, const std::string& name, double value);

  /// What a local FFT library has learnt, in its own words; `library` names machine, library and precision.
  std::optional<std::string> library(const std::string& library) const;
  void remember_library(const std::string& library, const std::string& text);

  /// Takes over what `other` knows. Of two entries of one problem the faster one stays, with the larger
  /// budget of the two; of two constants that of `other`; what a library has learnt in either is put
  /// together.
  void merge(const Wisdom& other);

  /// What concerns a machine, and, as it is `hardware`, its libraries (see `Machine`).
  Wisdom of(const std::string& machine, const std::string& hardware) const;

  bool empty() const { return problems_.empty() && constants_.empty() && libraries_.empty(); }
  friend bool operator==(const Wisdom&, const Wisdom&) = default;

  /// The same text for the same wisdom.
  std::string to_json() const;
  /// Throws `weft::Error` for text that is not wisdom, is damaged, or of a newer version.
  static Wisdom from_json(const std::string& text);

 private:
  template <class Value>
  using ByMachine = std::map<std::string, std::map<std::string, Value>>;
  ByMachine<WisdomEntry> problems_;
  ByMachine<double> constants_;
  std::map<std::string, std::string> libraries_;

  friend struct WisdomJson;
};

/// What text that should be wisdom is.
struct WisdomText {
  enum class Kind {
    nothing,  ///< empty, or a file that does not exist
    wisdom,
    damaged,    ///< once was wisdom
    foreign,    ///< something else
    newer,      ///< wisdom that a later version of Weft wrote
    unreadable  ///< a file that the system does not let us read
  };
  Kind kind = Kind::nothing;
  Wisdom wisdom;
  std::string why;  ///< what is wrong, if anything is
};

WisdomText read_wisdom_text(const std::string& text);

}  // namespace weft
