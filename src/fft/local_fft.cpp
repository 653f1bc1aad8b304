#include "fft/local_fft.hpp"

#include "weft/error.hpp"

namespace weft {

std::span<const FftRow> fft_table() {
#ifdef WEFT_WITH_FFTW
  static const FftRow table[] = {fftw_row()};
  return table;
#else
  return {};
#endif
}

const FftRow& find_fft(const std::string& name) {
  std::string names = "auto";
  for (const FftRow& row : fft_table()) {
    if (name == "auto" || name == row.name) return row;
    names += std::string(", ") + row.name;
  }
  if (name == "auto")
    throw Error("plan: option fft", "a build of Weft without any local FFT library", "a build with FFTW");
  throw Error("plan: option fft", "\"" + name + "\"", "one of " + names);
}

}  // namespace weft
