// Whether a plan that was tuned still takes the time that it took. Which executions are measured follows from
// how many there were and from earlier times, so that ranks that are given equal times measure the same ones.
#pragma once

#include <array>

namespace weft {

class Drift {
 public:
  /// What counts is a time that differs by more than this factor, three times in a row.
  explicit Drift(double factor = 1.3) : factor_(factor) {}

  /// What an execution takes in a direction (0 forward, 1 backward). If it is not said, or 0, the first that
  /// is measured says it.
  void expect(int way, double seconds);
  /// Counts an execution. Whether it is to be measured: while times stay as they are ever fewer are, from one
  /// in 8 to one in 256 of a direction.
  bool begin(int way);
  /// What it took; 0: that says nothing. True: three in a row took longer, so that it is worth while to look
  /// again. Three that took less are what is expected from then on.
  bool executed(int way, double seconds);

 private:
  struct Way {
    double expected = 0, largest = 0;
    int spacing = 8, until = 8;
    int longer = 0, shorter = 0;  ///< in a row
  };

  std::array<Way, 2> ways_;
  double factor_;
};

}  // namespace weft
