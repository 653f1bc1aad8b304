// A local transform on a stream that is longer along some axes than its arrays, or that is followed by an
// operator and its own inverse: the blocks of threads/resized_fft.hpp, of a size that keeps a GPU busy, with
// the FFTs, copies and element steps of the device.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "device/device.hpp"
#include "fft/blocks/resized_blocks.hpp"
#include "fft/stream_fft.hpp"

namespace weft {

class ResizedCalls final : public StreamFft {
 public:
  /// Plans on the device, which the thread has entered, in blocks of so many bytes of work memory as far as
  /// loops can be cut. Throws `weft::Error`.
  ResizedCalls(const ResizedProblem& problem, std::span<const FftRow* const> rows, Device& device,
               Index block_bytes);

  std::size_t work_bytes() const override { return fft_work_ + fft_bytes_; }
  void enqueue(DeviceStream& stream, std::byte* from, std::byte* to, std::byte* work,
               const FftContext& context) override;
  /// The library that does the transforms; that of the first of them, should they differ.
  const FftRow& row() const { return *row_; }

 private:
  struct Lines {
    std::shared_ptr<StreamFft> fft;
    BlockPlace from, to;
  };
  struct Copy {
    DeviceCopy copy;
    BlockPlace from, to;
  };
  struct Elements {
    ElementStep step;
    Index offset;  ///< in work memory, in bytes
  };
  struct Columns {
    CopyColumns step;
    BlockPlace user;
    Index offset;   ///< of work memory, in bytes
    bool by_block;  ///< the columns are those from the block's index on
  };
  struct Operation {
    OperatorStep step;
    std::vector<Elements> before, after;  ///< what its factors ask for
    std::vector<Elements> cleared;        ///< results, where there is no operator
  };
  struct Mirror {
    MirrorModes step;
    BlockPlace from, to;
    int only_at_zero;
  };
  using Step = std::variant<Lines, Copy, Elements, Mirror, Columns, Operation>;
  /// What a block is done with.
  struct Run {
    DeviceStream& stream;
    std::byte *from, *to, *work;
    const FftContext& context;
    const Shape& at;  ///< where the block begins, from where the call does
  };

  void bind(const LinesStep& step, std::span<const FftRow* const> rows, Device& device);
  void bind(const CopyStep& step);
  void bind(const ZeroStep& step);
  void bind(const NyquistStep& step);
  void bind(const MirrorStep& step);
  void bind(const ColumnsStep& step, Device& device);
  void bind(const OperatorStep& step);
  std::byte* address(const BlockPlace& place, const Run& run) const;
  void run(const Lines& step, const Run& run) const;
  void run(const Copy& step, const Run& run) const;
  void run(const Elements& step, const Run& run) const;
  void run(const Mirror& step, const Run& run) const;
  void run(const Columns& step, const Run& run) const;
  void run(const Operation& step, const Run& run) const;

  Precision precision_;
  std::vector<LikeBlocks> blocks_;        ///< without their steps
  std::vector<std::vector<Step>> steps_;  ///< which are here
  std::map<FftProblem, std::shared_ptr<StreamFft>> planned_;
  std::vector<std::shared_ptr<std::byte>> columns_;  ///< tables of `DeviceColumn` on the device
  std::size_t fft_work_ = 0;  ///< where the FFTs' own work memory begins, behind that of a block
  std::size_t fft_bytes_ = 0;
  const FftRow* row_;  ///< unless it is known, the first one
  bool has_row_ = false;
};

}  // namespace weft
