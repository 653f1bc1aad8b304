"""The MPI libraries that bench/mpis.py is given or finds: a launcher and a weft-bench that is built with its MPI."""

import os
import pathlib
import re
import shutil
import subprocess
from typing import NamedTuple

import mpi_settings

TOP = pathlib.Path(__file__).resolve().parent.parent
DEFAULTS = [  # where builds are looked for that are not given, and their launchers; None: beside the library
    ("openmpi", "build/release/bin/weft-bench", "mpirun.openmpi"),
    ("mpich", "build/bench-mpich/bin/weft-bench", "mpirun.mpich"),
    ("impi", "build/bench-impi/bin/weft-bench", None),
]


class Mpi(NamedTuple):
    name: str
    bench: str
    launcher: str
    kind: mpi_settings.Kind
    version: str
    environment: dict[str, str]  # what its programs need beside the user's


def library_of(bench: str, environment: dict[str, str]) -> str | None:
    """The file of the MPI library that weft-bench is linked to; None if there is none, as in static builds."""
    beside = {**os.environ, **environment}
    said = subprocess.run(["ldd", bench], capture_output=True, text=True, check=False, env=beside).stdout
    found = re.search(r"^\s*libmpi(?:ch)?\.so\S* => (\S+)", said, re.MULTILINE)
    return found.group(1) if found else None


def environment_of(kind: str, launcher: str) -> dict[str, str]:
    """Intel MPI finds its parts by its root, which a script of its installation usually sets."""
    if kind != "intel":
        return {}
    root = pathlib.Path(launcher).resolve().parent.parent
    libraries = [str(root / "lib"), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    return {"I_MPI_ROOT": str(root), "LD_LIBRARY_PATH": ":".join(libraries)}


def split_mpi(text: str) -> tuple[str, str, str]:
    """NAME, BENCH and LAUNCHER of "NAME=BENCH:LAUNCHER"."""
    name, equals, rest = text.partition("=")
    bench, colon, launcher = rest.rpartition(":")
    if not (name and equals and bench and colon and launcher):
        raise ValueError(f"--mpi {text}: expected NAME=BENCH:LAUNCHER, as openmpi=build/bin/weft-bench:mpirun.openmpi")
    return name, bench, launcher


def open_mpi(name: str, bench: str, launcher: str) -> Mpi:
    """Looks whether the launcher and weft-bench are there and of one MPI; a ValueError says what is not."""
    if not os.access(bench, os.X_OK):
        raise ValueError(f"{name}: no program {bench}; build target weft-bench (docs/tuning.md, MPI libraries)")
    path = shutil.which(launcher)
    if path is None:
        raise ValueError(f"{name}: no launcher {launcher} on PATH; give its path: --mpi {name}={bench}:PATH")
    done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    kind = mpi_settings.kind_of_launcher(said)
    if kind is None:
        known = ", ".join(k.title for k in mpi_settings.KINDS.values())
        raise ValueError(f"{name}: {launcher} --version says {said[:80].strip()!r}; expected one of {known}")
    needs = environment_of(kind, path)
    library = library_of(bench, needs)
    built = mpi_settings.kind_of_library(pathlib.Path(library).read_bytes()) if library else kind
    if built is not None and built != kind:
        wants, has = mpi_settings.KINDS[kind], mpi_settings.KINDS[built]
        raise ValueError(
            f"{name}: {bench} is built with {has.title} ({library}), and {launcher} starts {wants.title}; give the "
            f"launcher of {has.title}, or a weft-bench of a build with -DMPI_CXX_COMPILER={wants.compiler}"
        )
    version = re.search(r"\d+\.\d+(\.\d+)*", said)
    return Mpi(name, bench, path, mpi_settings.KINDS[kind], version.group() if version else "", needs)


def found_mpis() -> list[Mpi]:
    """Of those that were not given, all that are there; why others are not is printed."""
    found = []
    for name, build, launcher in DEFAULTS:
        bench = str(TOP / build)
        if launcher is None and (library := library_of(bench, {})):
            launcher = str(pathlib.Path(library).parent.parent / "bin" / "mpiexec.hydra")
        try:
            found.append(open_mpi(name, bench, launcher or "mpiexec.hydra"))
        except ValueError as why:
            print(f"left out: {why}", flush=True)
    return found
