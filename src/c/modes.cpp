// What solvers ask of a plan's modes, for C.
#include "weft/modes.hpp"

#include <algorithm>

#include "api/plan_impl.hpp"
#include "c/failure.hpp"
#include "c/handles.hpp"
#include "c/memory.hpp"
#include "c/structs.hpp"
#include "comm/agree.hpp"

using namespace weft::c;
using weft::AxisVector;
using weft::Error;
using weft::Plan;

namespace {

constexpr const char* of_spectrum = "shell spectrum";

void store_all(const std::vector<double>& numbers, double** values, size_t* count) {
  *values = static_cast<double*>(allocate(numbers.size() * sizeof(double)));
  std::copy(numbers.begin(), numbers.end(), *values);
  *count = numbers.size();
}

/// `made` returns the numbers of a plan.
template <class Made>
weft_status store_numbers(weft_plan plan, const char* operation, double** values, size_t* count,
                          const Made& made) {
  return guarded([&] {
    const Plan& mine = object_of(plan, operation);
    check_given(values, operation, "values");
    check_given(count, operation, "count");
    store_all(made(mine), values, count);
  });
}

AxisVector<double> units_of(const Plan& plan, const double* units) {
  if (units == nullptr) return {};
  return AxisVector<double>::from(units, units + weft::mode_axes(plan));
}

}  // namespace

weft_status weft_plan_columns(weft_plan plan, weft_mode_column** columns, size_t* count) {
  return guarded([&] {
    const std::vector<weft::ModeColumn>& mine = object_of(plan, "columns").columns();
    check_given(columns, "columns", "columns");
    check_given(count, "columns", "count");
    *columns = static_cast<weft_mode_column*>(allocate(mine.size() * sizeof(weft_mode_column)));
    *count = mine.size();
    for (std::size_t i = 0; i < mine.size(); ++i) {
      weft_mode_column& c = (*columns)[i] = {};
      std::copy(mine[i].first.begin(), mine[i].first.end(), c.first);
      c.count = mine[i].count;
    }
  });
}

weft_status weft_plan_logical_length(weft_plan plan, int axis, int64_t* length) {
  return guarded([&] {
    const Plan& mine = object_of(plan, "logical length");
    check_given(length, "logical length", "length");
    *length = weft::logical_length(mine, axis);
  });
}

weft_status weft_plan_wavenumbers(weft_plan plan, int axis, weft_nyquist nyquist, double** values,
                                  size_t* count) {
  return store_numbers(plan, "wavenumbers", values, count, [&](const Plan& p) {
    constexpr weft::Nyquist all[] = {weft::Nyquist::kept, weft::Nyquist::zero};
    return weft::wavenumbers(p, axis, in_table(all, nyquist, "wavenumbers", "weft_nyquist"));
  });
}

weft_status weft_plan_hermitian_weights(weft_plan plan, int axis, double** values, size_t* count) {
  return store_numbers(plan, "Hermitian weights", values, count,
                       [&](const Plan& p) { return weft::hermitian_weights(p, axis); });
}

weft_status weft_plan_dealiasing_mask(weft_plan plan, int axis, double fraction, double** values,
                                      size_t* count) {
  return store_numbers(plan, "dealiasing mask", values, count,
                       [&](const Plan& p) { return weft::dealiasing_mask(p, axis, fraction); });
}

weft_status weft_plan_shell_spectrum(weft_plan plan, const void* modes, const double* units, double** sums,
                                     size_t* count) {
  return guarded([&] {
    const Plan& mine = object_of(plan, of_spectrum);
    try {
      check_given(sums, of_spectrum, "sums");
      check_given(count, of_spectrum, "count");
    } catch (...) {
      fail_together(std::current_exception(), [&](const Error& own) {
        weft::CommImpl& comm = weft::PlanImpl::of(mine).comm.impl();
        comm.check_alive(of_spectrum);
        weft::agree_on(comm, own);
      });
    }
    store_all(weft::shell_spectrum(mine, modes, units_of(mine, units)), sums, count);
  });
}
