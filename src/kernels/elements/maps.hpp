// The maps of ready-made operators for the fields of one mode, on host or device (weft/operators.hpp says
// what each does).
#pragma once

#include "kernels/elements/work.hpp"

namespace weft::elements {

/// The fields of a mode.
template <class T, class Position>
struct FieldsAt {
  T* first;
  Position stride;
  Position fields;
  WEFT_ANYWHERE T& operator[](Position f) const { return first[f * stride]; }
};

/// The wavenumbers of a mode, by loop.
struct WavesAt {
  static constexpr int most = max_axes;
  double k[most]{};
  int count = 0;

  WEFT_ANYWHERE double squared() const {
    double sum = 0;
    WEFT_UNROLL for (int i = 0; i < most; ++i) if (i < count) sum += k[i] * k[i];
    return sum;
  }
};

template <class Real>
WEFT_ANYWHERE Complex<Real> derived(double k, Complex<Real> u) {
  return static_cast<Real>(k) * r2r::turned(u);
}

template <class T>
struct RealPart {
  using type = T;
};
template <class Real>
struct RealPart<Complex<Real>> {
  using type = Real;
};

/// A map of all fields of a mode, of type T.
template <ModeMap map, class T, class Position, class Divisor>
struct Map {
  using Real = typename RealPart<T>::type;
  using Fields = FieldsAt<T, Position>;
  static constexpr int most = WavesAt::most;

  explicit Map(const MapModes& s)
      : walk(s.loops),
        field_stride(static_cast<Position>(s.field_stride)),
        fields(static_cast<Position>(s.fields)),
        along(s.along),
        order(s.order),
        value(s.value),
        zeroes(s.zeroes_nyquist),
        conjugated(s.conjugated) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(s.loops.count); ++i) {
      component[i] = s.component[i];
      first[i] = s.first[i];
      waves[i] = s.waves[i];
      distance[i] = s.distance[i];
    }
  }

  WEFT_ANYWHERE void operator()(Position position, std::byte* at, std::byte* other) const {
    WavesAt w;
    w.count = walk.count;
    Complex<double> phase{1, 0};
    const Spot<Position> spot = walk.spot(position, [&](int loop, Position index) {
      if (loop >= most) return;
      const AxisWaves& a = waves[loop];
      const Index i = first[loop] + static_cast<Index>(index);
      const bool nyquist = i == a.nyquist;
      const double k = (static_cast<double>(i < a.split ? i : i - a.wrap) + a.base) * a.unit;
      if constexpr (map == ModeMap::shift) {
        phase = phase * turn(k * distance[loop], nyquist);
      } else if constexpr (map != ModeMap::product) {
        w.k[loop] = zeroes && nyquist ? 0 : k;
      }
    });
    const Fields u{reinterpret_cast<T*>(at) + spot.at, field_stride, fields};
    if constexpr (map == ModeMap::shift) {
      const T factor{static_cast<Real>(phase.re), static_cast<Real>(phase.im)};
      for (Position f = 0; f < fields; ++f) u[f] = u[f] * factor;
    } else if constexpr (map == ModeMap::product) {
      T factor = reinterpret_cast<const T*>(other)[spot.other];
      if (conjugated) factor = r2r::conjugate(factor);
      for (Position f = 0; f < fields; ++f) u[f] = u[f] * factor;
    } else if constexpr (maps_reals<map>) {
      const auto factor = static_cast<Real>(factor_of(w));
      for (Position f = 0; f < fields; ++f) u[f] = factor * u[f];
    } else if constexpr (map == ModeMap::odd_derivative) {
      const double k = order % 4 == 1 ? powered(w) : -powered(w);
      for (Position f = 0; f < fields; ++f) u[f] = derived(k, u[f]);
    } else {
      vectors(w, u);
    }
  }

  Walk<Position, Divisor> walk;

  /// Modes that stand for both signs get the mean of both factors.
  WEFT_ANYWHERE static Complex<double> turn(double angle, bool both) {
#if defined(WEFT_ON_DEVICE)
    double re = 0, im = 0;
    sincos(angle, &im, &re);
#else
    const double re = std::cos(angle), im = std::sin(angle);
#endif
    return {re, both ? 0 : im};
  }

  /// k^order along the axis of the derivative.
  WEFT_ANYWHERE double powered(const WavesAt& w) const {
    double k = 0, power = 1;
    WEFT_UNROLL for (int i = 0; i < most; ++i) if (i < w.count && component[i] == along) k = w.k[i];
    for (int j = 0; j < order; ++j) power *= k;
    return power;
  }

  WEFT_ANYWHERE double factor_of(const WavesAt& w) const {
    if constexpr (map == ModeMap::power) return order % 4 == 0 ? powered(w) : -powered(w);
    if constexpr (map == ModeMap::laplacian) return -w.squared();
    const double divisor = w.squared() + value;
    return divisor == 0 ? 0 : 1 / divisor;
  }

  /// Results of a gradient reach over fields that are still needed, so the last ones come first; those of a
  /// divergence over fields that are not needed any more.
  WEFT_ANYWHERE void vectors(const WavesAt& w, const Fields& u) const {
    const auto n = static_cast<Position>(w.count);
    if constexpr (map == ModeMap::gradient) {
      for (Position f = fields; f-- > 0;) {
        const T from = u[f];
        WEFT_UNROLL for (int i = 0; i < most; ++i) if (i < w.count)
            u[f * n + static_cast<Position>(component[i])] = derived(w.k[i], from);
      }
    } else if constexpr (map == ModeMap::divergence) {
      for (Position f = 0; f < fields / n; ++f) {
        T sum{0, 0};
        WEFT_UNROLL for (int i = 0; i < most; ++i) if (i < w.count) sum =
            sum + derived(w.k[i], u[f * n + static_cast<Position>(component[i])]);
        u[f] = sum;
      }
    } else if constexpr (map == ModeMap::curl) {
      double k[3]{};
      WEFT_UNROLL for (int i = 0; i < 3; ++i) {
        WEFT_UNROLL for (int a = 0; a < 3; ++a) if (component[i] == a) k[a] = w.k[i];
      }
      for (Position f = 0; f < fields; f += 3) {
        const T x = u[f], y = u[f + 1], z = u[f + 2];
        u[f] = derived(k[1], z) + derived(-k[2], y);
        u[f + 1] = derived(k[2], x) + derived(-k[0], z);
        u[f + 2] = derived(k[0], y) + derived(-k[1], x);
      }
    } else {
      const double k2 = w.squared();
      if (k2 == 0) return;
      for (Position f = 0; f < fields; f += n) {
        T along_k{0, 0};
        WEFT_UNROLL for (int i = 0; i < most; ++i) if (i < w.count) along_k =
            along_k + static_cast<Real>(w.k[i] / k2) * u[f + static_cast<Position>(component[i])];
        WEFT_UNROLL for (int i = 0; i < most; ++i) if (i < w.count) {
          T& v = u[f + static_cast<Position>(component[i])];
          v = v + static_cast<Real>(-w.k[i]) * along_k;
        }
      }
    }
  }

  Position field_stride, fields;
  int along, order;
  double value;
  bool zeroes, conjugated;
  int component[most]{};
  Index first[most]{};
  AxisWaves waves[most]{};
  double distance[most]{};
};

}  // namespace weft::elements
