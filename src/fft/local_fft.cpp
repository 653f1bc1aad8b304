#include "fft/local_fft.hpp"

#include <atomic>

#include "weft/error.hpp"

namespace weft {

namespace {
std::atomic<const FftRow*> device_fft{nullptr};

/// The rows of the table for one kind of memory.
std::vector<const FftRow*> rows_for(MemoryKind memory) {
  std::vector<const FftRow*> rows;
  const FftRow* replacement = device_fft.load(std::memory_order_acquire);
  if (memory != MemoryKind::host && replacement != nullptr) return {replacement};
  for (const FftRow& row : fft_table())
    if (row.memory == memory) rows.push_back(&row);
  return rows;
}

/// The first of `rows` that can do a problem. Throws `weft::Error` with the reasons if none can.
const FftRow& able(std::span<const FftRow* const> rows, const FftProblem& problem) {
  std::string why;
  for (const FftRow* row : rows) {
    const std::string unable = row->unable(problem);
    if (unable.empty()) return *row;
    why += std::string(why.empty() ? "" : "; ") + row->name + ": " + unable;
  }
  throw Error("plan: local FFT", why.empty() ? "no local FFT library" : why,
              "a local FFT library that can do the transform");
}
}  // namespace

std::span<const FftRow> fft_table() {
  static const std::vector<FftRow> table{
#ifdef WEFT_WITH_FFTW
      fftw_row(),
#endif
#ifdef WEFT_WITH_MKL
      mkl_row(),
#endif
#ifdef WEFT_WITH_GPU_FFT
      gpu_fft_row(),
#endif
  };
  return table;
}

void replace_device_fft(const FftRow* row) {
  device_fft.store(row, std::memory_order_release);
}

std::vector<const FftRow*> find_ffts(const std::string& name, MemoryKind memory) {
  constexpr const char* operation = "plan: option fft";
  const std::vector<const FftRow*> rows = rows_for(memory);
  const std::string wanted = memory == MemoryKind::host ? "FFTW or MKL" : "cuFFT or hipFFT";
  if (name == "auto" && rows.empty())
    throw Error(operation, "a build of Weft without any local FFT library", "a build with " + wanted);
  std::vector<const FftRow*> usable;
  std::string names = "auto", why, why_named;
  for (const FftRow* row : rows) {
    const std::string missing = row->missing();
    if (missing.empty()) {
      // The named library comes first; the others do what it cannot.
      usable.insert(name == row->name ? usable.begin() : usable.end(), row);
      names += std::string(", ") + row->name;
    } else {
      why += std::string(why.empty() ? "" : "; ") + row->name + ": " + missing;
      if (name == row->name) why_named = missing;
    }
  }
  if (!why_named.empty()) throw Error(operation, name + ": " + why_named, "one of " + names);
  if (usable.empty()) throw Error(operation, "no local FFT library that can be used: " + why, wanted);
  if (name != "auto" && name != usable.front()->name)
    throw Error(operation, "\"" + name + "\"" + (memory == MemoryKind::host ? "" : " for memory of a GPU"),
                "one of " + names);
  return usable;
}

PlannedFft plan_fft(std::span<const FftRow* const> rows, const FftProblem& problem) {
  const FftRow& row = able(rows, problem);
  return {row.plan(problem), &row};
}

PlannedStreamFft plan_stream_fft(std::span<const FftRow* const> rows, const FftProblem& problem,
                                 Device& device) {
  const FftRow& row = able(rows, problem);
  return {row.plan_on(device, problem), &row};
}

}  // namespace weft
