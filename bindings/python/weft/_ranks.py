"""Who takes part: what may be given as a plan's `comm`, and whether mpi4py's MPI is the one that Weft was built for."""

from __future__ import annotations

import functools
import sys
from typing import Any

from weft import _core
from weft._core import Comm
from weft._error import Error

# MPI libraries whose programs can run with each other's libraries, by what their version strings and mpi.h say.
_FAMILIES = {
    "Open MPI": ("open mpi", "spectrum mpi"),
    "MPICH": ("mpich", "intel(r) mpi", "intel mpi", "mvapich", "cray mpi"),
}


def resolve(comm: Any) -> Comm:
    """The ranks of a plan. Collective where `comm` is an mpi4py communicator that Weft has not seen before."""
    if comm is None:
        return Comm.self()
    if isinstance(comm, Comm):
        return comm
    mpi = sys.modules.get("mpi4py.MPI")  # whoever has a communicator has loaded it
    if mpi is not None and isinstance(comm, mpi.Comm):
        return _of_mpi4py(comm, mpi)
    raise Error(
        "plan: comm",
        f"an object of type {type(comm).__name__}",
        "an mpi4py communicator, a weft.Comm (as ThreadTeam.run gives it), or None for this process alone",
    )


def _of_mpi4py(comm: Any, mpi: Any) -> Comm:
    """The communicator's one `weft.Comm`. It is an attribute of it, so that it goes when the communicator is freed."""
    check_mpi(mpi.Get_library_version())
    key = _keyval(mpi)
    known = None if comm == mpi.COMM_NULL else comm.Get_attr(key)
    if known is None:
        known = _core.mpi_comm(mpi._addressof(comm))
        comm.Set_attr(key, known)
    return known


@functools.cache
def _keyval(mpi: Any) -> int:
    return mpi.Comm.Create_keyval()


def _family(text: str) -> str:
    lower = text.lower()
    return next((name for name, words in _FAMILIES.items() if any(w in lower for w in words)), text.strip())


@functools.cache
def check_mpi(theirs: str) -> None:
    """Raises `weft.Error` unless mpi4py's MPI, by its library version string, is the one that Weft calls."""
    if not _core.built_with()["mpi"]:
        raise Error(
            "plan: comm",
            "an mpi4py communicator, but this Weft was built without MPI",
            "a Weft with it: install an MPI (Debian: libopenmpi-dev openmpi-bin), then "
            "pip install --force-reinstall weft's source tree",
        )
    compare_mpi(theirs, _core.mpi_library_version(), _core.mpi_built_for())


def compare_mpi(theirs: str, ours: str, built_for: str) -> None:
    """Raises `weft.Error` unless three are one MPI: mpi4py's, the one Weft runs with, the one it was built for.

    The first two are library version strings. Where two MPI libraries are loaded, functions of one may stand in for
    those of the other, so that equal strings alone prove nothing.
    """
    if theirs == ours and _family(theirs) == _family(built_for):
        return
    raise Error(
        "plan: comm",
        f"a communicator of {_first_line(theirs)}, while Weft was built for {built_for} and runs with "
        f"{_first_line(ours)}",
        f"one MPI for both. Either let mpi4py use {built_for}: run under its mpirun, with its library the first that "
        "the loader finds, or build mpi4py for it (pip install --no-binary=mpi4py --force-reinstall mpi4py, with MPICC "
        f"naming its mpicc). Or build Weft for {_family(theirs)}: pip install --force-reinstall . "
        "-C cmake.define.MPI_CXX_COMPILER=<its mpicxx>",
    )


def _first_line(version: str) -> str:
    return " ".join(version.strip("\0 \n").split("\n")[0].split(",")[0].split())
