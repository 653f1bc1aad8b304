// cuFFTMp on MPI ranks with a GPU each. Its own slabs are cut along axis 0 on the side of the points and
// along axis 1 on that of the modes, in natural order of memory, as Weft's with --output slab1; the first
// ranks have one index more where they do not come out even. Natural output is what it calls a custom
// distribution. It transforms in place.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <vector>

#include "array.hpp"
#include "base/thread_pool.hpp"
#include "box_values.hpp"
#include "clock.hpp"
#include "comm/agree.hpp"
#include "comm/mpi_world.hpp"
#include "cuda/cufftmp_library.hpp"
#include "device/device.hpp"
#include "device/gpu/maker.hpp"
#include "known_answer.hpp"
#include "peers.hpp"

namespace weft::bench {

namespace {

constexpr const char* mp_operation = "--peers cufftmp";

void check_mp(cufftResult status, const char* call) {
  if (status != CUFFT_SUCCESS)
    throw Error(mp_operation, std::string(call) + ": error " + std::to_string(static_cast<int>(status)),
                "success");
}

using Three = std::array<long long, 3>;

Three three(const AxisVector<Index>& values) {
  return {values[0], values[1], values[2]};
}

class CufftMp final : public Peer {
 public:
  CufftMp(const Comm& comm, const Case& c)
      : comm_(comm),
        problem_(c.problem()),
        forward_(c.forward()),
        backward_(c.backward()),
        real_(problem_.transforms.contains(Transform::r2c)),
        natural_(c.output == "natural"),
        ranks_(comm.impl().mpi()->comm()) {}

  ~CufftMp() override {
    if (mp_ == nullptr) return;
    if (descriptor_ != nullptr) mp_->free(descriptor_);
    for (const cufftHandle plan : plans_) mp_->destroy(plan);
  }

  /// Collective.
  void prepare() {
    CommImpl& comm = comm_.impl();
    mp_ = &cufftmp::find(comm_);
    agree(comm, mp_operation, [&] { look(); });
    // Each plan is made by all ranks together.
    const int plans = real_ && forward_ && backward_ ? 2 : 1;
    for (int i = 0; i < plans; ++i) {
      agree(comm, mp_operation, [&] { begin_plan(); });
      agree(comm, mp_operation, [&] { make_plan(real_ && (i == 1 || !forward_)); });
    }
    agree(comm, mp_operation, [&] {
      check_mp(mp_->allocate(plans_[0], &descriptor_,
                             natural_ ? CUFFT_XT_FORMAT_DISTRIBUTED_INPUT : CUFFT_XT_FORMAT_INPLACE),
               "cufftXtMalloc");
    });
    agree(comm, mp_operation, [&] {
      const auto bytes = static_cast<std::size_t>(
          std::max(side(true).strides[0] * side(true).box.extent(0) * element_bytes(true),
                   side(false).strides[0] * side(false).box.extent(0) * element_bytes(false)));
      auto* const memory = static_cast<std::byte*>(descriptor_->descriptor->data[0]);
      array_ = Array({memory, [](std::byte*) {}}, bytes, device_, "cuFFTMp's array");
      const std::size_t some = std::min(bytes, numbers_bytes);
      numbers_ = device_->allocate(some, mp_operation);
      make_numbers(some);
    });
    check_answer();
  }

  void refill() override {}  // each execution is given numbers again

  double run() override {
    double time = 0;
    store_numbers();
    start_together(comm_);
    agree(comm_.impl(), mp_operation, [&] {
      const double begin = seconds();
      if (forward_) execute(Direction::forward);
      if (backward_) execute(Direction::backward);
      time = seconds() - begin;
    });
    return time;
  }

  std::optional<double> error() const override { return error_; }

  std::string about() const override {
    int version = 0;
    mp_->version(&version);
    return "cuFFTMp " + std::to_string(version) + ", in place";
  }

