// A quantity that was measured at some points, and a rule between them: straight lines where both axes are
// logarithmic, as bandwidths over sizes are drawn. Beyond its ends a curve stays what it is there.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace weft {

struct CurvePoint {
  double x = 0, y = 0;  ///< both positive
  friend bool operator==(const CurvePoint&, const CurvePoint&) = default;
};

class Curve {
 public:
  Curve() = default;
  /// Points by ascending x.
  explicit Curve(std::vector<CurvePoint> points) : points_(std::move(points)) {}

  bool empty() const { return points_.empty(); }
  const std::vector<CurvePoint>& points() const { return points_; }
  /// Of a curve that is not empty.
  double at(double x) const {
    const auto above =
        std::find_if(points_.begin(), points_.end(), [x](const CurvePoint& p) { return p.x >= x; });
    if (above == points_.end()) return points_.back().y;
    if (above == points_.begin()) return above->y;
    const CurvePoint &a = *(above - 1), &b = *above;
    return a.y * std::pow(b.y / a.y, std::log(x / a.x) / std::log(b.x / a.x));
  }
  friend bool operator==(const Curve&, const Curve&) = default;

 private:
  std::vector<CurvePoint> points_;
};

}  // namespace weft
