// FFTW as local FFT. One guru plan transforms any axes of any strided box, r2c included. DCTs and DSTs of
// types II and III are made of an r2c where they can be (cosines.hpp). FFTW's planner is not thread-safe:
// Weft plans and destroys under one lock, and makes FFTW lock its planner against calls of the program as
// well. FFTW cannot scale, so results are multiplied afterwards.
#include <algorithm>
#include <array>
#include <mutex>
#include <string_view>

#include "base/arithmetic.hpp"
#include "base/shared_library.hpp"
#include "fft/fftw/cosines.hpp"
#include "fft/fftw/names.hpp"
#include "fft/fftw/passes.hpp"
#include "fft/fftw/scaling.hpp"
#include "fft/fftw/wisdom.hpp"
#include "fft/local_fft.hpp"
#include "fft/shared_plans.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

/// Whether FFTW 3.3.10 may crash on a single precision transform. Its AVX code for lines of even length that
/// are contiguous in the output but not in the input ("n2bv_4_avx") stores whole vectors even if the next
/// line does not begin on a multiple of 16 bytes. The workaround is no vector code. Dense boxes have no such
/// lines and lose nothing.
bool lines_begin_anywhere(const FftProblem& p) {
  if (p.precision != Precision::float32 || p.kind == FftKind::r2r) return false;
  bool even_line = false, odd_step = false;
  // The halved axis of an r2c is no c2c line.
  const std::size_t lines = p.dimensions.size() - (p.kind == FftKind::real ? 1 : 0);
  for (std::size_t i = 0; i < lines; ++i)
    even_line = even_line || (p.dimensions[i].to_stride == 1 && p.dimensions[i].n % 2 == 0);
  for (const auto* axes : {&p.dimensions, &p.loops})
    for (const FftDimension& d : *axes)
      odd_step = odd_step || (d.to_stride != 1 && d.to_stride % 2 != 0 && d.n > 1);
  return even_line && odd_step;
}

unsigned effort_of(const FftProblem& p) {
  return p.effort == Effort::patient   ? FFTW_PATIENT
         : p.effort == Effort::measure ? FFTW_MEASURE
                                       : FFTW_ESTIMATE;
}

unsigned flags_of(const FftProblem& p) {
  unsigned flags = effort_of(p);
  flags |= p.may_destroy_input ? FFTW_DESTROY_INPUT : FFTW_PRESERVE_INPUT;
  if (!p.aligned || lines_begin_anywhere(p)) flags |= FFTW_UNALIGNED;
  return flags;
}

/// `t`: a DCT or DST.
fftw_r2r_kind kind_of(Transform t) {
  constexpr std::array kinds{FFTW_REDFT00, FFTW_REDFT10, FFTW_REDFT01, FFTW_REDFT11,
                             FFTW_RODFT00, FFTW_RODFT10, FFTW_RODFT01, FFTW_RODFT11};
  if (!is_r2r(t))
    throw Error("plan: local FFT", "a transform that is no DCT or DST",
                "one for each axis of an r2r problem");
  return at(kinds, static_cast<int>(t) - static_cast<int>(Transform::dct1));
}

template <class Real>
class FftwPlan final : public LocalFft {
 public:
  using F = Fftw<Real>;
  using Complex = typename F::Complex;

  explicit FftwPlan(const FftProblem& p) : problem_(p), scaling_(p) {
    const std::size_t from_size = span_read(p), to_size = span_written(p);
    const std::lock_guard lock(fftw::planner_mutex());
    // Planning with other efforts than estimate executes candidates, which needs memory.
    const bool touches = p.effort != Effort::estimate;
    void* from = F::allocate(touches ? std::max(from_size, p.in_place ? to_size : 0) : 64);
    void* to = p.in_place ? from : F::allocate(touches ? to_size : 64);
    {
      const PlanningLimit<Real> limit(p.planning_seconds);
      plan_ = from != nullptr && to != nullptr ? make(from, to) : nullptr;
    }
    if (!p.in_place) F::release(to);
    F::release(from);
    if (plan_ == nullptr)
      throw Error("plan: local FFT",
                  "FFTW made no plan for a transform of " + std::to_string(p.dimensions.size()) + " axes",
                  "memory for planning, or another back end");
  }

  ~FftwPlan() override {
    const std::lock_guard lock(fftw::planner_mutex());
    F::destroy(plan_);
  }

