// DCTs and DSTs by a library that knows complex FFTs: axis by axis, a kernel takes the whole array to dense
// complex lines aside, one call of the library transforms these in place, and a kernel takes them back,
// scaled. Which kernels and calls is pure data, computed from the problem.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "fft/embedded_fft.hpp"

namespace weft {

/// What is done for one axis.
struct EmbeddedR2r {
  R2rStep before;
  std::optional<EmbeddedCall> call;  ///< none for lines of one point
  R2rStep after;
  Index elements = 0;  ///< complex numbers aside
};

/// The axes of a problem of kind r2r, one after the other: the first one reads what the problem reads, the
/// others are in place on what it writes.
std::vector<EmbeddedR2r> embed_r2r(const FftProblem& problem);

class R2rStreamFft final : public StreamFft {
 public:
  R2rStreamFft(const FftProblem& problem, const MakeEmbeddedPlan& make);

  std::size_t work_bytes() const override { return aside_bytes_ + call_bytes_; }
  void enqueue(DeviceStream& stream, std::byte* from, std::byte* to, std::byte* work) override;

 private:
  struct Axis {
    R2rStep before, after;
    std::shared_ptr<EmbeddedPlan> plan;
  };

  std::vector<Axis> axes_;
  std::size_t aside_bytes_ = 0, call_bytes_ = 0;
};

}  // namespace weft
