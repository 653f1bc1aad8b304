#include "cuda/cufftmp_library.hpp"

#include "base/shared_library.hpp"
#include "comm/agree.hpp"

namespace weft::bench::cufftmp {

namespace {

constexpr const char* remedy =
    "install cuFFTMp for CUDA 13, with NVSHMEM 3, which it needs (pip install nvidia-cufftmp-cu13 "
    "nvidia-nvshmem-cu13), and name the folder of its libcufftMp.so.12 in LD_LIBRARY_PATH, or the file";

std::string find_functions(Functions& f) {
  return open_for_good(
      "WEFT_CUFFTMP_LIBRARY", {"libcufftMp.so.12"}, remedy,
      [&f](SharedLibrary::Binder& bind) {
        bind(f.create, "cufftCreate");
        bind(f.destroy, "cufftDestroy");
        bind(f.set_stream, "cufftSetStream");
        bind(f.version, "cufftGetVersion");
        bind(f.make_plan, "cufftMakePlan3d");
        bind(f.allocate, "cufftXtMalloc");
        bind(f.free, "cufftXtFree");
        bind(f.execute, "cufftXtExec");
        bind(f.attach, "cufftMpAttachComm");
        bind(f.set_boxes, "cufftXtSetDistribution");
        bind(f.set_formats, "cufftXtSetSubformatDefault");
      },
      Prefers::its_own);
}

using Library = OptionalLibrary<Functions, find_functions>;

}  // namespace

const Functions& find(const Comm& comm) {
  agree(comm.impl(), "--peers", [] {
    if (!Library::missing().empty())
      throw Error("--peers", "cufftmp: " + Library::missing(), "cuFFTMp where the benchmark runs");
  });
  return Library::functions();
}

}  // namespace weft::bench::cufftmp
