// How long FFTs of many lines take on one GPU, over a plain copy of as many bytes, the way plans have them
// made, for any lengths, as JSON: lines that are contiguous; lines whose points lie far apart, as those of
// the slowest axis of an array and of the middle one; and rows of real numbers, all of an array and those of
// a tile of each plane. Medians.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/arithmetic.hpp"
#include "device/device.hpp"
#include "fft/local_fft.hpp"
#include "fft/stream_fft.hpp"
#include "statistics.hpp"
#include "weft/error.hpp"

namespace weft::bench {

namespace {

class Ffts {
 public:
  Ffts(Index bytes, int repeat)
      : bytes_(bytes), repeat_(repeat), device_(current_device()), scope_(*device_) {
    stream_ = device_->make_stream();
    begin_ = device_->make_event(true);
    end_ = device_->make_event(true);
    from_ = device_->allocate(static_cast<std::size_t>(bytes), "ffts");
    to_ = device_->allocate(static_cast<std::size_t>(bytes), "ffts");
    stream_->fill(from_.get(), 0, static_cast<std::size_t>(bytes));
  }

  nlohmann::json run(Index n, Precision precision) {
    const Index element = 2 * real_bytes(precision), lines = bytes_ / element / n / 32 * 32;
    if (lines == 0) throw Error("weft-bench-ffts: length", std::to_string(n), "lines that fit --mib");
    const auto size = static_cast<std::size_t>(lines * n * element);
    const double copy = time([&] { stream_->copy(to_.get(), from_.get(), size); });
    const double contiguous = transform({n, 1, 1}, {{lines, n, n}}, precision).seconds;
    const Result apart = transform({n, lines, lines}, {{lines, 1, 1}}, precision);
    // A pencil of a real transform: half an axis of complex numbers, cut in two; and one of a complex
    // transform, whose rows begin on multiples of 256 bytes.
    const Result middle = along_middle(n, std::min(n / 4 + 1, lines), lines, precision);
    const Result even = along_middle(n, std::min(rounded_up<Index>(n / 4, 32), lines), lines, precision);
    nlohmann::json result = of_reals(n, precision);
    result.update(nlohmann::json{{"n", n},
                                 {"precision", precision == Precision::float64 ? "double" : "float"},
                                 {"lines", lines},
                                 {"copy_s", copy},
                                 {"contiguous_of_copy", contiguous / copy},
                                 {"apart_of_copy", apart.seconds / copy},
                                 {"apart_by", apart.by},
                                 {"middle_of_copy", middle.seconds / copy},
                                 {"middle_by", middle.by},
                                 {"even_middle_of_copy", even.seconds / copy},
                                 {"even_middle_by", even.by}});
    return result;
  }

 private:
  struct Result {
    double seconds;
    const char* by;
  };

  /// The time that so many lines would take.
  Result along_middle(Index n, Index side, Index lines, Precision precision) {
    const Index planes = lines / side;
    Result middle = transform({n, side, side}, {{planes, n * side, n * side}, {side, 1, 1}}, precision);
    middle.seconds *= static_cast<double>(lines) / static_cast<double>(planes * side);
    return middle;
  }

  /// Over the time in which a copy moves their modes: rows of real numbers, of planes of 256 rows all and a
  /// sixth.
  nlohmann::json of_reals(Index n, Precision precision) {
    constexpr Index rows = 256, of_tile = 43;
    const Index modes = n / 2 + 1, element = 2 * real_bytes(precision);
    const Index planes = bytes_ / (modes * element * rows);
    if (n % 2 != 0 || planes == 0) return nlohmann::json::object();
    const auto size = static_cast<std::size_t>(planes * rows * modes * element);
    const double copy = time([&] { stream_->copy(to_.get(), from_.get(), size); });
    nlohmann::json result;
    for (const Direction direction : {Direction::forward, Direction::backward}) {
      const bool forward = direction == Direction::forward;
      const Index from = forward ? n : modes, to = forward ? modes : n;
      const std::string name = forward ? "r2c" : "c2r";
      const auto add = [&](const std::string& which, Index of_plane) {
        const std::vector<FftDimension> loops{{planes, rows * from, rows * to}, {of_plane, from, to}};
        const Result r = transform({n, 1, 1}, loops, precision, FftKind::real, direction);
        result[name + which + "_of_copy"] =
            r.seconds / copy * static_cast<double>(rows) / static_cast<double>(of_plane);
        result[name + which + "_by"] = r.by;
      };
      add("", rows);
      add("_in_tiles", of_tile);
    }
    return result;
  }

  Result transform(const FftDimension& line, const std::vector<FftDimension>& loops, Precision precision,
                   FftKind kind = FftKind::c2c, Direction direction = Direction::forward) {
    FftProblem p;
    p.kind = kind;
    p.direction = direction;
    p.precision = precision;
    p.dimensions = {line};
    p.loops = loops;
    const auto fft = plan_stream_fft(find_ffts("auto", MemoryKind::cuda), p, *device_).fft;
    const auto work = device_->allocate(fft->work_bytes(), "ffts");
    const double seconds = time([&] { fft->enqueue(*stream_, from_.get(), to_.get(), work.get()); });
    const bool aside = !fft->elsewise.aside.empty(), kernels = !fft->elsewise.by_kernels.empty();
    return {seconds, aside ? "the library, aside" : kernels ? "kernels" : "the library"};
  }

  template <class Work>
  double time(const Work& work) {
    std::vector<double> times;
    for (int i = -1; i < repeat_; ++i) {
      stream_->record(*begin_);
      work();
      stream_->record(*end_);
      device_->wait_for(*end_);
      if (i >= 0) times.push_back(device_->seconds_between(*begin_, *end_));
    }
    return summarise(times).median;
  }

  Index bytes_;
  int repeat_;
  std::shared_ptr<Device> device_;
  DeviceScope scope_;
  std::unique_ptr<DeviceStream> stream_;
  std::unique_ptr<DeviceEvent> begin_, end_;
  std::shared_ptr<std::byte> from_, to_;
};

}  // namespace

}  // namespace weft::bench

int main(int argc, char** argv) {
  CLI::App app{"FFTs of many lines on one GPU, over plain copies"};
  std::vector<weft::Index> lengths{256, 512, 768, 1000, 1024, 1280, 2048, 2160};
  weft::Index mib = 512;
  int repeat = 9;
  app.add_option("lengths", lengths, "points of a line")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  app.add_option("--mib", mib, "MiB of lines")->check(CLI::Range(1, 1 << 20))->capture_default_str();
  app.add_option("--repeat", repeat, "timed transforms of each kind")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    weft::bench::Ffts ffts(mib << 20, repeat);
    nlohmann::json all = nlohmann::json::array();
    for (const weft::Precision precision : {weft::Precision::float32, weft::Precision::float64})
      for (const weft::Index n : lengths) all.push_back(ffts.run(n, precision));
    std::cout << all.dump(1) << "\n";
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
  return 0;
}
