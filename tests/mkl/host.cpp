// MKL's functions with FFTW's names must not answer for FFTW, in a process that is itself not linked to FFTW
// and opens modules, as Python does: neither in Weft, nor in a module opened before MKL was used whose
// functions are bound later, nor in one opened afterwards. Takes the three modules; exits with 77, for
// skipped, if there is no MKL.
#include <dlfcn.h>

#include <cstdio>

namespace {

using Transform = int (*)(const char*);

Transform open_module(const char* file) {
  void* module = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  if (module == nullptr) std::printf("%s\n", dlerror());
  return module == nullptr ? nullptr : reinterpret_cast<Transform>(dlsym(module, "module_transform"));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 1;
  const Transform weft = open_module(argv[1]), early = open_module(argv[2]);
  if (weft == nullptr || early == nullptr) return 1;
  if (const int status = weft("mkl"); status != 0) return status;
  const Transform late = open_module(argv[3]);
  if (late == nullptr) return 1;
  return weft("fftw") + early("opened early") + late("opened late") + weft("mkl") == 0 ? 0 : 1;
}
