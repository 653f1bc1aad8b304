// FFTW as local FFT. One guru plan does any axes of any strided box, r2c included. FFTW's planner is not
// thread-safe: all planning and destroying happens under one lock, and FFTW is told to lock its planner
// against the user's own calls as well. Equal problems share a plan, so that two plans of the same problem
// compute bitwise the same.
#include <fftw3.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "fft/local_fft.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

template <class Real>
struct Fftw;

template <>
struct Fftw<double> {
  using Plan = fftw_plan;
  using Complex = fftw_complex;
  using Dim = fftw_iodim64;
  static constexpr auto c2c = fftw_plan_guru64_dft;
  static constexpr auto r2c = fftw_plan_guru64_dft_r2c;
  static constexpr auto c2r = fftw_plan_guru64_dft_c2r;
  static constexpr auto run_c2c = fftw_execute_dft;
  static constexpr auto run_r2c = fftw_execute_dft_r2c;
  static constexpr auto run_c2r = fftw_execute_dft_c2r;
  static constexpr auto destroy = fftw_destroy_plan;
  static constexpr auto allocate = fftw_malloc;
  static constexpr auto release = fftw_free;
  static constexpr auto make_thread_safe = fftw_make_planner_thread_safe;
};

template <>
struct Fftw<float> {
  using Plan = fftwf_plan;
  using Complex = fftwf_complex;
  using Dim = fftwf_iodim64;
  static constexpr auto c2c = fftwf_plan_guru64_dft;
  static constexpr auto r2c = fftwf_plan_guru64_dft_r2c;
  static constexpr auto c2r = fftwf_plan_guru64_dft_c2r;
  static constexpr auto run_c2c = fftwf_execute_dft;
  static constexpr auto run_r2c = fftwf_execute_dft_r2c;
  static constexpr auto run_c2r = fftwf_execute_dft_c2r;
  static constexpr auto destroy = fftwf_destroy_plan;
  static constexpr auto allocate = fftwf_malloc;
  static constexpr auto release = fftwf_free;
  static constexpr auto make_thread_safe = fftwf_make_planner_thread_safe;
};

std::mutex& planner_mutex() {
  static std::mutex mutex;
  return mutex;
}

unsigned flags_of(const FftProblem& p) {
  unsigned flags = p.effort == Effort::patient   ? FFTW_PATIENT
                   : p.effort == Effort::measure ? FFTW_MEASURE
                                                 : FFTW_ESTIMATE;
  flags |= p.may_destroy_input ? FFTW_DESTROY_INPUT : FFTW_PRESERVE_INPUT;
  if (!p.aligned) flags |= FFTW_UNALIGNED;
  return flags;
}

/// Elements from the first to one past the last of one side.
std::size_t elements(const FftProblem& p, Index FftDimension::*stride, bool complex_side) {
  Index last = 0;
  for (const FftDimension& d : p.loops) last += (d.n - 1) * (d.*stride);
  for (std::size_t i = 0; i < p.dimensions.size(); ++i) {
    const FftDimension& d = p.dimensions[i];
    const Index n = p.real && complex_side && i + 1 == p.dimensions.size() ? d.n / 2 + 1 : d.n;
    last += (n - 1) * (d.*stride);
  }
  return static_cast<std::size_t>(last) + 1;
}

template <class Real>
class FftwPlan final : public LocalFft {
 public:
  using F = Fftw<Real>;
  using Complex = typename F::Complex;

  explicit FftwPlan(const FftProblem& p) : problem_(p) {
    const bool forward = p.direction == Direction::forward;
    const std::size_t from_size = (p.real && forward ? 1u : 2u) * sizeof(Real) *
                                  elements(p, &FftDimension::from_stride, !(p.real && forward));
    const std::size_t to_size = (p.real && !forward ? 1u : 2u) * sizeof(Real) *
                                elements(p, &FftDimension::to_stride, !(p.real && !forward));
    // Planning beyond estimate runs candidates on real memory.
    const bool touches = p.effort != Effort::estimate;
    void* from = F::allocate(touches ? std::max(from_size, p.in_place ? to_size : 0) : 64);
    void* to = p.in_place ? from : F::allocate(touches ? to_size : 64);
    plan_ = from != nullptr && to != nullptr ? make(from, to) : nullptr;
    if (!p.in_place) F::release(to);
    F::release(from);
    if (plan_ == nullptr)
      throw Error("plan: local FFT",
                  "FFTW made no plan for a transform of " + std::to_string(p.dimensions.size()) + " axes",
                  "memory for planning, or another back end");
  }

  ~FftwPlan() override {
    const std::lock_guard lock(planner_mutex());
    F::destroy(plan_);
  }

  void execute(void* from, void* to) const override {
    if (!problem_.real) {
      F::run_c2c(plan_, static_cast<Complex*>(from), static_cast<Complex*>(to));
    } else if (problem_.direction == Direction::forward) {
      F::run_r2c(plan_, static_cast<Real*>(from), static_cast<Complex*>(to));
    } else {
      F::run_c2r(plan_, static_cast<Complex*>(from), static_cast<Real*>(to));
    }
  }

 private:
  using Dims = std::vector<typename F::Dim>;

  static Dims dims(const std::vector<FftDimension>& from) {
    Dims to;
    for (const FftDimension& d : from) to.push_back({d.n, d.from_stride, d.to_stride});
    return to;
  }

  typename F::Plan make(void* from, void* to) const {
    const Dims d = dims(problem_.dimensions), l = dims(problem_.loops);
    const int nd = static_cast<int>(d.size()), nl = static_cast<int>(l.size());
    const unsigned flags = flags_of(problem_);
    const bool forward = problem_.direction == Direction::forward;
    if (!problem_.real)
      return F::c2c(nd, d.data(), nl, l.data(), static_cast<Complex*>(from), static_cast<Complex*>(to),
                    forward ? FFTW_FORWARD : FFTW_BACKWARD, flags);
    if (forward)
      return F::r2c(nd, d.data(), nl, l.data(), static_cast<Real*>(from), static_cast<Complex*>(to), flags);
    return F::c2r(nd, d.data(), nl, l.data(), static_cast<Complex*>(from), static_cast<Real*>(to), flags);
  }

  FftProblem problem_;
  typename F::Plan plan_ = nullptr;
};

std::shared_ptr<const LocalFft> plan(const FftProblem& problem) {
  static std::map<FftProblem, std::weak_ptr<const LocalFft>> known;
  std::shared_ptr<const LocalFft> made;  // outlives the lock, which its destruction would take again
  const std::lock_guard lock(planner_mutex());
  static const bool once = [] {
    Fftw<double>::make_thread_safe();
    Fftw<float>::make_thread_safe();
    return true;
  }();
  static_cast<void>(once);
  std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<const LocalFft>& slot = known[problem];
  made = slot.lock();
  if (!made) {
    if (problem.precision == Precision::float64) {
      made = std::make_shared<FftwPlan<double>>(problem);
    } else {
      made = std::make_shared<FftwPlan<float>>(problem);
    }
    slot = made;
  }
  return made;
}

}  // namespace

FftRow fftw_row() {
  return {"fftw", plan};
}

}  // namespace weft
