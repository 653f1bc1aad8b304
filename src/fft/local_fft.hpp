// The local FFT: somebody else's library behind one call. A back end is one row of a table; plans are shared
// between all that ask for the same transform, and made under the lock that the library asks for.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "weft/plan_types.hpp"
#include "weft/problem.hpp"

namespace weft {

enum class Effort { estimate, measure, patient };

struct FftDimension {
  Index n, from_stride, to_stride;
  friend auto operator<=>(const FftDimension&, const FftDimension&) = default;
};

/// One local transform, up to where the data lie. Strides are in elements of their side.
struct FftProblem {
  Precision precision = Precision::float64;
  bool real = false;  ///< r2c forward, c2r backward, along the last of `dimensions`
  Direction direction = Direction::forward;
  bool in_place = false;
  bool may_destroy_input = true;
  bool aligned = true;  ///< both sides start on multiples of 16 bytes at every execution
  Effort effort = Effort::estimate;
  std::vector<FftDimension> dimensions, loops;
  friend auto operator<=>(const FftProblem&, const FftProblem&) = default;
};

/// A planned transform; may be executed by several threads at once, on different arrays.
class LocalFft {
 public:
  virtual ~LocalFft() = default;
  virtual void execute(void* from, void* to) const = 0;
};

struct FftRow {
  const char* name;
  /// Throws `weft::Error` if the library cannot do it.
  std::shared_ptr<const LocalFft> (*plan)(const FftProblem& problem);
};

/// The back ends of this build, the preferred first.
std::span<const FftRow> fft_table();

/// The named back end, or with "auto" the first. Throws `weft::Error` that lists the names.
const FftRow& find_fft(const std::string& name);

FftRow fftw_row();

}  // namespace weft
