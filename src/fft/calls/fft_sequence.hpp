// A transform on a stream as operations one after the other: copies, steps of DCTs and DSTs, and transforms
// that have a plan of their own.
#pragma once

#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "fft/calls/cufft_calls.hpp"
#include "fft/stream_fft.hpp"

namespace weft {

/// Plans one call of the library.
using MakeCallPlan = std::function<std::shared_ptr<StreamFft>(const CufftCall& call)>;

class FftSequence final : public StreamFft {
 public:
  /// Where an operation reads or writes: the transform's input, its output, or its work memory ("aside").
  struct Place {
    enum class Array { input, output, aside } array;
    Index offset;  ///< bytes
  };
  static constexpr Place input{Place::Array::input, 0}, output{Place::Array::output, 0};
  using What = std::variant<DeviceCopy, R2rStep, std::shared_ptr<StreamFft>>;

  /// So many bytes of work memory, which no other operation uses.
  Place reserve(Index bytes);

  /// An operation that is repeated for every index of `loops`, whose strides are in bytes.
  void add(What what, Place read, Place written, std::vector<FftDimension> loops = {});

  std::size_t work_bytes() const override { return aside_bytes_ + fft_bytes_; }
  void enqueue(DeviceStream& stream, std::byte* from, std::byte* to, std::byte* work,
               const FftContext& context) override;

 private:
  struct Operation {
    What what;
    Place read, written;
    std::vector<FftDimension> loops;
  };

  std::vector<Operation> operations_;
  std::size_t aside_bytes_ = 0;
  std::size_t fft_bytes_ = 0;  ///< the most work memory of an operation, behind what is reserved
};

}  // namespace weft
