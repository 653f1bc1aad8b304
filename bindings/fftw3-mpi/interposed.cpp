// FFTW's functions of plans. The program's calls, Weft's and those of other libraries all come here: a plan
// of this library is told by its mark, any other is FFTW's and goes to the library behind this one. The
// new-array functions (fftw_execute_dft and so on), with which Weft executes its local FFTs, are not touched.
#include <cstdlib>
#include <cstring>

#include "plan.hpp"
#include "serial.hpp"

using weft::fftw3_mpi::behind;
using weft::fftw3_mpi::MarkedPlan;

namespace {

/// As FFTW's: for the caller to free.
char* text_of(const MarkedPlan& plan) {
  return strdup(plan.to_string().c_str());
}

void flops_of(const MarkedPlan& plan, double* add, double* multiply, double* fused) {
  *add = plan.flops();
  *multiply = *fused = 0;
}

}  // namespace

// ours: an expression of `ours`, the plan; the other arguments are those of FFTW's function.
// NOLINTBEGIN(bugprone-macro-parentheses): types and lists of parameters
#define WEFT_INTERPOSE(Result, name, parameters, arguments, ours_does)              \
  extern "C" Result name parameters {                                               \
    if (MarkedPlan* const ours = MarkedPlan::of(plan)) return ours_does;            \
    static const auto fftw_does = reinterpret_cast<decltype(&name)>(behind(#name)); \
    return fftw_does arguments;                                                     \
  }

#define WEFT_INTERPOSE_ALL(prefix)                                                                       \
  WEFT_INTERPOSE(void, prefix##execute, (const prefix##plan plan), (plan), ours->execute())              \
  WEFT_INTERPOSE(void, prefix##destroy_plan, (prefix##plan plan), (plan), delete ours)                   \
  WEFT_INTERPOSE(char*, prefix##sprint_plan, (const prefix##plan plan), (plan), text_of(*ours))          \
  WEFT_INTERPOSE(void, prefix##fprint_plan, (const prefix##plan plan, FILE* file), (plan, file),         \
                 static_cast<void>(std::fputs(ours->to_string().c_str(), file)))                         \
  WEFT_INTERPOSE(void, prefix##print_plan, (const prefix##plan plan), (plan),                            \
                 static_cast<void>(std::fputs(ours->to_string().c_str(), stdout)))                       \
  WEFT_INTERPOSE(void, prefix##flops, (const prefix##plan plan, double* add, double* mul, double* fmas), \
                 (plan, add, mul, fmas), flops_of(*ours, add, mul, fmas))                                \
  WEFT_INTERPOSE(double, prefix##estimate_cost, (const prefix##plan plan), (plan), ours->flops())        \
  WEFT_INTERPOSE(double, prefix##cost, (const prefix##plan plan), (plan), ours->flops())
// NOLINTEND(bugprone-macro-parentheses)

WEFT_INTERPOSE_ALL(fftw_)
WEFT_INTERPOSE_ALL(fftwf_)
