#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "geometry/layout.hpp"
#include "kernels/cpu/permute_copy.hpp"
#include "support/expect_error.hpp"

namespace weft::test {

TEST(PermuteCopy, AnyOrderToAnyOrderAnyElement) {
  std::mt19937 random(3);
  for (int round = 0; round < 400; ++round) {
    const int ndim = 1 + static_cast<int>(random() % 5);
    const int bytes = 4 << (random() % 3);
    Shape extents(ndim, 1), padded(ndim, 1);
    for (int a = 0; a < ndim; ++a) {
      extents[a] = 1 + static_cast<Index>(random() % (ndim > 3 ? 5 : 40));
      padded[a] = extents[a] + static_cast<Index>(random() % 2);
    }
    Order from_order = c_order(ndim), to_order = c_order(ndim);
    std::shuffle(from_order.begin(), from_order.end(), random);
    std::shuffle(to_order.begin(), to_order.end(), random);
    const Strides from = dense_strides(extents, from_order), to = dense_strides(padded, to_order);
    std::vector<unsigned char> source(static_cast<std::size_t>(span_of(extents, from) * bytes));
    for (unsigned char& c : source) c = static_cast<unsigned char>(random());
    std::vector<unsigned char> result(static_cast<std::size_t>(span_of(padded, to) * bytes), 0xAB),
        expected = result;
    Shape at(ndim, 0);
    for (Index n = 0; n < Box::whole(extents).count(); ++n) {
      Index f = 0, t = 0;
      for (int a = 0; a < ndim; ++a) {
        f += at[a] * from[a];
        t += at[a] * to[a];
      }
      std::memcpy(&expected[static_cast<std::size_t>(t * bytes)],
                  &source[static_cast<std::size_t>(f * bytes)], static_cast<std::size_t>(bytes));
      for (int a = ndim - 1; a >= 0 && ++at[a] == extents[a]; --a) at[a] = 0;
    }
    PermuteCopy(extents, from, to, bytes)
        .run(reinterpret_cast<const std::byte*>(source.data()), reinterpret_cast<std::byte*>(result.data()));
    ASSERT_EQ(result, expected) << "round " << round;
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
