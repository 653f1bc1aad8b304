// The file of a trace. Ranks add to it one by one, each when it destroys a plan and without a word to the
// others: under a lock, and so that the file is complete after each of them (docs/adr/0029).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// Opened and locked for the lifetime of an object, which is to be short. All functions throw `weft::Error`.
class TraceFile {
 public:
  /// Waits for the lock. A file that is not there is made.
  explicit TraceFile(std::string name);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  /// Begins the file anew, unless this program has done so: the file is this program's if this process has
  /// used it, or if it was changed since this process began. Returns the zero of its times.
  double begin_or_continue();
  /// The same of a rank that knows the zero of the file of rank 0, be that the same file or one of the same
  /// name on another machine.
  void begin_or_continue_at(double zero);
  /// The number of one more plan, from 1.
  int count_plan();

  /// Adds JSON objects.
  void add(const std::vector<std::string>& events);

 private:
  /// What the file begins with.
  struct Head {
    double zero = 0;  ///< in seconds since 1970
    int plans = 0;
  };

  void begin(double zero);
  /// Nothing if something else is there.
  std::optional<Head> head() const;
  void write_head(const Head& head) const;
  void write(const std::string& text, std::size_t position) const;
  /// Fewer bytes where the file ends.
  std::string read(std::size_t bytes, std::size_t position) const;
  std::size_t size() const;
  [[noreturn]] void fail(const std::string& why) const;

  std::string name_;
  int file_ = -1;
};

/// The time of the system's clock.
double seconds_since_1970();

}  // namespace weft
