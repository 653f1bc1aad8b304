// Calls a function with the form for kernels of an element step.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "kernels/elements/maps.hpp"

namespace weft::elements {

/// An upper bound of all positions that a step computes with.
inline Index bound_of(const ClearElements& s) {
  return std::max(s.loops.total(), s.loops.bound());
}
inline Index bound_of(const ScaleElements& s) {
  return std::max(s.loops.total(), s.loops.bound());
}
inline Index bound_of(const FoldModes& s) {
  return std::max(s.loops.total(), s.loops.bound() + s.other);
}
inline Index bound_of(const TurnLine& s) {
  return std::max(s.loops.total(), s.loops.bound());
}
inline Index bound_of(const MapModes& s) {
  return std::max(s.loops.total(), s.loops.bound() + s.fields * s.loops.count * s.field_stride);
}
inline Index bound_of(const MirrorModes& s) {
  Index read = 1;
  for (int i = 0; i < s.loops.count; ++i) read += s.loops[i].n * std::abs(s.loops[i].other);
  return std::max({s.loops.total(), s.loops.bound(), s.start + read});
}
/// Of what is anywhere in an array.
inline Index bound_of(const CopyColumns&) {
  return INT64_MAX;
}

/// Calls f with a real number of so many bytes.
template <class F>
auto with_real(int real_bytes, const F& f) {
  return real_bytes == 8 ? f(double{}) : f(float{});
}

/// Calls f(work) with what does the step's work.
template <class Position, class Divisor, class F>
auto with_work(const ClearElements& s, const F& f) {
  if (s.element_bytes == 16) return f(Clear<Complex<double>, Position, Divisor>(s));
  if (s.element_bytes == 8) return f(Clear<std::uint64_t, Position, Divisor>(s));
  return f(Clear<std::uint32_t, Position, Divisor>(s));
}
template <class Position, class Divisor, class F>
auto with_work(const ScaleElements& s, const F& f) {
  return with_real(s.real_bytes, [&]<class Real>(Real) {
    return s.complex ? f(Scale<Complex<Real>, Real, Position, Divisor>(s))
                     : f(Scale<Real, Real, Position, Divisor>(s));
  });
}
template <class Position, class Divisor, class F>
auto with_work(const FoldModes& s, const F& f) {
  return with_real(s.real_bytes, [&]<class Real>(Real) { return f(Fold<Real, Position, Divisor>(s)); });
}
template <class Position, class Divisor, class F>
auto with_work(const TurnLine& s, const F& f) {
  return with_real(s.real_bytes, [&]<class Real>(Real) { return f(Turn<Real, Position, Divisor>(s)); });
}
template <class Position, class Divisor, class F>
auto with_work(const CopyColumns& s, const F& f) {
  return with_real(s.real_bytes, [&]<class Real>(Real) { return f(Columns<Real, Position, Divisor>(s)); });
}
template <class Position, class Divisor, class F>
auto with_work(const MirrorModes& s, const F& f) {
  return with_real(s.real_bytes, [&]<class Real>(Real) { return f(Mirror<Real, Position, Divisor>(s)); });
}

template <ModeMap map, class Position, class Divisor, class F>
auto with_map(const MapModes& s, const F& f) {
  return with_real(s.real_bytes, [&]<class Real>(Real) {
    if constexpr (maps_reals<map>) {
      if (s.reals) return f(Map<map, Real, Position, Divisor>(s));
    }
    return f(Map<map, Complex<Real>, Position, Divisor>(s));
  });
}
template <class Position, class Divisor, class F>
auto with_work(const MapModes& s, const F& f) {
  switch (s.map) {
    case ModeMap::power:
      return with_map<ModeMap::power, Position, Divisor>(s, f);
    case ModeMap::laplacian:
      return with_map<ModeMap::laplacian, Position, Divisor>(s, f);
    case ModeMap::inverse_helmholtz:
      return with_map<ModeMap::inverse_helmholtz, Position, Divisor>(s, f);
    case ModeMap::odd_derivative:
      return with_map<ModeMap::odd_derivative, Position, Divisor>(s, f);
    case ModeMap::gradient:
      return with_map<ModeMap::gradient, Position, Divisor>(s, f);
    case ModeMap::divergence:
      return with_map<ModeMap::divergence, Position, Divisor>(s, f);
    case ModeMap::curl:
      return with_map<ModeMap::curl, Position, Divisor>(s, f);
    case ModeMap::solenoidal_part:
      return with_map<ModeMap::solenoidal_part, Position, Divisor>(s, f);
    case ModeMap::shift:
      return with_map<ModeMap::shift, Position, Divisor>(s, f);
    case ModeMap::product:
      break;
  }
  return with_map<ModeMap::product, Position, Divisor>(s, f);
}

}  // namespace weft::elements
