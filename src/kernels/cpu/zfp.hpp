// Codecs zfp and zfp-accuracy, by libzfp, which is opened when a plan first needs it: neither building nor
// starting Weft requires it. The types and functions of it are declared anew where they are used.
//
// A block of 64 reals is divided by a power of two, as in the other codecs, so that numbers of any size are
// in the range that libzfp serves. Its real and its imaginary parts are coded one behind the other, in fours
// of neighbours along the row. With a fixed rate each four has the same number of bits, so that any of them
// is found; with a fixed accuracy a block has a length (codec/varying.hpp), and is decoded as a whole. A
// head's check sum is that of the 32-bit words of the payload, and of its length.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "codec/block.hpp"
#include "kernels/cpu/rows.hpp"

namespace weft {

namespace zfp {
struct BitStream;  ///< of libzfp
struct Stream;     ///< of libzfp

/// Why libzfp cannot be used in this process; empty if it can. The first call looks for it and opens it.
const std::string& missing();
}  // namespace zfp

enum class ZfpMode : std::uint8_t { rate, accuracy };

/// What one thread needs to code blocks: objects of the library on memory that they read and write. Coding
/// allocates nothing.
class ZfpStream {
 public:
  /// Throws `weft::Error` if libzfp is missing.
  ZfpStream();

  /// As the blocks of other codecs (codec/scaled.hpp). With a fixed accuracy any piece of a block is checked.
  template <class Real>
  codec::Outcome encode(ZfpMode mode, const Real* reals, int n, const RowManner& manner, codec::Head* head,
                        std::byte* payload);
  template <class Real>
  codec::Outcome decode(ZfpMode mode, const codec::Head& head, const std::byte* payload, int n, int first,
                        int last, const RowManner& manner, Real* reals);

 private:
  template <class Real>
  void use(ZfpMode mode, int bits);
  template <class Real>
  codec::Outcome decode_at_rate(const codec::Head& head, const std::byte* payload, int n, int first, int last,
                                const RowManner& manner, Real* reals);
  template <class Real>
  codec::Outcome decode_varying(const codec::Head& head, const std::byte* payload, int n, int first, int last,
                                const RowManner& manner, Real* reals);

  /// The payload of a block, without its length; of the highest rate or accuracy.
  std::unique_ptr<std::array<std::uint64_t, codec::block_reals>> words_;
  std::unique_ptr<zfp::BitStream, void (*)(zfp::BitStream*)> bits_;
  std::unique_ptr<zfp::Stream, void (*)(zfp::Stream*)> stream_;
  // What the stream is set to.
  ZfpMode mode_ = ZfpMode::rate;
  int bits_of_mode_ = 0, real_bytes_ = 0;
};

/// One for each of so many threads.
using ZfpStreams = std::vector<ZfpStream>;

}  // namespace weft
