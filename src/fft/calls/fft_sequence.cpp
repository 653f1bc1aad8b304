#include "fft/calls/fft_sequence.hpp"

#include <algorithm>
#include <utility>

#include "fft/loops.hpp"

namespace weft {

FftSequence::Place FftSequence::reserve(Index bytes) {
  const Place place{Place::Array::aside, static_cast<Index>(aside_bytes_)};
  aside_bytes_ += work_aligned(bytes);
  return place;
}

void FftSequence::add(What what, Place read, Place written, std::vector<FftDimension> loops) {
  if (const auto* fft = std::get_if<std::shared_ptr<StreamFft>>(&what))
    fft_bytes_ = std::max(fft_bytes_, (*fft)->work_bytes());
  operations_.push_back({std::move(what), read, written, std::move(loops)});
}

void FftSequence::enqueue(DeviceStream& stream, std::byte* from, std::byte* to, std::byte* work,
                          const FftContext& context) {
  const auto address = [&](const Place& place) {
    std::byte* const start = place.array == Place::Array::input    ? from
                             : place.array == Place::Array::output ? to
                                                                   : work;
    return start + place.offset;
  };
  for (const Operation& operation : operations_)
    for_each_index(operation.loops, address(operation.read), address(operation.written),
                   [&](std::byte* read, std::byte* written) {
                     if (const auto* copy = std::get_if<DeviceCopy>(&operation.what)) {
                       stream.permute(written, read, *copy);
                     } else if (const auto* step = std::get_if<R2rStep>(&operation.what)) {
                       stream.r2r(written, read, *step);
                     } else {
                       std::get<std::shared_ptr<StreamFft>>(operation.what)
                           ->enqueue(stream, read, written, work + aside_bytes_, context);
                     }
                   });
}

}  // namespace weft
