// A row of coded numbers for the tests of codecs, numbers to code, and the error that has been made.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "kernels/cpu/rows.hpp"
#include "kernels/cpu/zfp.hpp"

namespace weft::test {

/// A row of numbers as an encoder writes it, in memory of its size.
template <class Real>
struct Row {
  Codec codec;
  RowCoder coder;
  Index reals;
  std::vector<std::byte> bytes;
  std::unique_ptr<ZfpStream> zfp;
  RowManner manner;

  Row(const RowKernel& kernel, const Codec& c, Index n, int point_reals = 1)
      : codec(c),
        coder(kernel.coder(c, sizeof(Real))),
        reals(n),
        bytes(static_cast<std::size_t>(row_bytes(c, n, sizeof(Real))), std::byte{0xA5}),
        zfp(c.row->by_library ? std::make_unique<ZfpStream>() : nullptr),
        manner{c.bits, point_reals, zfp.get()} {}
  codec::Outcome encode(const std::vector<Real>& x) {
    return coder.encode(reinterpret_cast<const std::byte*>(x.data()), 0, reals, reals, manner, bytes.data());
  }
  codec::Outcome decode(Index first, Index last, std::vector<Real>& x) const {
    x.assign(static_cast<std::size_t>(last - first), Real(-77));
    return coder.decode(bytes.data(), reals, first, last, manner, reinterpret_cast<std::byte*>(x.data()));
  }
};

template <class Real>
std::vector<Real> normal(Index n, std::uint64_t seed, double scale = 1) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> distribution;
  std::vector<Real> x(static_cast<std::size_t>(n));
  for (Real& v : x) v = static_cast<Real>(scale * distribution(engine));
  return x;
}

/// In the 2-norm, relative to that of `x`.
template <class Real>
double error(const std::vector<Real>& x, const std::vector<Real>& y) {
  long double sum = 0, norm = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double a = x[i], b = y[i];
    sum += (a - b) * (a - b);
    norm += a * a;
  }
  return norm == 0 ? static_cast<double>(sum) : static_cast<double>(std::sqrt(sum / norm));
}

}  // namespace weft::test
