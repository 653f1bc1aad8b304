#include "fft/fftw/wisdom.hpp"

#include <cstdlib>
#include <memory>
#include <new>

#include "fft/fftw/names.hpp"

namespace weft::fftw {

namespace {

template <class Real>
std::string exported() {
  const std::unique_ptr<char, decltype(&std::free)> text(Fftw<Real>::export_wisdom(), &std::free);
  if (text == nullptr) throw std::bad_alloc();
  const std::string all = text.get();
  // A head and a bracket are left if FFTW knows nothing.
  return all.find("\n  (") == std::string::npos ? "" : all;
}

}  // namespace

std::mutex& planner_mutex() {
  static std::mutex mutex;
  return mutex;
}

std::string export_wisdom(Precision precision) {
  const std::lock_guard lock(planner_mutex());
  return precision == Precision::float64 ? exported<double>() : exported<float>();
}

bool import_wisdom(Precision precision, const std::string& text) {
  const std::lock_guard lock(planner_mutex());
  const auto take =
      precision == Precision::float64 ? Fftw<double>::import_wisdom : Fftw<float>::import_wisdom;
  return take(text.c_str()) != 0;
}

void forget_wisdom() {
  const std::lock_guard lock(planner_mutex());
  Fftw<double>::forget_wisdom();
  Fftw<float>::forget_wisdom();
}

}  // namespace weft::fftw