 private:
  /// Whether the ranks and the problem are such as it takes.
  void look() {
    int devices = 0;
    gpus::check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    if (const int ranks = comm_.impl().node_ranks(); ranks > devices)
      throw Error(mp_operation,
                  std::to_string(ranks) + " ranks of a machine with " + std::to_string(devices) + " GPUs",
                  "a GPU for each rank");
    const Shape& n = problem_.shape;
    const Index most = std::numeric_limits<int>::max();
    if (std::min(n[0], n[1]) < comm_.size() || std::max({n[0], n[1], n[2]}) > most)
      throw Error(mp_operation,
                  "axes of " + std::to_string(n[0]) + ", " + std::to_string(n[1]) + " and " +
                      std::to_string(n[2]) + " points",
                  "axes 0 and 1 of as many points as there are ranks, or more, below 2^31");
    device_ = current_device();
    stream_ = device_->make_stream();
    pool_ = std::make_unique<ThreadPool>(std::max(1, hardware_threads() / comm_.impl().node_ranks()));
  }

  void begin_plan() {
    cufftHandle plan = 0;
    check_mp(mp_->create(&plan), "cufftCreate");
    plans_.push_back(plan);
    check_mp(mp_->attach(plan, cufftmp::of_mpi, &ranks_), "cufftMpAttachComm");
    check_mp(mp_->set_stream(plan, static_cast<cudaStream_t>(stream_->native())), "cufftSetStream");
    check_mp(natural_ ? mp_->set_formats(plan, CUFFT_XT_FORMAT_DISTRIBUTED_INPUT,
                                         CUFFT_XT_FORMAT_DISTRIBUTED_OUTPUT)
                      : mp_->set_formats(plan, CUFFT_XT_FORMAT_INPLACE, CUFFT_XT_FORMAT_INPLACE_SHUFFLED),
             "cufftXtSetSubformatDefault");
    if (!natural_) return;
    const BoxInArray points = side(true), modes = side(false);
    const Three in_lo = three(points.box.lo), in_hi = three(points.box.hi), in = three(points.strides);
    const Three out_lo = three(modes.box.lo), out_hi = three(modes.box.hi), out = three(modes.strides);
    check_mp(mp_->set_boxes(plan, 3, in_lo.data(), in_hi.data(), out_lo.data(), out_hi.data(), in.data(),
                            out.data()),
             "cufftXtSetDistribution");
  }

  void make_plan(bool to_real) {
    const bool wide = problem_.precision == Precision::float64;
    const cufftType type = !real_    ? (wide ? CUFFT_Z2Z : CUFFT_C2C)
                           : to_real ? (wide ? CUFFT_Z2D : CUFFT_C2R)
                                     : (wide ? CUFFT_D2Z : CUFFT_R2C);
    const Shape& n = problem_.shape;
    std::size_t work = 0;
    check_mp(mp_->make_plan(plans_.back(), static_cast<int>(n[0]), static_cast<int>(n[1]),
                            static_cast<int>(n[2]), type, &work),
             "cufftMakePlan3d");
  }

  /// What this rank has of the points or the modes.
  BoxInArray side(bool points) const {
    const int cut = points || natural_ ? 0 : 1;
    Shape n = problem_.shape;
    if (real_ && !points) n[2] = n[2] / 2 + 1;
    BoxInArray where;
    where.box = Box::whole(n);
    const Index rank = comm_.rank(), least = n[cut] / comm_.size(), longer = n[cut] % comm_.size();
    where.box.lo[cut] = rank * least + std::min(rank, longer);
    where.box.hi[cut] = where.box.lo[cut] + least + (rank < longer ? 1 : 0);
    // Lines of real points have room for their modes.
    const Index line = real_ && points ? 2 * (n[2] / 2 + 1) : n[2];
    where.strides = {where.box.extent(1) * line, line, 1};
    where.is_wide = problem_.precision == Precision::float64;
    where.is_real = real_ && points;
    return where;
  }
  Index element_bytes(bool points) const { return static_cast<Index>(side(points).element_bytes()); }

