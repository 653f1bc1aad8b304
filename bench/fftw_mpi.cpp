// FFTW's own distributed transform, planned with FFTW_MEASURE, or FFTW_PATIENT where Weft's effort is
// patient.
#include <fftw3-mpi.h>

#include "array.hpp"
#include "clock.hpp"
#include "comm/agree.hpp"
#include "comm/mpi_world.hpp"
#include "fft/fftw/names.hpp"
#include "peers.hpp"

namespace weft::bench {

namespace {

/// What FFTW-MPI adds to FFTW's own names.
template <class Real>
struct Api;
template <>
struct Api<double> : Fftw<double> {
  static constexpr auto init = fftw_mpi_init;
  static constexpr auto size = fftw_mpi_local_size_transposed;
  static constexpr auto line_size = fftw_mpi_local_size_1d;
  static constexpr auto mpi_line = fftw_mpi_plan_dft_1d;
  static constexpr auto mpi_c2c = fftw_mpi_plan_dft;
  static constexpr auto mpi_r2c = fftw_mpi_plan_dft_r2c;
};
template <>
struct Api<float> : Fftw<float> {
  static constexpr auto init = fftwf_mpi_init;
  static constexpr auto size = fftwf_mpi_local_size_transposed;
  static constexpr auto line_size = fftwf_mpi_local_size_1d;
  static constexpr auto mpi_line = fftwf_mpi_plan_dft_1d;
  static constexpr auto mpi_c2c = fftwf_mpi_plan_dft;
  static constexpr auto mpi_r2c = fftwf_mpi_plan_dft_r2c;
};

template <class Real>
class FftwMpi final : public Peer {
  using A = Api<Real>;
  using Complex = typename A::Complex;

 public:
  FftwMpi(const Comm& comm, const Case& c) {
    const Problem p = c.problem();
    const MPI_Comm ranks = comm.impl().mpi()->comm();
    A::init();
    const bool real = p.transforms.contains(Transform::r2c);
    std::vector<std::ptrdiff_t> n(p.shape.begin(), p.shape.end()), half = n;
    if (real) half.back() = half.back() / 2 + 1;
    const int ndim = static_cast<int>(n.size());
    std::ptrdiff_t rows = 0, first = 0, columns = 0, first_column = 0;
    patient_ = c.options.get("effort") == "patient";
    unsigned flags = (patient_ ? FFTW_PATIENT : FFTW_MEASURE) | (c.in_place ? 0 : FFTW_PRESERVE_INPUT);
    const bool is_line = !p.line.empty();  // of all points, in natural order
    if (c.output == "transposed" && !is_line) flags |= FFTW_MPI_TRANSPOSED_OUT;
    count_ = static_cast<std::size_t>(
        is_line
            ? A::line_size(n[0] * n[1], ranks, FFTW_FORWARD, flags, &rows, &first, &columns, &first_column)
            : A::size(ndim, half.data(), ranks, &rows, &first, &columns, &first_column));
    const std::size_t bytes = count_ * sizeof(Complex);
    agree(comm.impl(), "--peers", [&] {
      from_ = host_memory(bytes, "FFTW-MPI's input");
      if (!c.in_place) to_ = host_memory(bytes, "FFTW-MPI's output");
    });
    in_ = reinterpret_cast<Complex*>(from_.data());
    out_ = c.in_place ? in_ : reinterpret_cast<Complex*>(to_.data());
    plan_ = is_line ? A::mpi_line(n[0] * n[1], in_, out_, ranks, FFTW_FORWARD, flags)
            : real  ? A::mpi_r2c(ndim, n.data(), reinterpret_cast<Real*>(in_), out_, ranks, flags)
                    : A::mpi_c2c(ndim, n.data(), in_, out_, ranks, FFTW_FORWARD, flags);
    if (plan_ == nullptr) throw Error("--peers", "FFTW-MPI made no plan", "a problem it can do");
    refill();
  }
  ~FftwMpi() override { A::destroy(plan_); }

  void refill() override {
    auto* values = reinterpret_cast<Real*>(in_);
    for (std::size_t i = 0; i < 2 * count_; ++i) values[i] = static_cast<Real>(static_cast<int>(i % 17) - 8);
  }
  double run() override {
    const double begin = seconds();
    A::run(plan_);
    return seconds() - begin;
  }
  std::string about() const override {
    return std::string(fftw_version) + (patient_ ? ", FFTW_PATIENT" : ", FFTW_MEASURE");
  }

 private:
  bool patient_ = false;
  std::size_t count_ = 0;
  Buffer<std::byte> from_, to_;
  Complex *in_ = nullptr, *out_ = nullptr;
  typename A::Plan plan_ = nullptr;
};

}  // namespace

std::unique_ptr<Peer> make_fftw_mpi(const Comm& comm, const Case& c) {
  if (comm.impl().mpi() == nullptr) throw Error("--peers", "fftw-mpi among threads", "--comm mpi");
  if (c.problem().precision == Precision::float64) return std::make_unique<FftwMpi<double>>(comm, c);
  return std::make_unique<FftwMpi<float>>(comm, c);
}

}  // namespace weft::bench
