#include "support/mode_columns.hpp"

#include <algorithm>
#include <random>

#include "geometry/mode_columns.hpp"
#include "geometry/transform.hpp"
#include "support/whole_arrays.hpp"
#include "weft/modes.hpp"

namespace weft::test {

Columns random_columns(const Problem& p, int ranks, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  const auto draw = [&](Index n) { return static_cast<Index>(engine() % static_cast<std::uint64_t>(n)); };
  const Shape modes = output_shape(p.shape, p.transforms);
  const int last = modes.size() - 1;
  const bool real = p.transforms[last] == Transform::r2c;
  const bool edges[] = {draw(2) == 0, draw(2) == 0};
  std::vector<ModeColumn> some;
  Shape planes = modes;
  planes[0] = 1;
  for_each_point(Box::whole(planes), Strides(modes.size(), 1), 0, [&](const Shape& at, std::size_t) {
    const bool edge = real && (at[last] == 0 || 2 * at[last] == p.shape[last]);
    if (edge ? !edges[at[last] == 0 ? 0 : 1] : draw(3) == 0) return;
    ModeColumn c{at, edge ? p.shape[0] : 1 + draw(p.shape[0])};
    c.first[0] = draw(p.shape[0]);
    for (int a = 0; a <= last; ++a)
      if (p.transforms[a] == Transform::c2c && draw(2) == 0 && 2 * c.first[a] >= p.shape[a])
        c.first[a] -= p.shape[a];
    some.push_back(c);
  });
  if (some.empty())  // all
    for_each_point(Box::whole(planes), Strides(modes.size(), 1), 0, [&](const Shape& at, std::size_t) {
      some.push_back({at, p.shape[0]});
    });
  std::shuffle(some.begin(), some.end(), engine);
  Columns all(static_cast<std::size_t>(ranks));
  for (const ModeColumn& c : some) all[static_cast<std::size_t>(draw(ranks))].push_back(c);
  return all;
}

std::vector<std::size_t> positions_of(const Problem& p, const std::vector<ModeColumn>& columns) {
  const Shape modes = output_shape(p.shape, p.transforms);
  std::vector<std::size_t> all;
  for (const ModeColumn& c : columns)
    for (Index k = 0; k < c.count; ++k) {
      Shape at = c.first;
      at[0] += k;
      for (int a = 0; a < at.size(); ++a) at[a] = mode_index(at[a], p.shape[a]);
      all.push_back(static_cast<std::size_t>(position(modes, at)));
    }
  return all;
}

std::vector<Exact> kept(const Problem& p, const Columns& columns, const std::vector<Exact>& modes) {
  std::vector<Exact> result(modes.size());
  for (const std::vector<ModeColumn>& of_rank : columns)
    for (const std::size_t i : positions_of(p, of_rank)) result[i] = modes[i];
  return result;
}

}  // namespace weft::test
