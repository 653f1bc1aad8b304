// Ready-made operators on modes, for C. How they are applied: plans.cpp.
#include "weft/operators.hpp"

#include "api/ordered_operators.hpp"
#include "api/plan_impl.hpp"
#include "c/failure.hpp"
#include "c/handles.hpp"
#include "c/problems.hpp"

using namespace weft::c;
using weft::Components;
using weft::ModeOperator;
using weft::Problem;

namespace {

/// Stores what make(problem) returns.
template <class Make>
weft_status store_operator(const weft_problem* problem, const char* operation, weft_mode_operator* op,
                           const Make& make) {
  return guarded([&] {
    check_given(problem, operation, "problem");
    check_given(op, operation, "op");
    *op = new_handle<weft_mode_operator>(std::make_unique<ModeOperator>(make(problem_of(problem))));
  });
}

using OnVectorFields = ModeOperator (&)(const Problem&, const weft::AxisVector<double>&, Components);

weft_status store_on_vectors(const weft_problem* problem, const double* lengths,
                             const weft_components& components, const char* operation, weft_mode_operator* op,
                             OnVectorFields make) {
  return store_operator(problem, operation, op, [&](const Problem& p) {
    return make(p, numbers_of(lengths, p), components_of(components, operation));
  });
}

}  // namespace

weft_status weft_mode_operator_derivative(const weft_problem* problem, int axis, int order,
                                          const double* lengths, weft_mode_operator* op) {
  return store_operator(problem, "derivative", op, [&](const Problem& p) {
    return weft::derivative(p, axis, order, numbers_of(lengths, p));
  });
}

weft_status weft_mode_operator_gradient(const weft_problem* problem, const double* lengths,
                                        weft_components components, weft_mode_operator* op) {
  return store_on_vectors(problem, lengths, components, "gradient", op, weft::ordered::gradient);
}

weft_status weft_mode_operator_divergence(const weft_problem* problem, const double* lengths,
                                          weft_components components, weft_mode_operator* op) {
  return store_on_vectors(problem, lengths, components, "divergence", op, weft::ordered::divergence);
}

weft_status weft_mode_operator_curl(const weft_problem* problem, const double* lengths,
                                    weft_components components, weft_mode_operator* op) {
  return store_on_vectors(problem, lengths, components, "curl", op, weft::ordered::curl);
}

weft_status weft_mode_operator_solenoidal_part(const weft_problem* problem, const double* lengths,
                                               weft_components components, weft_mode_operator* op) {
  return store_on_vectors(problem, lengths, components, "solenoidal part", op,
                          weft::ordered::solenoidal_part);
}

weft_status weft_mode_operator_laplacian(const weft_problem* problem, const double* lengths,
                                         weft_mode_operator* op) {
  return store_operator(problem, "laplacian", op,
                        [&](const Problem& p) { return weft::laplacian(p, numbers_of(lengths, p)); });
}

weft_status weft_mode_operator_inverse_helmholtz(const weft_problem* problem, double shift,
                                                 const double* lengths, weft_mode_operator* op) {
  return store_operator(problem, "inverse Helmholtz", op, [&](const Problem& p) {
    return weft::inverse_helmholtz(p, shift, numbers_of(lengths, p));
  });
}

weft_status weft_mode_operator_shift(const weft_problem* problem, const double* distances,
                                     const double* lengths, weft_mode_operator* op) {
  return store_operator(problem, "shift", op, [&](const Problem& p) {
    check_given(distances, "shift", "distances");
    return weft::shift(p, numbers_of(distances, p), numbers_of(lengths, p));
  });
}

weft_status weft_mode_operator_filter(const weft_problem* problem, double (*factor)(double k, void* user),
                                      void* user, const double* lengths, weft_mode_operator* op) {
  return store_operator(problem, "filter", op, [&](const Problem& p) {
    check_given(reinterpret_cast<const void*>(factor), "filter", "factor");
    return weft::filter(
        p, [=](double k) { return factor(k, user); }, numbers_of(lengths, p));
  });
}

weft_status weft_mode_operator_product(weft_plan plan, const void* modes, int conjugated,
                                       weft_mode_operator* op) {
  return guarded([&] {
    const weft::Plan& mine = object_of(plan, "product");
    check_given(op, "product", "op");
    const bool wide = weft::PlanImpl::of(mine).problem.precision == weft::Precision::float64;
    const auto made = [&](const auto* of_precision) {
      return std::make_unique<ModeOperator>(weft::product(mine, of_precision, conjugated != 0));
    };
    *op = new_handle<weft_mode_operator>(wide ? made(static_cast<const std::complex<double>*>(modes))
                                              : made(static_cast<const std::complex<float>*>(modes)));
  });
}

weft_status weft_mode_operator_free(weft_mode_operator* op) {
  return guarded([&] { free_handle(op); });
}
