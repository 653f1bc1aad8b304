// FFTW's types and functions, whose names differ by precision, under one name for both.
#pragma once

#include <fftw3.h>

namespace weft {

template <class Real>
struct Fftw;

#define WEFT_FFTW_NAMES(Real, prefix)                                          \
  template <>                                                                  \
  struct Fftw<Real> {                                                          \
    using Plan = prefix##plan;                                                 \
    using Complex = prefix##complex;                                           \
    using Dim = prefix##iodim64;                                               \
    static constexpr auto c2c = prefix##plan_guru64_dft;                       \
    static constexpr auto r2c = prefix##plan_guru64_dft_r2c;                   \
    static constexpr auto c2r = prefix##plan_guru64_dft_c2r;                   \
    static constexpr auto r2r = prefix##plan_guru64_r2r;                       \
    static constexpr auto run = prefix##execute;                               \
    static constexpr auto run_c2c = prefix##execute_dft;                       \
    static constexpr auto run_r2c = prefix##execute_dft_r2c;                   \
    static constexpr auto run_c2r = prefix##execute_dft_c2r;                   \
    static constexpr auto run_r2r = prefix##execute_r2r;                       \
    static constexpr auto destroy = prefix##destroy_plan;                      \
    static constexpr auto allocate = prefix##malloc;                           \
    static constexpr auto release = prefix##free;                              \
    static constexpr auto limit_planning = prefix##set_timelimit;              \
    static constexpr auto init_threads = prefix##init_threads;                 \
    static constexpr auto make_thread_safe = prefix##make_planner_thread_safe; \
    static constexpr auto export_wisdom = prefix##export_wisdom;               \
    static constexpr auto import_wisdom = prefix##import_wisdom_from_string;   \
    static constexpr auto forget_wisdom = prefix##forget_wisdom;               \
  }

WEFT_FFTW_NAMES(double, fftw_);
WEFT_FFTW_NAMES(float, fftwf_);
#undef WEFT_FFTW_NAMES

/// Ends FFTW's trials after some seconds while it lives; 0: no limit. The limit also applies to other users
/// of FFTW in this process, so it is set under the lock of the planner, and for no longer.
template <class Real>
class PlanningLimit {
 public:
  explicit PlanningLimit(double seconds) {
    Fftw<Real>::limit_planning(seconds > 0 ? seconds : FFTW_NO_TIMELIMIT);
  }
  ~PlanningLimit() { Fftw<Real>::limit_planning(FFTW_NO_TIMELIMIT); }
  PlanningLimit(const PlanningLimit&) = delete;
  PlanningLimit& operator=(const PlanningLimit&) = delete;
};

}  // namespace weft
