#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <random>
#include <vector>

#include "geometry/layout.hpp"
#include "kernels/cpu/lines.hpp"
#include "kernels/cpu/permute_copy.hpp"
#include "support/expect_error.hpp"

namespace weft::test {

namespace {

/// Boxes of the same random extents in two random orders, the second one padded.
struct RandomCopy {
  Shape extents;
  Strides from, to;
  Index from_span = 0, to_span = 0;

  explicit RandomCopy(std::mt19937& random) {
    const int ndim = 1 + static_cast<int>(random() % 5);
    extents = Shape(ndim, 1);
    Shape padded(ndim, 1);
    for (int a = 0; a < ndim; ++a) {
      extents[a] = 1 + static_cast<Index>(random() % (ndim > 3 ? 5 : 40));
      padded[a] = extents[a] + static_cast<Index>(random() % 2);
    }
    Order from_order = c_order(ndim), to_order = c_order(ndim);
    std::shuffle(from_order.begin(), from_order.end(), random);
    std::shuffle(to_order.begin(), to_order.end(), random);
    from = dense_strides(extents, from_order);
    to = dense_strides(padded, to_order);
    from_span = span_of(extents, from);
    to_span = span_of(padded, to);
  }

  /// `body(f, t)` for every element at `f` and its place `t`.
  template <class Body>
  void each(const Body& body) const {
    Shape at(extents.size(), 0);
    for (Index n = 0; n < Box::whole(extents).count(); ++n) {
      Index f = 0, t = 0;
      for (int a = 0; a < extents.size(); ++a) {
        f += at[a] * from[a];
        t += at[a] * to[a];
      }
      body(f, t);
      for (int a = extents.size() - 1; a >= 0 && ++at[a] == extents[a]; --a) at[a] = 0;
    }
  }
};

template <class T>
const std::byte* bytes_of(const std::vector<T>& v) {
  return reinterpret_cast<const std::byte*>(v.data());
}

template <class T>
std::byte* bytes_of(std::vector<T>& v) {
  return reinterpret_cast<std::byte*>(v.data());
}

/// All elements of `Element` multiplied by a factor that keeps no bits, whole and in slices.
template <class Real, class Element>
void check_scaled(std::mt19937& random) {
  const RandomCopy c(random);
  std::vector<Element> source(static_cast<std::size_t>(c.from_span));
  const auto number = [&] { return std::uniform_real_distribution<Real>(-1, 1)(random); };
  for (Element& x : source) {
    if constexpr (std::is_same_v<Element, Real>) {
      x = number();
    } else {
      x = {number(), number()};
    }
  }
  std::vector<Element> expected(static_cast<std::size_t>(c.to_span), Element(7)), whole = expected,
                                                                                  sliced = whole;
  const double factor = 1.0 / 3;
  c.each([&](Index f, Index t) {
    expected[static_cast<std::size_t>(t)] = source[static_cast<std::size_t>(f)] * static_cast<Real>(factor);
  });
  const PermuteCopy copy(c.extents, c.from, c.to, sizeof(Element), {factor, sizeof(Real)});
  copy.run(bytes_of(source), bytes_of(whole));
  ASSERT_EQ(whole, expected);
  const int parts = 1 + static_cast<int>(random() % 6);
  for (int i = 0; i < parts; ++i) copy.run_part(bytes_of(source), bytes_of(sliced), i, parts);
  ASSERT_EQ(sliced, expected);
}

}  // namespace

TEST(PermuteCopy, AnyOrderToAnyOrderAnyElementWholeAndInSlices) {
  std::mt19937 random(3);
  for (int round = 0; round < 400; ++round) {
    const int bytes = 4 << (random() % 3);
    const RandomCopy c(random);
    std::vector<unsigned char> source(static_cast<std::size_t>(c.from_span * bytes));
    for (unsigned char& x : source) x = static_cast<unsigned char>(random());
    std::vector<unsigned char> result(static_cast<std::size_t>(c.to_span * bytes), 0xAB), expected = result;
    std::vector<unsigned char> sliced = result;
    c.each([&](Index f, Index t) {
      std::memcpy(&expected[static_cast<std::size_t>(t * bytes)],
                  &source[static_cast<std::size_t>(f * bytes)], static_cast<std::size_t>(bytes));
    });
    const PermuteCopy copy(c.extents, c.from, c.to, bytes);
    copy.run(bytes_of(source), bytes_of(result));
    ASSERT_EQ(result, expected) << "round " << round;
    const int parts = 1 + static_cast<int>(random() % 9);
    for (int i = 0; i < parts; ++i) copy.run_part(bytes_of(source), bytes_of(sliced), i, parts);
    ASSERT_EQ(sliced, expected) << "round " << round << " in " << parts << " slices";
  }
}

TEST(PermuteCopy, PastTheCacheAndAheadOfItIsTheSameCopy) {
  std::mt19937 random(11);
  for (int i = 0; i < 300; ++i) {
    const RandomCopy c(random);
    std::vector<double> source(static_cast<std::size_t>(c.from_span) + 1);
    for (double& v : source) v = static_cast<double>(random());
    const std::size_t shift = random() % 2;  // off the alignment of vectors
    std::vector<std::vector<double>> results;
    for (const CopyManner& manner :
         {CopyManner{}, CopyManner{1, 8, true, false}, CopyManner{1, 8, false, true}}) {
      std::vector<double> to(static_cast<std::size_t>(c.to_span) + 1, -1);
      PermuteCopy(c.extents, c.from, c.to, 8, manner)
          .run(reinterpret_cast<const std::byte*>(source.data() + shift),
               reinterpret_cast<std::byte*>(to.data() + 1 - shift));
      results.push_back(to);
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
  }
}

TEST(LineKernels, EachThatRunsHereCopiesEveryByteAndNoOther) {
  int ran = 0;
  for (const LineKernel& kernel : line_kernels()) {
    if (!kernel.runs_here()) continue;
    ++ran;
    for (std::size_t bytes : {0u, 1u, 15u, 63u, 64u, 65u, 200u, 1000u})
      for (std::size_t shift : {0u, 4u, 8u, 60u}) {
        std::vector<std::byte> from(1200), stored(1200), loaded(1200);
        for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + 1);
        kernel.store_past(from.data() + shift, stored.data() + 64 - shift, bytes);
        kernel.fence();
        kernel.load_ahead(from.data() + shift, loaded.data() + 64 - shift, bytes, 4096);
        EXPECT_EQ(stored, loaded) << kernel.name;
        for (std::size_t i = 0; i < stored.size(); ++i) {
          const std::size_t at = i + shift - 64;  // wraps below the first byte copied
          const bool inside = i + shift >= 64 && at < bytes;
          ASSERT_EQ(stored[i], inside ? from[shift + at] : std::byte{0})
              << kernel.name << " " << bytes << " " << i;
        }
      }
  }
  EXPECT_GE(ran, 1);
}

TEST(PermuteCopy, SlicesWriteDifferentElementsAndNoneMuchMoreThanItsShare) {
  // A merged line, a loop over lines, and a transposition: nothing else has a loop to cut.
  struct Case {
    Shape extents;
    Strides from, to;
  };
  const Case cases[] = {
      {{1000}, {1}, {1}}, {{3, 100}, {100, 1}, {110, 1}}, {{2, 200, 30}, {6000, 30, 1}, {6000, 1, 200}}};
  for (const Case& c : cases) {
    const Index count = Box::whole(c.extents).count();
    const PermuteCopy copy(c.extents, c.from, c.to, 4);
    std::vector<float> source(static_cast<std::size_t>(count), 1);
    std::vector<int> writes(static_cast<std::size_t>(span_of(c.extents, c.to)), 0);
    for (int i = 0; i < 4; ++i) {
      std::vector<float> result(writes.size(), 0);
      copy.run_part(bytes_of(source), bytes_of(result), i, 4);
      Index mine = 0;
      for (std::size_t k = 0; k < result.size(); ++k)
        if (result[k] != 0) {
          ++mine;
          ++writes[k];
        }
      EXPECT_LT(mine * 4 * 10, count * 14);
    }
    EXPECT_LE(*std::max_element(writes.begin(), writes.end()), 1);
    EXPECT_EQ(std::count(writes.begin(), writes.end(), 1), count);
  }
}

TEST(PermuteCopy, AnEmptyBoxHasEmptySlices) {
  const PermuteCopy copy({4, 0, 5}, {0, 5, 1}, {0, 5, 1}, 8, {2.0, 8});
  for (int i = 0; i < 3; ++i) copy.run_part(nullptr, nullptr, i, 3);
  copy.run(nullptr, nullptr);
}

TEST(PermuteCopy, MultipliesRealAndComplexElements) {
  std::mt19937 random(5);
  for (int round = 0; round < 150; ++round) {
    SCOPED_TRACE(round);
    check_scaled<float, float>(random);
    check_scaled<double, double>(random);
    check_scaled<float, std::complex<float>>(random);
    check_scaled<double, std::complex<double>>(random);
    if (HasFatalFailure()) return;
  }
}

TEST(PermuteCopy, MergesWhatIsContiguousOnBothSides) {
  EXPECT_EQ(PermuteCopy({4, 5, 6}, {30, 6, 1}, {30, 6, 1}, 16).loops(), 1);
  EXPECT_EQ(PermuteCopy({4, 5, 6}, {30, 6, 1}, {60, 6, 1}, 16).loops(), 2);
  EXPECT_EQ(PermuteCopy({4, 5, 6}, {30, 6, 1}, {6, 24, 1}, 16).loops(), 3);
  EXPECT_EQ(PermuteCopy({4, 5, 6}, {30, 6, 1}, {1, 24, 4}, 16).loops(), 2);
  EXPECT_EQ(PermuteCopy({1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 16).loops(), 1);
}

}  // namespace weft::test
