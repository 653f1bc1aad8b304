// Copies between strided boxes in device memory, against the kernel of the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "device/stream_copy.hpp"
#include "geometry/layout.hpp"
#include "kernels/cpu/permute_copy.hpp"
#include "support/device_mirror.hpp"
#include "support/devices.hpp"

namespace weft::test {

namespace {

/// Boxes of the same extents in two orders, padded, of elements of 4, 8 or 16 bytes.
struct Boxes {
  Shape extents;
  Strides from, to;
  int bytes = 4;

  explicit Boxes(std::mt19937& random) {
    const int ndim = 1 + static_cast<int>(random() % 6);
    const unsigned longest = ndim > 4 ? 7 : ndim > 2 ? 40 : 700;
    extents = Shape(ndim, 1);
    Shape from_room(ndim, 1), to_room(ndim, 1);
    for (int a = 0; a < ndim; ++a) {
      extents[a] = 1 + static_cast<Index>(random() % longest);
      from_room[a] = extents[a] + static_cast<Index>(random() % 3 == 0 ? random() % 4 : 0);
      to_room[a] = extents[a] + static_cast<Index>(random() % 3 == 0 ? random() % 4 : 0);
    }
    Order from_order = c_order(ndim), to_order = c_order(ndim);
    std::shuffle(from_order.begin(), from_order.end(), random);
    if (random() % 3 == 0) to_order = from_order;
    if (random() % 3 != 0) std::shuffle(to_order.begin(), to_order.end(), random);
    from = dense_strides(from_room, from_order);
    to = dense_strides(to_room, to_order);
    bytes = 4 << (random() % 3);
  }
  std::size_t from_bytes() const { return static_cast<std::size_t>(span_of(extents, from) * bytes); }
  std::size_t to_bytes() const { return static_cast<std::size_t>(span_of(extents, to) * bytes); }
};

}  // namespace

TEST(DeviceCopies, AnyOrderToAnyOrderScaledOrNot) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  const std::shared_ptr<Device> device = current_device();
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const Boxes b(random);
    const int real = b.bytes == 4 ? 4 : b.bytes == 16 ? 8 : random() % 2 == 0 ? 4 : 8;
    const double factor = random() % 2 == 0 ? 1 : 0.25;  // exact in any precision
    std::vector<std::byte> source(b.from_bytes()), result(b.to_bytes(), std::byte{0x5a}), expected = result;
    const auto fill = [&]<class Real>(Real*) {
      auto* at = reinterpret_cast<Real*>(source.data());
      for (std::size_t i = 0; i < source.size() / sizeof(Real); ++i)
        at[i] = static_cast<Real>(random() % 4096);
    };
    real == 4 ? fill(static_cast<float*>(nullptr)) : fill(static_cast<double*>(nullptr));
    PermuteCopy(b.extents, b.from, b.to, b.bytes, {factor, real}).run(source.data(), expected.data());
    DeviceMirror mirror;
    std::byte* const from = mirror.upload(source.data(), source.size());
    std::byte* const to = mirror.upload(result.data(), result.size());
    {
      const DeviceScope scope(*device);
      mirror.stream().permute(to, from, {copy_loops(b.extents, b.from, b.to), b.bytes, factor, real});
    }
    mirror.download(result.data(), to, result.size());
    ASSERT_TRUE(result == expected) << "round " << round << " extents " << b.extents[0] << " x "
                                    << b.extents.size() << " axes, " << b.bytes << " bytes, factor "
                                    << factor;
  }
}

