// Finds, opens and starts Intel MKL.
//
// libmkl_rt is a small library of entry points; with the first call of one it loads the parts of MKL:
// libmkl_core, a threading layer, libmkl_intel_lp64, all of them with RTLD_GLOBAL, no matter how libmkl_rt
// itself was opened (seen with MKL 2021 and 2026 by watching dlopen). libmkl_intel_lp64 exports functions
// with FFTW's names. From then on it stands at the end of the process's global scope, which the loader asks
// before a library's own dependencies. Hence whatever was opened by dlopen, as Python opens extensions, and
// is linked to libfftw3, would get MKL's functions for FFTW's: libraries opened later all of them, earlier
// ones those not bound yet, half of FFTW's API from either side, which crashes. A program that is itself
// linked to libfftw3 is safe: it stands earlier in that scope.
//
// Therefore every FFTW library that is loaded is put into the global scope before MKL's parts are: the first
// one found answers, so they do, for lazily bound and for later opened libraries. In a build with FFTW Weft
// has itself loaded FFTW's libraries in both precisions with their threads. Without it, a program that opens
// FFTW after Weft first used MKL is not protected; it has to open FFTW before. (Weft does not open MKL in a
// loader namespace of its own, dlmopen, as that would bring a second C library, with an allocator that knows
// nothing of the first.)
#include "fft/mkl/dfti.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "base/environment.hpp"
#include "base/shared_library.hpp"
#include "base/text.hpp"
#include "weft/error.hpp"

namespace weft::dfti {

namespace {

namespace fs = std::filesystem;

constexpr std::array names{"libmkl_rt.so.2", "libmkl_rt.so.1", "libmkl_rt.so.3", "libmkl_rt.so"};
constexpr const char* remedy =
    "; install it (pip install mkl), or name its libmkl_rt in the environment variable WEFT_MKL_LIBRARY";

struct Library {
  std::optional<SharedLibrary> library;
  Functions functions{};
  std::string file, missing;
};

/// Where MKL gets installed, beside the folders that the loader knows.
std::vector<std::string> folders() {
  std::vector<std::string> found;
  const auto below = [&](const char* variable, const char* folder) {
    if (const char* value = std::getenv(variable); value != nullptr && *value != '\0')
      found.push_back(std::string(value) + folder);
  };
  below("MKLROOT", "/lib");
  below("MKLROOT", "/lib/intel64");
  found.insert(found.end(),
               {"/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/opt/intel/oneapi/mkl/latest/lib"});
  below("VIRTUAL_ENV", "/lib");
  below("CONDA_PREFIX", "/lib");
  below("HOME", "/.local/lib");
  // A Python interpreter that has loaded Weft: pip puts MKL into the interpreter's prefix.
  std::error_code none;
  if (const fs::path program = fs::read_symlink("/proc/self/exe", none); !none)
    found.push_back((program.parent_path().parent_path() / "lib").string());
  return found;
}

/// MKL ends the process if it does not find its parts, so they are looked for first.
bool parts_beside(const std::string& file) {
  std::error_code none;
  for (const fs::path& path : {fs::path(file), fs::canonical(file, none)})
    for (const auto& entry : fs::directory_iterator(path.parent_path(), none))
      if (entry.path().filename().string().starts_with("libmkl_core.so")) return true;
  return false;
}

bool bind_all(Library& mkl) {
  const SharedLibrary& l = *mkl.library;
  Functions& f = mkl.functions;
  return l.bind(f.create, "DftiCreateDescriptor") && l.bind(f.set, "DftiSetValue") &&
         l.bind(f.commit, "DftiCommitDescriptor") && l.bind(f.forward, "DftiComputeForward") &&
         l.bind(f.backward, "DftiComputeBackward") && l.bind(f.free, "DftiFreeDescriptor") &&
         l.bind(f.message, "DftiErrorMessage") && l.bind(f.set_threads, "MKL_Set_Num_Threads") &&
         l.bind(f.most_threads, "MKL_Get_Max_Threads");
}

/// Opens one candidate; `problem` is told what is wrong with it.
bool try_open(Library& mkl, const std::string& name, std::string& problem) {
  mkl.library = SharedLibrary::open(name, &problem);
  if (!mkl.library) return false;
  if (!bind_all(mkl)) {
    problem = name + " lacks functions of DFTI";
  } else if (mkl.file = file_of(mkl.functions.message); !parts_beside(mkl.file)) {
    problem = mkl.file + " has no libmkl_core beside it";
  } else {
    return true;
  }
  mkl.library.reset();
  mkl.file.clear();
  return false;
}

Library find() {
  Library mkl;
  std::string problem;
  if (const auto named = environment_value("WEFT_MKL_LIBRARY")) {
    if (!try_open(mkl, *named, problem))
      mkl.missing = "WEFT_MKL_LIBRARY names no usable Intel MKL: " + problem;
    return mkl;
  }
  for (const char* name : names)
    if (try_open(mkl, name, problem)) return mkl;
  std::string broken;
  const std::vector<std::string> places = folders();
  for (const std::string& folder : places) {
    for (const char* name : names) {
      const std::string file = folder + "/" + name;
      std::error_code none;
      if (!fs::exists(file, none)) continue;
      if (try_open(mkl, file, problem)) return mkl;
      broken += " (" + problem + ")";
    }
  }
  mkl.missing = "Intel MKL was not found: none of " + join(names, ", ") +
                " is known to the loader or usable in " + join(places, ", ") + broken + remedy;
  return mkl;
}

/// Never closed: MKL's threads and other users of its parts may outlive any of our objects.
const Library& library() {
  static const Library* const mkl = new Library(find());
  return *mkl;
}

/// Makes MKL load its parts, see the top of this file, and tries that they work.
const Functions& start() {
  const Functions& f = library().functions;
  make_visible("libfftw3");
  Descriptor* descriptor = nullptr;
  check(f, f.create(&descriptor, double_precision, complex_domain, Long{1}, Long{2}), "start Intel MKL");
  const Long status = f.commit(descriptor);
  check(f, f.free(&descriptor), "start Intel MKL");
  check(f, status, "start Intel MKL");
  return f;
}

}  // namespace

const std::string& missing() {
  return library().missing;
}

const std::string& file() {
  return library().file;
}

const Functions& functions() {
  if (!missing().empty()) throw Error("plan: local FFT", missing(), "Intel MKL");
  static const Functions& started = start();
  return started;
}

void check(const Functions& functions, Long status, const char* operation) {
  if (status == 0) return;
  const char* message = functions.message(status);
  throw Error(operation,
              std::string("Intel MKL says: ") + (message != nullptr ? message : "an unknown error"),
              "a transform that MKL can do, or another back end");
}

}  // namespace weft::dfti
