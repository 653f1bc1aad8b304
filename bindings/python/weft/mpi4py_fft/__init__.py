"""The classes of mpi4py-fft, done by Weft: a program changes one import.

>>> from weft.mpi4py_fft import PFFT, newDistArray   # instead of: from mpi4py_fft import PFFT, newDistArray
>>> from mpi4py import MPI
>>> fft = PFFT(MPI.COMM_SELF, (4, 6))                # of real data, as dtype=float says; MPI.COMM_WORLD under mpirun
>>> u = newDistArray(fft, False, val=2)
>>> u_hat = fft.forward(u)                           # divides by the number of points
>>> u_hat.shape, complex(u_hat[0, 0])
((4, 4), (2+0j))
>>> bool((fft.backward(u_hat) == u).all())
True

docs/from-mpi4py-fft.md says what is different.
"""

import importlib.util

if importlib.util.find_spec("mpi4py") is None:
    raise ImportError("weft.mpi4py_fft works on the ranks of mpi4py, which is not there: pip install mpi4py")

from weft.mpi4py_fft import fftw  # noqa: E402
from weft.mpi4py_fft.distarray import DistArray, newDistArray  # noqa: E402
from weft.mpi4py_fft.io import HDF5File  # noqa: E402
from weft.mpi4py_fft.mpifft import PFFT  # noqa: E402


def __getattr__(name: str) -> object:
    if name in ("NCFile", "generate_xdmf"):
        raise ImportError(
            f"weft.mpi4py_fft has no {name}: fields are written to HDF5 files, by HDF5File and DistArray.write"
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["DistArray", "HDF5File", "PFFT", "fftw", "newDistArray"]