TEST(DeviceCopies, PlanesOfRowsByCopyEngines) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  const std::shared_ptr<Device> device = current_device();
  std::mt19937 random(9);
  const auto drawn = [&](int from, int to) {
    return from + static_cast<Index>(random() % static_cast<unsigned>(to + 1 - from));
  };
  constexpr int bytes = 16;
  for (int round = 0; round < 60; ++round) {
    const Shape extents{drawn(1, 70), drawn(1, 20), drawn(32, 60)};
    // Planes are a whole number of rows apart, or some elements more.
    const auto strides = [&] {
      const Index row = extents[2] + drawn(0, 3);
      return Strides{row * (extents[1] + drawn(0, 3)) + (random() % 3 == 0 ? drawn(1, 5) : 0), row, 1};
    };
    const Strides from = strides(), to = strides();
    std::vector<std::byte> source(static_cast<std::size_t>(span_of(extents, from) * bytes));
    for (std::byte& b : source) b = static_cast<std::byte>(random());
    std::vector<std::byte> result(static_cast<std::size_t>(span_of(extents, to) * bytes), std::byte{0x5a}),
        expected = result;
    PermuteCopy(extents, from, to, bytes, {1, 8}).run(source.data(), expected.data());
    DeviceMirror mirror;
    std::byte* const in = mirror.upload(source.data(), source.size());
    std::byte* const out = mirror.upload(result.data(), result.size());
    {
      const DeviceScope scope(*device);
      StreamCopy({copy_loops(extents, from, to), bytes}, 0).enqueue(mirror.stream(), out, in);
    }
    mirror.download(result.data(), out, result.size());
    ASSERT_TRUE(result == expected) << "round " << round;
  }
}

TEST(DeviceCopies, ManyAtOnceAndFlagsBehindThem) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  const std::shared_ptr<Device> device = current_device();
  std::mt19937 random(11);
  const auto drawn = [&](unsigned from, unsigned to) {
    return static_cast<Index>(from + random() % (to + 1 - from));
  };
  for (int round = 0; round < 60; ++round) {
    DeviceMirror mirror;
    std::vector<DeviceCopy> copies;
    std::vector<DeviceCopyJob> jobs;
    std::vector<std::vector<std::byte>> expected;
    for (Index left = drawn(1, 11); left > 0; --left) {
      // Rows, of few bytes and of many; some end on no multiple of what is moved at once.
      const int bytes = random() % 4 == 0 ? 8 : 16;
      const Shape extents{drawn(1, 3), drawn(1, 5), random() % 4 == 0 ? drawn(1, 40) : drawn(200, 3000)};
      const Strides from{extents[1] * (extents[2] + 2), extents[2] + 2, 1};
      const Strides to{extents[2], extents[0] * extents[2] + (random() % 2 == 0 ? 6 : 0), 1};
      std::vector<std::byte> source(static_cast<std::size_t>(span_of(extents, from) * bytes));
      for (std::byte& b : source) b = static_cast<std::byte>(random());
      expected.emplace_back(static_cast<std::size_t>(span_of(extents, to) * bytes), std::byte{0xff});
      PermuteCopy(extents, from, to, bytes, {1, 8}).run(source.data(), expected.back().data());
      copies.push_back({copy_loops(extents, from, to), bytes});
      jobs.push_back(
          {mirror.fresh(expected.back().size()), mirror.upload(source.data(), source.size()), nullptr});
    }
    for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].copy = &copies[i];
    // Behind them up to ten flags, more than a launch takes.
    std::vector<std::uint32_t> words(11, 0);
    std::byte* const at = mirror.upload(words.data(), words.size() * sizeof words[0]);
    std::vector<DeviceFlag> flags;
    for (Index i = drawn(0, 10); i > 0; --i) {
      const auto word = static_cast<std::size_t>(i);
      words[word] = static_cast<std::uint32_t>(random());
      flags.push_back({at + word * sizeof words[0], words[word], false});
    }
    {
      const DeviceScope scope(*device);
      mirror.stream().permute(jobs, {flags, at});
    }
    std::vector<std::uint32_t> stored(words.size());
    mirror.download(stored.data(), at, stored.size() * sizeof words[0]);
    ASSERT_EQ(stored, words) << "round " << round;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      std::vector<std::byte> result(expected[i].size());
      mirror.download(result.data(), jobs[i].to, result.size());
      ASSERT_TRUE(result == expected[i]) << "round " << round << ", copy " << i;
    }
  }
}

}  // namespace weft::test
