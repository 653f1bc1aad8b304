#include "fft/local_fft.hpp"

#include "weft/error.hpp"

namespace weft {

std::span<const FftRow> fft_table() {
#if defined(WEFT_WITH_FFTW) && defined(WEFT_WITH_MKL)
  static const FftRow table[] = {fftw_row(), mkl_row()};
  return table;
#elif defined(WEFT_WITH_FFTW)
  static const FftRow table[] = {fftw_row()};
  return table;
#elif defined(WEFT_WITH_MKL)
  static const FftRow table[] = {mkl_row()};
  return table;
#else
  return {};
#endif
}

std::vector<const FftRow*> find_ffts(const std::string& name) {
  constexpr const char* operation = "plan: option fft";
  if (name == "auto" && fft_table().empty())
    throw Error(operation, "a build of Weft without any local FFT library", "a build with FFTW or MKL");
  std::vector<const FftRow*> usable;
  std::string names = "auto", why, why_named;
  for (const FftRow& row : fft_table()) {
    const std::string missing = row.missing();
    if (missing.empty()) {
      // The others serve what the named one cannot do.
      usable.insert(name == row.name ? usable.begin() : usable.end(), &row);
      names += std::string(", ") + row.name;
    } else {
      why += std::string(why.empty() ? "" : "; ") + row.name + ": " + missing;
      if (name == row.name) why_named = missing;
    }
  }
  if (!why_named.empty()) throw Error(operation, name + ": " + why_named, "one of " + names);
  if (usable.empty()) throw Error(operation, "no local FFT library that can be used: " + why, "FFTW or MKL");
  if (name != "auto" && name != usable.front()->name)
    throw Error(operation, "\"" + name + "\"", "one of " + names);
  return usable;
}

PlannedFft plan_fft(std::span<const FftRow* const> rows, const FftProblem& problem) {
  std::string why;
  for (const FftRow* row : rows) {
    const std::string unable = row->unable(problem);
    if (unable.empty()) return {row->plan(problem), row};
    why += std::string(why.empty() ? "" : "; ") + row->name + ": " + unable;
  }
  throw Error("plan: local FFT", why.empty() ? "no local FFT library" : why,
              "a back end that can do the transform");
}

}  // namespace weft
