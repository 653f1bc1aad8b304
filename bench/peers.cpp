#include "peers.hpp"

#include "weft/error.hpp"

namespace weft::bench {

namespace {

/// Whether all is one line of complex data, in natural order on both sides.
bool is_whole_line(const Problem& p, const Case& c) {
  return p.shape.size() == 2 && p.line == AxisVector<int>{0, 1} && c.output == "transposed" &&
         !p.transforms.contains(Transform::r2c);
}

}  // namespace

std::unique_ptr<Peer> make_peer(const std::string& name, [[maybe_unused]] const Comm& comm, const Case& c) {
  const Problem p = c.problem();
  bool plain = p.batch == 1 && p.input.kind() == Distribution::Kind::slab && c.direction == "forward" &&
               p.modes.empty() && p.points.empty() && p.between == Between::none &&
               (p.line.empty() || (name == "fftw-mpi" && is_whole_line(p, c))) &&
               (c.output == "natural" || c.output == "transposed" ||
                (c.output == "slab1" && name == "cufft"));  // which has the whole array on one device
  for (int a = 0; a < p.shape.size(); ++a)
    plain = plain && (p.transforms[a] == Transform::c2c ||
                      (p.transforms[a] == Transform::r2c && a == p.shape.size() - 1));
  if (!plain)
    throw Error(
        "--peers", name + " for this problem",
        "peers only for forward c2c, or r2c along the last axis, of one array from slabs to natural or "
        "transposed slabs, with all modes and points and nothing between; for a line only fftw-mpi, c2c of "
        "all axes 0,1 with --output transposed");
  if (name != "mkl" && name != "fftw-mpi" && name != "cufft")
    throw Error("--peers", "\"" + name + "\"", "fftw-mpi, mkl, cufft");
  if ((name == "cufft") != (p.memory == MemoryKind::cuda))
    throw Error("--peers", name + " with --device " + c.device, "cufft with cuda, the others with host");
#ifdef WEFT_WITH_MKL
  if (name == "mkl") return make_mkl(comm, c);
#endif
#ifdef WEFT_WITH_FFTW_MPI
  if (name == "fftw-mpi") return make_fftw_mpi(comm, c);
#endif
#ifdef WEFT_WITH_CUDA
  if (name == "cufft") return make_cufft(comm, c);
#endif
  throw Error("--peers", name, "a build of the benchmark with it, for the same MPI");
}

}  // namespace weft::bench