  /// Until it is done.
  void execute(Direction d) {
    const cufftHandle plan = d == Direction::forward ? plans_.front() : plans_.back();
    check_mp(mp_->execute(plan, array_.data(), array_.data(),
                          d == Direction::forward ? CUFFT_FORWARD : CUFFT_INVERSE),
             "cufftXtExec");
    gpus::check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream_->native())), "cudaStreamSynchronize");
  }

  /// So that a peer that computes something else is not taken for a fast one.
  void check_answer() {
    const KnownAnswer answer(problem_);
    for (const Direction d : {Direction::forward, Direction::backward}) {
      if (d == Direction::forward ? !forward_ : !backward_) continue;
      const bool from_points = d == Direction::forward;
      BoxValues(array_, side(from_points), pool_.get()).fill([&](const Shape& at, Index item) {
        return answer.given(d, at, item);
      });
      comm_.barrier();
      agree(comm_.impl(), mp_operation, [&] { execute(d); });
      const double error =
          BoxValues(array_, side(!from_points), pool_.get()).error(comm_, [&](const Shape& at, Index item) {
            return answer.result(d, at, item);
          });
      const double most = 1000 * (problem_.precision == Precision::float64
                                      ? std::numeric_limits<double>::epsilon()
                                      : static_cast<double>(std::numeric_limits<float>::epsilon()));
      if (!(error <= most)) {
        char text[100];
        std::snprintf(text, sizeof text, "a result whose relative L2 error is %.1e", error);
        throw Error(mp_operation, text, "the transform of its input");
      }
      error_ = std::max(error_, error);
    }
  }

  /// Of size one, as Weft's input has: of zeros, a processor's clock runs faster.
  void make_numbers(std::size_t bytes) {
    std::vector<std::byte> numbers(bytes);
    const auto fill = [&]<class Real>(Real* at) {
      for (std::size_t i = 0; i < bytes / sizeof(Real); ++i)
        at[i] = static_cast<Real>(static_cast<int>(i * 31 % 17) - 8);
    };
    problem_.precision == Precision::float64 ? fill(reinterpret_cast<double*>(numbers.data()))
                                             : fill(reinterpret_cast<float*>(numbers.data()));
    gpus::check(cudaMemcpy(numbers_.get(), numbers.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  }

  /// The array holds what the last execution has left; transformed again and again, it would overflow.
  void store_numbers() {
    agree(comm_.impl(), mp_operation, [&] {
      auto* const to = static_cast<std::byte*>(array_.data());
      const auto stream = static_cast<cudaStream_t>(stream_->native());
      for (std::size_t at = 0; at < array_.size(); at += numbers_bytes)
        gpus::check(cudaMemcpyAsync(to + at, numbers_.get(), std::min(numbers_bytes, array_.size() - at),
                                    cudaMemcpyDeviceToDevice, stream),
                    "cudaMemcpyAsync");
      gpus::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    });
  }

  Comm comm_;
  Problem problem_;
  bool forward_, backward_, real_, natural_;
  MPI_Comm ranks_;  ///< cuFFTMp keeps its address
  const cufftmp::Functions* mp_ = nullptr;
  std::shared_ptr<Device> device_;
  std::unique_ptr<DeviceStream> stream_;
  std::unique_ptr<ThreadPool> pool_;
  std::vector<cufftHandle> plans_;  ///< forward and backward, or one for both
  cudaLibXtDesc* descriptor_ = nullptr;
  Array array_;  ///< its memory is the descriptor's
  static constexpr std::size_t numbers_bytes = std::size_t{8} << 20;
  std::shared_ptr<std::byte> numbers_;
  double error_ = 0;
};

}  // namespace

std::unique_ptr<Peer> make_cufftmp(const Comm& comm, const Case& c) {
  if (comm.impl().mpi() == nullptr)
    throw Error("--peers", "cufftmp among threads", "MPI ranks, which cufftmp needs: --comm mpi");
  auto cufftmp = std::make_unique<CufftMp>(comm, c);
  cufftmp->prepare();
  return cufftmp;
}

}  // namespace weft::bench
