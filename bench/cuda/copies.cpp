// How fast kernels copy between memory orders, beside a plain copy of as many bytes on the same GPU: every
// permutation of the axes of a cube, in each size of element, then every codec, with rows along the axis that
// is contiguous in the cube and along the one with the longest stride, as JSON. One GPU, medians, all in
// turn.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "codec/codec.hpp"
#include "device/device.hpp"
#include "geometry/copy_loops.hpp"
#include "statistics.hpp"

namespace weft::bench {

namespace {

Strides strides_of(Index n, const std::vector<int>& order) {
  Strides strides{0, 0, 0};
  Index next = 1;
  for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
    strides[*axis] = next;
    next *= n;
  }
  return strides;
}

double median(const std::vector<double>& times) {
  return summarise(times).median;
}

class Copies {
 public:
  Copies(Index n, int repeat) : n_(n), repeat_(repeat), device_(current_device()), scope_(*device_) {
    stream_ = device_->make_stream();
    begin_ = device_->make_event(true);
    end_ = device_->make_event(true);
  }

  nlohmann::json run(int element_bytes, const std::vector<int>& order) {
    const auto bytes = static_cast<std::size_t>(n_ * n_ * n_ * element_bytes);
    const auto from = device_->allocate(bytes, "copies"), to = device_->allocate(bytes, "copies");
    stream_->fill(from.get(), 1, bytes);
    const DeviceCopy copy{copy_loops({n_, n_, n_}, strides_of(n_, {0, 1, 2}), strides_of(n_, order)),
                          element_bytes};
    std::vector<double> permuted, plain;
    for (int i = 0; i < repeat_ + 2; ++i) {
      const double a = time([&] { stream_->permute(to.get(), from.get(), copy); });
      const double b = time([&] { stream_->copy(to.get(), from.get(), bytes); });
      if (i < 2) continue;
      permuted.push_back(a);
      plain.push_back(b);
    }
    return {{"n", n_},
            {"element_bytes", element_bytes},
            {"order", order},
            {"permute_s", median(permuted)},
            {"copy_s", median(plain)},
            {"of_copy_speed", median(plain) / median(permuted)}};
  }

  /// Of complex numbers. Speeds count what is read and what is written.
  nlohmann::json run(const Codec& codec, int real_bytes, int axis) {
    const int element_bytes = 2 * real_bytes;
    const auto bytes = static_cast<std::size_t>(n_ * n_ * n_ * element_bytes);
    const Index row = row_bytes(codec, 2 * n_, real_bytes);
    const auto coded_bytes = static_cast<std::size_t>(n_ * n_ * row);
    const auto box = device_->allocate(bytes, "copies"), back = device_->allocate(bytes, "copies");
    const auto rows = device_->allocate(coded_bytes, "copies");
    const auto fault = device_->allocate_pinned(sizeof(std::uint32_t), "copies");
    stream_->fill(box.get(), 0x3f, bytes);  // numbers of usual size
    Strides row_strides{0, 0, 0};
    Index next = row;
    for (int a = 2; a >= 0; --a)
      if (a != axis) {
        row_strides[a] = next;
        next *= n_;
      }
    CodedRequest request{
        codec, true, real_bytes, element_bytes, {n_, n_, n_}, strides_of(n_, {0, 1, 2}), row_strides, axis,
        n_,    0,    1};
    const CodingFault told{reinterpret_cast<std::uint32_t*>(fault.get()), 0};
    DeviceCopy encoding, decoding;
    encoding.coded = std::make_shared<DeviceCoding>(request, told);
    request.encodes = false;
    decoding.coded = std::make_shared<DeviceCoding>(request, told);
    std::vector<double> encoded, decoded, plain;
    for (int i = 0; i < repeat_ + 2; ++i) {
      const double a = time([&] { stream_->permute(rows.get(), box.get(), encoding); });
      const double b = time([&] { stream_->permute(back.get(), rows.get(), decoding); });
      const double c = time([&] { stream_->copy(back.get(), box.get(), bytes); });
      if (i < 2) continue;
      encoded.push_back(a);
      decoded.push_back(b);
      plain.push_back(c);
    }
    const auto touched = static_cast<double>(bytes + coded_bytes);
    const double copy_speed = 2 * static_cast<double>(bytes) / median(plain);
    return {{"n", n_},
            {"codec", to_string(codec)},
            {"real_bytes", real_bytes},
            {"rows_along", axis},
            {"encode_s", median(encoded)},
            {"decode_s", median(decoded)},
            {"copy_s", median(plain)},
            {"encode_of_copy_speed", touched / median(encoded) / copy_speed},
            {"decode_of_copy_speed", touched / median(decoded) / copy_speed}};
  }

 private:
  template <class Work>
  double time(const Work& work) {
    stream_->record(*begin_);
    work();
    stream_->record(*end_);
    device_->wait_for(*end_);
    return device_->seconds_between(*begin_, *end_);
  }

  Index n_;
  int repeat_;
  std::shared_ptr<Device> device_;
  DeviceScope scope_;
  std::unique_ptr<DeviceStream> stream_;
  std::unique_ptr<DeviceEvent> begin_, end_;
};

}  // namespace

}  // namespace weft::bench

int main(int argc, char** argv) {
  CLI::App app{"Copies between memory orders and to coded rows on one GPU, beside plain copies"};
  weft::Index n = 512;
  int repeat = 20;
  app.add_option("--n", n, "points along each axis of a cube")->capture_default_str();
  app.add_option("--repeat", repeat, "timed copies of each kind")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    weft::bench::Copies copies(n, repeat);
    nlohmann::json all = nlohmann::json::array();
    for (const int bytes : {4, 8, 16}) {
      std::vector<int> order{0, 1, 2};
      do {
        all.push_back(copies.run(bytes, order));
      } while (std::next_permutation(order.begin(), order.end()));
    }
    for (const char* codec : {"fp32", "fp16", "bf16", "trim:20", "trim:36"})
      for (const int axis : {0, 2}) all.push_back(copies.run(weft::find_codec(codec), 8, axis));
    for (const char* codec : {"fp16", "bf16", "trim:12"})
      for (const int axis : {0, 2}) all.push_back(copies.run(weft::find_codec(codec), 4, axis));
    std::cout << all.dump(1) << "\n";
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
  return 0;
}
