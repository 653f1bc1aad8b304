// Intel MKL in one process, without any distribution: the whole array on rank 0, with as many threads as
// there are ranks, while the other ranks sleep. Its output is in natural order.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "array.hpp"
#include "base/thread_pool.hpp"
#include "clock.hpp"
#include "comm/agree.hpp"
#include "fft/mkl/dfti.hpp"
#include "peers.hpp"
#include "weft/error.hpp"
#ifdef WEFT_WITH_MPI
#include "comm/mpi_world.hpp"
#endif

namespace weft::bench {

namespace {

/// A barrier whose ranks sleep, so that they leave their cores to the one that works.
void quiet_barrier(const Comm& comm) {
#ifdef WEFT_WITH_MPI
  if (comm.impl().mpi() != nullptr) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Ibarrier(comm.impl().mpi()->comm(), &request), "MPI_Ibarrier");
    for (int done = 0; done == 0;) {
      check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (done == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    return;
  }
#endif
  static std::mutex mutex;
  static std::condition_variable changed;
  static int arrived = 0, generation = 0;
  std::unique_lock lock(mutex);
  const int mine = generation;
  if (++arrived == comm.size()) {
    arrived = 0;
    ++generation;
    changed.notify_all();
    return;
  }
  changed.wait(lock, [&] { return generation != mine; });
}

class Mkl final : public Peer {
 public:
  Mkl(const Comm& comm, const Case& c) : comm_(comm), problem_(c.problem()) {}
  ~Mkl() override {
    if (descriptor_ != nullptr) dfti::functions().free(&descriptor_);
  }

  /// On rank 0, before anything else.
  void prepare(const Case& c) {
    const dfti::Functions& f = dfti::functions();
    // Told nothing, MKL notices that MPI has started the process, and takes one thread.
    f.set_threads(comm_.size());
    if (f.most_threads() != comm_.size())
      throw Error("--peers", "mkl that uses " + std::to_string(f.most_threads()) + " threads",
                  std::to_string(comm_.size()) + ", one for each rank");
    const bool wide = problem_.precision == Precision::float64;
    const bool real = problem_.transforms.contains(Transform::r2c);
    std::vector<dfti::Long> n(problem_.shape.begin(), problem_.shape.end());
    dfti::check(f,
                n.size() == 1 ? f.create(&descriptor_, wide ? dfti::double_precision : dfti::single_precision,
                                         real ? dfti::real_domain : dfti::complex_domain, 1L, n[0])
                              : f.create(&descriptor_, wide ? dfti::double_precision : dfti::single_precision,
                                         real ? dfti::real_domain : dfti::complex_domain,
                                         static_cast<dfti::Long>(n.size()), n.data()),
                "--peers mkl");
    if (!c.in_place) dfti::check(f, f.set(descriptor_, dfti::placement, dfti::not_inplace), "--peers mkl");
    dfti::check(f, f.set(descriptor_, dfti::thread_limit, static_cast<dfti::Long>(comm_.size())),
                "--peers mkl");
    if (real) {
      dfti::check(f, f.set(descriptor_, dfti::conjugate_even_storage, dfti::complex_complex), "--peers mkl");
      std::vector<dfti::Long> lines(n.size() + 1, 0), modes(n.size() + 1, 0);
      dfti::Long line = c.in_place ? 2 * (n.back() / 2 + 1) : n.back(), mode = n.back() / 2 + 1;
      lines.back() = modes.back() = 1;
      for (std::size_t a = n.size() - 1; a-- > 0; line *= n[a], mode *= n[a]) {
        lines[a + 1] = line;
        modes[a + 1] = mode;
      }
      dfti::check(f, f.set(descriptor_, dfti::input_strides, lines.data()), "--peers mkl");
      dfti::check(f, f.set(descriptor_, dfti::output_strides, modes.data()), "--peers mkl");
    }
    dfti::check(f, f.commit(descriptor_), "--peers mkl");
    std::size_t elements = 2;
    for (Index length : problem_.shape) elements *= static_cast<std::size_t>(length);
    elements += 2 * elements / static_cast<std::size_t>(problem_.shape.back());
    const std::size_t bytes = elements * (wide ? 8 : 4);
    in_ = host_memory(bytes, "MKL's input, the whole array on one rank");
    if (!c.in_place) out_ = host_memory(bytes, "MKL's output, the whole array on one rank");
    refill();
  }

  void refill() override {
    const bool wide = problem_.precision == Precision::float64;
    const std::size_t n = in_.size() / (wide ? 8 : 4);
    for (std::size_t i = 0; i < n; ++i) {
      const int v = static_cast<int>(i % 17) - 8;
      if (wide) {
        reinterpret_cast<double*>(in_.data())[i] = v;
      } else {
        reinterpret_cast<float*>(in_.data())[i] = static_cast<float>(v);
      }
    }
  }

  double run() override {
    quiet_barrier(comm_);
    double time = 0;
    dfti::Long status = 0;
    if (comm_.rank() == 0) {
      const dfti::Functions& f = dfti::functions();
      const double begin = seconds();
      status = out_.size() > 0 ? f.forward(descriptor_, in_.data(), out_.data())
                               : f.forward(descriptor_, in_.data());
      time = seconds() - begin;
    }
    quiet_barrier(comm_);
    agree(comm_.impl(), "--peers", [&] {
      if (status != 0) dfti::check(dfti::functions(), status, "--peers mkl");
    });
    return time;
  }

  /// Its threads go on spinning for 200 ms, on the cores of the ranks that are timed next.
  void rest() override {
    if (comm_.size() == 1) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    quiet_barrier(comm_);
  }

  std::string about() const override {
    return dfti::file() + ", one process, " + std::to_string(comm_.size()) + " threads";
  }

 private:
  Comm comm_;
  Problem problem_;
  dfti::Descriptor* descriptor_ = nullptr;
  Buffer<std::byte> in_, out_;
};

}  // namespace

std::unique_ptr<Peer> make_mkl(const Comm& comm, const Case& c) {
  auto mkl = std::make_unique<Mkl>(comm, c);
  // Only rank 0 works, and may fail.
  agree(comm.impl(), "--peers", [&] {
    if (comm.rank() != 0) return;
    if (!dfti::missing().empty()) throw Error("--peers", "mkl: " + dfti::missing(), "fftw-mpi");
    if (hardware_threads() < comm.size())
      throw Error("--peers",
                  "mkl with " + std::to_string(comm.size()) + " threads on " +
                      std::to_string(hardware_threads()) + " cores that this process may use",
                  "ranks that are not bound to cores (--bind-to none), and no more ranks than cores");
    mkl->prepare(c);
  });
  return mkl;
}

}  // namespace weft::bench