  void execute(void* from, void* to, std::byte* /*work*/) const override {
    if (problem_.kind == FftKind::c2c) {
      F::run_c2c(plan_, static_cast<Complex*>(from), static_cast<Complex*>(to));
    } else if (problem_.kind == FftKind::r2r) {
      F::run_r2r(plan_, static_cast<Real*>(from), static_cast<Real*>(to));
    } else if (problem_.direction == Direction::forward) {
      F::run_r2c(plan_, static_cast<Real*>(from), static_cast<Complex*>(to));
    } else {
      F::run_c2r(plan_, static_cast<Complex*>(from), static_cast<Real*>(to));
    }
    scaling_.run<Real>(to);
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
    if (problem_.kind == FftKind::r2r) {
      std::vector<fftw_r2r_kind> kinds;
      for (const FftDimension& dimension : problem_.dimensions) kinds.push_back(kind_of(dimension.transform));
      return F::r2r(nd, d.data(), nl, l.data(), static_cast<Real*>(from), static_cast<Real*>(to),
                    kinds.data(), flags);
    }
    if (problem_.kind == FftKind::c2c)
      return F::c2c(nd, d.data(), nl, l.data(), static_cast<Complex*>(from), static_cast<Complex*>(to),
                    forward ? FFTW_FORWARD : FFTW_BACKWARD, flags);
    if (forward)
      return F::r2c(nd, d.data(), nl, l.data(), static_cast<Real*>(from), static_cast<Complex*>(to), flags);
    return F::c2r(nd, d.data(), nl, l.data(), static_cast<Complex*>(from), static_cast<Real*>(to), flags);
  }

  FftProblem problem_;
  Scaling scaling_;
  typename F::Plan plan_ = nullptr;
};

std::shared_ptr<const LocalFft> plan(const FftProblem& problem) {
  static SharedPlans plans;
  fftw::make_ready();
  return plans.get(problem, [&]() -> std::shared_ptr<const LocalFft> {
    if (auto cosines = fftw::plan_cosines(problem, effort_of(problem) | FFTW_DESTROY_INPUT)) return cosines;
    const auto make = [](const FftProblem& p) -> std::unique_ptr<const LocalFft> {
      if (p.precision == Precision::float64) return std::make_unique<FftwPlan<double>>(p);
      return std::make_unique<FftwPlan<float>>(p);
    };
    if (auto passes = fftw::plan_in_passes(problem, make)) return passes;
    return make(problem);
  });
}

std::string unable(const FftProblem& p) {
  if (p.kind == FftKind::real && p.direction == Direction::backward && !p.in_place && !p.may_destroy_input &&
      p.dimensions.size() > 1)
    return "FFTW cannot keep the input of a c2r transform of several axes";
  return unable_r2r(p);
}

/// Why FFTW cannot be used; empty if it can. If MKL was loaded into the global scope before Weft was loaded,
/// some of FFTW's names are bound to MKL's functions (src/fft/mkl/dfti.cpp explains it), and mixing the two
/// crashes. Other libraries that wrap FFTW's functions, such as profilers, are accepted.
std::string missing() {
  const auto foreign = [](const std::string& file) {
    const auto name = file.substr(file.rfind('/') + 1);
    return name.starts_with("libmkl");
  };
  for (const std::string& file :
       {file_of(fftw_plan_guru64_dft), file_of(fftw_plan_guru64_r2r), file_of(fftw_execute_dft),
        file_of(fftw_execute), file_of(fftwf_plan_guru64_dft), file_of(fftwf_execute_dft)})
    if (foreign(file))
      return "FFTW's functions are bound to those of " + file +
             ", which was loaded into the global scope before Weft was loaded; load Weft, or FFTW, "
             "first";
  if (!std::string_view(fftw_version).starts_with("fftw-"))
    return "the library in FFTW's place calls itself \"" + std::string(fftw_version) + "\"";
  return "";
}

}  // namespace

FftRow fftw_row() {
  return {.name = "fftw",
          .missing = missing,
          .unable = unable,
          .plan = plan,
          .file = [] { return file_of(fftw_execute); },
          .version = [] { return std::string(fftw_version); },
          .export_wisdom = fftw::export_wisdom,
          .import_wisdom = fftw::import_wisdom,
          .forget_wisdom = fftw::forget_wisdom,
          .slow_in_place = fftw::is_slow_in_place,
          .slow_in_rows = fftw::is_slow_in_rows};
}

}  // namespace weft
