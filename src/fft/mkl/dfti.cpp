// Finds, opens and starts Intel MKL.
//
// libmkl_rt is a small library of entry points; with the first call of one it loads the parts of MKL:
// libmkl_core, a threading layer, libmkl_intel_lp64, all of them with RTLD_GLOBAL, no matter how libmkl_rt
// itself was opened (seen with MKL 2021 and 2026 by watching dlopen). libmkl_intel_lp64 exports functions
// with FFTW's names. From then on it stands at the end of the process's global scope, which the loader asks
// before a library's own dependencies. Hence libraries that were opened by dlopen, as Python opens
// extensions, and are linked to libfftw3 would get MKL's functions in place of FFTW's: libraries opened later
// all of them, earlier ones those not bound yet. Mixing the two crashes. A program that is itself linked to
// libfftw3 is safe, because FFTW comes earlier in the global scope.
//
// Therefore every loaded FFTW library is put into the global scope before MKL's parts are. The loader takes
// the first symbol that it finds, so that FFTW's functions win, for lazily bound and for later opened
// libraries. A build with FFTW has loaded FFTW's libraries in both precisions with their threads. In a build
// without, a program that opens FFTW after Weft first used MKL is not protected; it has to open FFTW before.
// (A loader namespace of its own for MKL, by dlmopen, would bring a second C library with a second
// allocator.)
#include "fft/mkl/dfti.hpp"

#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
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
    "; install it (pip install mkl), or name its libmkl_rt or the folder of that in the environment variable "
    "WEFT_MKL_LIBRARY";

struct Library {
  std::optional<SharedLibrary> library;
  Functions functions{};
  std::string file, missing;
};

/// The folder lib beside the folder bin that holds `program`.
std::string lib_beside(const fs::path& program) {
  return (program.parent_path().parent_path() / "lib").string();
}

/// The program that a pyenv shim starts, by PYENV_VERSION or the file of the global version. Any other
/// program is returned unchanged.
fs::path behind_shim(const fs::path& program) {
  if (program.parent_path().filename() != "shims") return program;
  const fs::path root = program.parent_path().parent_path();
  std::string version = environment_value("PYENV_VERSION").value_or("");
  if (version.empty()) std::ifstream(root / "version") >> version;
  return root / "versions" / version / "bin" / program.filename();
}

/// Adds the folders where pip installs MKL: lib of the prefix of the first python3 on PATH, and of the
/// program that it links to. In a virtual environment these are two folders.
void add_folders_of_python(std::vector<std::string>& found) {
  std::error_code none;
  for (const std::string& folder : split(environment_value("PATH").value_or(""), ':')) {
    if (folder.empty() || access((fs::path(folder) / "python3").c_str(), X_OK) != 0) continue;
    const fs::path program = behind_shim(fs::path(folder) / "python3");
    found.push_back(lib_beside(program));
    if (const fs::path real = fs::canonical(program, none); !none && lib_beside(real) != found.back())
      found.push_back(lib_beside(real));
    return;
  }
}

/// The folders where MKL is usually installed and the loader does not search: those that the user has chosen
/// before those of the system.
std::vector<std::string> folders() {
  std::vector<std::string> found;
  const auto below = [&](const char* variable, const char* folder) {
    if (const auto value = environment_value(variable)) found.push_back(*value + folder);
  };
  below("MKLROOT", "/lib");
  below("MKLROOT", "/lib/intel64");
  below("VIRTUAL_ENV", "/lib");
  below("CONDA_PREFIX", "/lib");
  // The Python interpreter that has loaded Weft, and the one on PATH.
  std::error_code none;
  if (const fs::path program = fs::read_symlink("/proc/self/exe", none); !none)
    found.push_back(lib_beside(program));
  add_folders_of_python(found);
  below("HOME", "/.local/lib");
  found.insert(found.end(),
               {"/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/opt/intel/oneapi/mkl/latest/lib"});
  return found;
}

/// Whether MKL's parts lie beside `file`. MKL ends the process if it does not find them.
bool parts_beside(const std::string& file) {
  std::error_code none;
  for (const fs::path& path : {fs::path(file), fs::canonical(file, none)})
    for (const auto& entry : fs::directory_iterator(path.parent_path(), none))
      if (entry.path().filename().string().starts_with("libmkl_core.so")) return true;
  return false;
}

/// Opens one candidate. `problem` receives what is wrong with it.
bool try_open(Library& mkl, const std::string& name, std::string& problem) {
  mkl.library = SharedLibrary::open(
      name,
      [&f = mkl.functions](SharedLibrary::Binder& bind) {
        bind(f.create, "DftiCreateDescriptor");
        bind(f.set, "DftiSetValue");
        bind(f.commit, "DftiCommitDescriptor");
        bind(f.forward, "DftiComputeForward");
        bind(f.backward, "DftiComputeBackward");
        bind(f.free, "DftiFreeDescriptor");
        bind(f.message, "DftiErrorMessage");
        bind(f.set_threads, "MKL_Set_Num_Threads");
        bind(f.most_threads, "MKL_Get_Max_Threads");
      },
      problem);
  if (!mkl.library) return false;
  mkl.file = file_of(mkl.functions.message);
  if (parts_beside(mkl.file)) return true;
  problem = mkl.file + " has no libmkl_core beside it";
  mkl.library.reset();
  mkl.file.clear();
  return false;
}

/// Opens the first usable libmkl_rt of a folder. `problems` receives what is wrong with the others.
bool try_folder(Library& mkl, const std::string& folder, std::string& problems) {
  std::error_code none;
  std::string problem;
  for (const char* name : names) {
    const std::string file = folder + "/" + name;
    if (!fs::exists(file, none)) continue;
    if (try_open(mkl, file, problem)) return true;
    problems += " (" + problem + ")";
  }
  return false;
}

/// `named`: a file, a folder, or a name that the loader knows.
Library open_named(const std::string& named) {
  Library mkl;
  std::error_code none;
  std::string problem;
  if (!fs::is_directory(named, none)) {
    if (try_open(mkl, named, problem)) return mkl;
  } else {
    if (try_folder(mkl, named, problem)) return mkl;
    problem = "the folder " + named + " holds none of " + join(names, ", ") + " that can be used" + problem;
  }
  mkl.missing = "WEFT_MKL_LIBRARY names no usable Intel MKL: " + problem;
  return mkl;
}

Library find_in_folders() {
  Library mkl;
  std::string broken;
  const std::vector<std::string> places = folders();
  for (const std::string& folder : places)
    if (try_folder(mkl, folder, broken)) return mkl;
  mkl.missing = "Intel MKL was not found: none of " + join(names, ", ") +
                " is known to the loader or usable in " + join(places, ", ") + broken + remedy;
  return mkl;
}

Library find() {
  if (const auto named = environment_value("WEFT_MKL_LIBRARY")) return open_named(*named);
  Library mkl;
  std::string problem;
  for (const char* name : names)
    if (try_open(mkl, name, problem)) return mkl;
  return find_in_folders();
}

/// The library is never closed, because MKL's threads and other users of its parts may outlive Weft's
/// objects.
const Library& library() {
  static const Library* const mkl = new Library(find());
  return *mkl;
}

/// Makes MKL load its parts (see the top of this file) and checks that they work.
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

Found look() {
  const Library mkl = find();
  return {mkl.file, mkl.missing};
}

Found look_in_folders() {
  const Library mkl = find_in_folders();
  return {mkl.file, mkl.missing};
}

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
