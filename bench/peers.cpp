#include "peers.hpp"

#include "weft/error.hpp"

namespace weft::bench {

namespace {

/// Whether all is one line of complex data, in natural order on both sides.
bool is_whole_line(const Problem& p, const Case& c) {
  return p.shape.size() == 2 && p.line == AxisVector<int>{0, 1} && c.output == "transposed" &&
         !p.transforms.contains(Transform::r2c);
}

/// Whether all is one array of points to one of modes, of axes that are c2c, or r2c along the last one.
bool is_plain(const Problem& p) {
  bool plain = p.batch == 1 && p.input.kind() == Distribution::Kind::slab && p.modes.empty() &&
               p.points.empty() && p.between == Between::none;
  for (int a = 0; a < p.shape.size(); ++a)
    plain = plain && (p.transforms[a] == Transform::c2c ||
                      (p.transforms[a] == Transform::r2c && a == p.shape.size() - 1));
  return plain;
}

/// Throws where cuFFTMp has not the problem.
void check_for_cufftmp(const Problem& p, const Case& c) {
  const bool natural = c.output == "natural" && !p.transforms.contains(Transform::r2c);
  if (is_plain(p) && p.shape.size() == 3 && p.line.empty() && (c.output == "slab1" || natural)) return;
  throw Error("--peers", "cufftmp for this problem",
              "cufftmp only for c2c, or r2c along the last axis, of one array of three axes from slabs to "
              "--output slab1, or c2c to natural slabs, with all modes and points and nothing between");
}

/// Throws where another peer has not the problem.
void check_for(const std::string& name, const Problem& p, const Case& c) {
  if (is_plain(p) && c.direction == "forward" &&
      (p.line.empty() || (name == "fftw-mpi" && is_whole_line(p, c))) &&
      (c.output == "natural" || c.output == "transposed" ||
       (c.output == "slab1" && name == "cufft")))  // which has the whole array on one device
    return;
  throw Error("--peers", name + " for this problem",
              "peers only for forward c2c, or r2c along the last axis, of one array from slabs to natural or "
              "transposed slabs, with all modes and points and nothing between; for a line only fftw-mpi, of "
              "all axes 0,1, complex, with --output transposed");
}

}  // namespace

std::unique_ptr<Peer> make_peer(const std::string& name, [[maybe_unused]] const Comm& comm, const Case& c) {
  const Problem p = c.problem();
  if (name != "mkl" && name != "fftw-mpi" && name != "cufft" && name != "cufftmp")
    throw Error("--peers", "\"" + name + "\"", "fftw-mpi, mkl, cufft, cufftmp");
  name == "cufftmp" ? check_for_cufftmp(p, c) : check_for(name, p, c);
  if ((name == "cufft" || name == "cufftmp") != (p.memory == MemoryKind::cuda))
    throw Error("--peers", name + " with --device " + c.device,
                "cufft and cufftmp with cuda, the others with host");
#ifdef WEFT_WITH_MKL
  if (name == "mkl") return make_mkl(comm, c);
#endif
#ifdef WEFT_WITH_FFTW_MPI
  if (name == "fftw-mpi") return make_fftw_mpi(comm, c);
#endif
#ifdef WEFT_WITH_CUDA
  if (name == "cufft") return make_cufft(comm, c);
#ifdef WEFT_WITH_MPI
  if (name == "cufftmp") return make_cufftmp(comm, c);
#endif
#endif
  throw Error("--peers", name, "a build of the benchmark with it, for the same MPI");
}

}  // namespace weft::bench
