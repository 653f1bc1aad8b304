#include "support/kept_modes.hpp"

#include <utility>

#include "geometry/transform.hpp"

namespace weft::test {

namespace {

/// A mode of all and how much of it a kept mode stands for.
using Share = std::pair<Index, long double>;

/// The modes of all n that the kept mode `k` is the sum of.
std::vector<Share> shares(const Problem& p, int axis, Index k) {
  const Transform t = p.transforms[axis];
  const Index n = p.shape[axis], m = modes_of(p)[axis];
  const bool cut = m < output_shape(p.shape, p.transforms)[axis];
  const bool shared = cut && (t == Transform::r2c ? p.modes_nyquist == ModesNyquist::shared
                                                  : p.modes_nyquist != ModesNyquist::single);
  if (t == Transform::r2c && shared && m > 1 && k == m - 1) return {{k, 1}, {n - k, 1}};
  if (t != Transform::c2c || !cut) return {{k, 1}};
  const Index frequency = 2 * k < m ? k : k - m;
  if (shared && -2 * frequency == m) return {{n + frequency, 1}, {-frequency, 1}};
  return {{frequency < 0 ? n + frequency : frequency, 1}};
}

/// The modes of all n that a kept mode becomes backward.
std::vector<Share> spread(const Problem& p, int axis, Index k) {
  std::vector<Share> all = shares(p, axis, k);
  const Index n = p.shape[axis];
  if (splits_line(p) && p.line.contains(axis)) return all;
  if (p.transforms[axis] == Transform::r2c) {  // its conjugate counts as well; the real part is taken
    const long double twice = k == 0 || 2 * k == n ? 1 : 2;
    return {{k, all.size() == 2 ? 1 : twice}};
  }
  for (Share& s : all) s.second /= static_cast<long double>(all.size());
  return all;
}

/// Along one axis of a whole array, element k of one side belongs to `pairs(k)` of the other, which is `to`
/// or from.
template <class Pairs>
std::vector<Exact> along(Shape& shape, int axis, Index length, bool gathers, const std::vector<Exact>& from,
                         const Pairs& pairs) {
  Index inner = 1, outer = 1;
  const Index n = shape[axis];
  for (int a = 0; a < shape.size(); ++a) (a < axis ? outer : inner) *= a == axis ? 1 : shape[a];
  std::vector<Exact> to(static_cast<std::size_t>(outer * length * inner));
  for (Index o = 0; o < outer; ++o)
    for (Index k = 0; k < (gathers ? length : n); ++k)
      for (const auto& [j, share] : pairs(k))
        for (Index i = 0; i < inner; ++i) {
          const auto at_k = static_cast<std::size_t>((o * (gathers ? length : n) + k) * inner + i);
          const auto at_j = static_cast<std::size_t>((o * (gathers ? n : length) + j) * inner + i);
          (gathers ? to[at_k] : to[at_j]) += share * (gathers ? from[at_j] : from[at_k]);
        }
  shape[axis] = length;
  return to;
}

/// How often each of the first modes of a real line counts, of all modes.
void weigh_first_modes(const Problem& p, std::vector<Exact>& modes) {
  Strides strides(p.shape.size(), 1);
  for (int a = p.shape.size() - 2; a >= 0; --a) strides[a] = strides[a + 1] * p.shape[a + 1];
  const Index na = p.shape[p.line[0]], nb = p.shape[p.line[1]];
  for (std::size_t i = 0; i < modes.size(); ++i) {
    const auto index = [&](int axis) { return static_cast<Index>(i) / strides[axis] % p.shape[axis]; };
    const Index k = index(p.line[0]) + na * index(p.line[1]);
    modes[i] *= 2 * k > na * nb ? 0 : k == 0 || 2 * k == na * nb ? 1 : 2;
  }
}

AxisVector<Transform> as_complex(const Problem& p, bool inverse) {
  AxisVector<Transform> t = p.transforms;
  for (Transform& one : t) one = one == Transform::r2c ? Transform::c2c : inverse ? opposite(one) : one;
  return t;
}

}  // namespace

std::vector<Exact> exact_modes(const Problem& p, const std::vector<Exact>& points) {
  if (p.modes.empty() && p.points.empty()) return direct_sum(p.shape, p.transforms, points, p.line);
  std::vector<Exact> data = points;
  Shape shape = points_of(p);
  const auto itself = [](Index k) { return std::vector<Share>{{k, 1}}; };
  for (int a = 0; a < shape.size(); ++a) data = along(shape, a, p.shape[a], false, data, itself);
  data = direct_sum(p.shape, as_complex(p, false), data, p.line);
  for (int a = 0; a < shape.size(); ++a)
    data = along(shape, a, modes_of(p)[a], true, data, [&](Index k) { return shares(p, a, k); });
  return data;
}

std::vector<Exact> exact_points(const Problem& p, const std::vector<Exact>& modes) {
  std::vector<Exact> data = modes;
  Shape shape = modes_of(p);
  for (int a = 0; a < shape.size(); ++a)
    data = along(shape, a, p.shape[a], false, data, [&](Index k) { return spread(p, a, k); });
  if (splits_line(p)) weigh_first_modes(p, data);
  // The inverse of c2c is the conjugate of the transform of conjugates; DCTs and DSTs do not mind.
  for (Exact& v : data) v = std::conj(v);
  const AxisVector<int> line = p.line.empty() ? p.line : AxisVector<int>{p.line[1], p.line[0]};
  data = direct_sum(p.shape, as_complex(p, true), data, line);
  for (Exact& v : data) v = p.element == Element::real ? Exact(v.real()) : std::conj(v);
  const auto itself = [](Index k) { return std::vector<Share>{{k, 1}}; };
  for (int a = 0; a < shape.size(); ++a) data = along(shape, a, points_of(p)[a], true, data, itself);
  return data;
}

}  // namespace weft::test
