// Where Intel MKL is found: an imitation of its library in folders of the tests.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "fft/mkl/dfti.hpp"
#include "support/says.hpp"
#include "support/scoped_variable.hpp"

namespace weft::test {

namespace {

namespace fs = std::filesystem;

/// An empty folder, removed at the end.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("weft-mkl-" + std::to_string(getpid()));
  Folder() {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

const fs::path imitation = WEFT_MKL_IMITATION;
const std::string library = imitation / "libmkl_rt.so.2";

dfti::Found named(const std::string& file_or_folder) {
  const ScopedVariable variable("WEFT_MKL_LIBRARY", file_or_folder);
  return dfti::look();
}

void expect_missing(const dfti::Found& found, const std::string& why) {
  EXPECT_EQ(found.file, "");
  EXPECT_TRUE(says(found.missing, why));
}

}  // namespace

TEST(FindingMkl, TheVariableNamesAFileOrAFolder) {
  for (const std::string& name : {library, imitation.string()}) {
    const dfti::Found found = named(name);
    EXPECT_EQ(found.missing, "");
    EXPECT_TRUE(fs::equivalent(found.file, library)) << found.file;
  }
}

TEST(FindingMkl, TheVariableIsNotPassedByWhereItNamesNothing) {
  const Folder folder;
  expect_missing(named("/no/such/place"), "WEFT_MKL_LIBRARY names no usable Intel MKL: /no/such/place");
  expect_missing(named(folder.path), "the folder " + folder.path.string() + " holds none of libmkl_rt.so.2");
  fs::copy_file(library, folder.path / "libmkl_rt.so.2");
  expect_missing(named(folder.path), "has no libmkl_core beside it");
  std::ofstream(folder.path / "libmkl_rt.so.2") << "no library";
  expect_missing(named(folder.path), "libmkl_rt.so.2");
  expect_missing(named(folder.path / "libmkl_rt.so.2"), "libmkl_rt.so.2");
}

TEST(FindingMkl, BesideThePythonOnPath) {
  const Folder folder;
  const fs::path venv = folder.path / "venv", base = folder.path / "base";
  for (const fs::path& prefix : {venv, base}) fs::create_directories(prefix / "bin");
  std::ofstream(base / "bin" / "python3") << "#!/bin/sh\n";
  fs::permissions(base / "bin" / "python3", fs::perms::owner_all);
  fs::create_symlink(base / "bin" / "python3", venv / "bin" / "python3");
  std::ofstream(folder.path / "python3") << "not a program";
  const ScopedVariable root("MKLROOT", std::nullopt), environment("VIRTUAL_ENV", std::nullopt),
      conda("CONDA_PREFIX", std::nullopt), pyenv("PYENV_VERSION", std::nullopt);
  const fs::path shims = folder.path / "pyenv" / "shims",
                 version = folder.path / "pyenv" / "versions" / "3.12";
  fs::create_directories(shims);
  fs::create_directories(version);
  fs::copy_file(base / "bin" / "python3", shims / "python3");
  std::ofstream(folder.path / "pyenv" / "version") << "3.12\n";
  for (const fs::path& prefix : {base, venv, version}) {
    const ScopedVariable shim(
        "PATH", folder.path.string() + "::" + (prefix == version ? shims : venv / "bin").string());
    fs::create_directory_symlink(imitation, prefix / "lib");
    // Without the loader, which may know of an MKL on this machine.
    const dfti::Found found = dfti::look_in_folders();
    EXPECT_EQ(found.missing, "");
    EXPECT_TRUE(fs::equivalent(found.file, library)) << found.file;
    fs::remove(prefix / "lib");
  }
}

}  // namespace weft::test
