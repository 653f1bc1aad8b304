#include "support/between.hpp"

#include <algorithm>
#include <array>

#include "geometry/layout.hpp"
#include "geometry/transform.hpp"
#include "support/device_mirror.hpp"
#include "support/kept_modes.hpp"
#include "weft/modes.hpp"

namespace weft::test {

namespace {

Shape shape_between(const Problem& p) {
  return p.between == Between::modes ? modes_of(p) : points_of(p);
}

template <class T>
void apply(const Problem& problem, const Block& block) {
  using Real = decltype(std::abs(T{}));
  for_each_element<T>(block, [&](const Fields<T>& f, const Shape& index) {
    const auto factor = static_cast<Real>(between_factor(problem, index));
    std::array<T, 8> before{};
    for (Index i = 0; i < block.fields; ++i) before.at(static_cast<std::size_t>(i)) = f[i];
    for (Index r = 0; r < block.results; ++r)
      f[r] = factor * static_cast<Real>(weight_of(r)) *
             before.at(static_cast<std::size_t>(field_of(r, block.fields)));
  });
}

}  // namespace

double between_factor(const Problem& p, const Shape& index) {
  const Shape shape = shape_between(p);
  double sum = 0;
  for (int a = 0; a < shape.size(); ++a) {
    const bool both_signs = p.between == Between::modes && p.transforms[a] == Transform::c2c;
    const Index k = both_signs ? std::min(index[a], shape[a] - index[a]) : index[a];
    sum += static_cast<double>(k) / static_cast<double>(shape[a]);
  }
  return 1 + sum / shape.size();
}

std::vector<Exact> exact_between(const Problem& p, const std::vector<Exact>& values) {
  const bool modes = p.between == Between::modes;
  std::vector<Exact> inside = modes ? exact_modes(p, values) : exact_points(p, values);
  const Shape shape = shape_between(p);
  for_each_point(
      Box::whole(shape), dense_strides(shape, c_order(shape.size())), 0,
      [&](const Shape& at, std::size_t i) { inside[i] *= static_cast<long double>(between_factor(p, at)); });
  return modes ? exact_points(p, inside) : exact_modes(p, inside);
}

void BetweenOperator::operator()(const Block& block) const {
  if (block.memory != MemoryKind::host) return on_host(block, *this);
  const bool wide = block.precision == Precision::float64;
  if (block.element == Element::complex) {
    wide ? apply<std::complex<double>>(problem_, block) : apply<std::complex<float>>(problem_, block);
  } else {
    wide ? apply<double>(problem_, block) : apply<float>(problem_, block);
  }
}

}  // namespace weft::test
