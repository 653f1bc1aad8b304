// A program of a user of Weft: consumer threads, or consumer mpi under an MPI launcher. It transforms an
// impulse there and back, and catches an error that the library throws. With `may-lack-fft` behind it, a
// library without any local FFT that can be used is not wrong. Exits with 1 if anything is.
#include <atomic>
#include <complex>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>

#include <weft/weft.hpp>
#ifdef WEFT_WITH_MPI
#include <weft/mpi.hpp>
#endif

namespace {

using Complex = std::complex<double>;

/// The box of this rank is asked of the library, and every function of it here is called across its border.
void transform(const weft::Comm& comm) {
  weft::Problem problem;
  problem.shape = {6, 4, 8};
  problem.output = weft::Distribution::slab(1);
  weft::Plan plan(comm, problem, weft::Options().set("effort", "estimate"));
  weft::Buffer<Complex> points(plan.input_count()), modes(plan.output_count());
  const bool has_origin = plan.input_box().contains({{0, 0, 0}, {1, 1, 1}});
  if (has_origin) points[0] = 1;
  plan.forward(points.data(), modes.data());
  for (const Complex& mode : modes)
    if (std::abs(mode - 1.0) > 1e-14) throw weft::Error("consumer", "a wrong mode", "1", comm.rank());
  plan.backward(modes.data(), points.data());
  if (has_origin && std::abs(points[0] - plan.scale_factor()) > 1e-12)
    throw weft::Error("consumer", "a wrong impulse", std::to_string(plan.scale_factor()), comm.rank());
}

/// Whether the error that the library throws for what cannot be done is the one that this program catches.
bool catches(const std::function<void()>& mistake) {
  try {
    mistake();
  } catch (const weft::Error& e) {
    return e.operation().size() > 0;
  }
  return false;
}

bool fails_well(const weft::Comm& comm) {
  return catches([] { weft::Options().set("pipeline", "none of these"); }) && catches([&] {
           weft::Problem problem;
           problem.shape = {-1, 2};
           const weft::Plan plan(comm, problem);
         });
}

int check(const weft::Comm& comm, bool may_lack_fft) {
  try {
    transform(comm);
  } catch (const weft::Error& e) {
    if (!may_lack_fft || std::string(e.what()).find("local FFT library") == std::string::npos) {
      std::fprintf(stderr, "%s\n", e.what());
      return 1;
    }
    if (comm.rank() == 0) std::printf("no local FFT, ");
  }
  if (!fails_well(comm)) {
    std::fprintf(stderr, "an error of the library was not caught\n");
    return 1;
  }
  if (comm.rank() == 0) std::printf("Weft %s: %d ranks, %s\n", weft::version(), comm.size(), comm.medium());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int bad = std::strcmp(weft::version(), WEFT_VERSION) == 0 ? 0 : 1;
  const bool may_lack_fft = argc > 2 && std::strcmp(argv[2], "may-lack-fft") == 0;
  const char* medium = argc > 1 ? argv[1] : "threads";
  if (std::strcmp(medium, "threads") == 0) {
    std::atomic<int> failures{0};
    weft::ThreadTeam(3).run([&](const weft::Comm& comm) { failures += check(comm, may_lack_fft); });
    return bad + failures == 0 ? 0 : 1;
  }
#ifdef WEFT_WITH_MPI
  MPI_Init(&argc, &argv);
  bad += check(weft::Comm::mpi(MPI_COMM_WORLD), may_lack_fft);
  MPI_Finalize();
  return bad;
#else
  std::fprintf(stderr, "this Weft was built without MPI\n");
  return 1;
#endif
}
