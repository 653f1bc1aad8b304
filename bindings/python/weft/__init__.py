"""Weft: Fourier transforms of whole arrays by threads, and of arrays that are spread over many processes.

Whole arrays, as with `scipy.fft`:

>>> import numpy as np, weft
>>> weft.fftn(np.ones((4, 4)), workers=2).real.sum()
np.float64(16.0)

Arrays of which each rank holds a part, under `mpirun` with mpi4py: see `weft.Plan`.
"""

from __future__ import annotations

try:
    from weft import _core, _mkl
except ImportError as error:
    from weft import _mpi_library

    _mpi_library.load(error)
    from weft import _core, _mkl
from weft import operators
from weft._backend import __ua_domain__ as __ua_domain__
from weft._backend import __ua_function__ as __ua_function__
from weft._box import Box
from weft._core import (
    Accuracy,
    Candidate,
    Comm,
    Distribution,
    Explanation,
    OnlineExecution,
    OnlineTuning,
    OperationTime,
    ThreadTeam,
    built_with,
    device_count,
    export_wisdom,
    forget_wisdom,
    import_wisdom,
    line_shape,
    options,
)
from weft._dct import dct, dctn, dst, dstn, idct, idctn, idst, idstn
from weft._dist_array import DistArray
from weft._error import Error
from weft._fft import (
    fft,
    fft2,
    fftn,
    hfft,
    hfft2,
    hfftn,
    ifft,
    ifft2,
    ifftn,
    ihfft,
    ihfft2,
    ihfftn,
    irfft,
    irfft2,
    irfftn,
    rfft,
    rfft2,
    rfftn,
)
from weft._gradient import Gradient
from weft._plan import Plan
from weft._whole import clear_cache, limit_cache

__version__: str = _core.version()
_mkl.announce()

__all__ = [
    "Accuracy",
    "Box",
    "Candidate",
    "Comm",
    "DistArray",
    "Distribution",
    "Error",
    "Explanation",
    "Gradient",
    "OnlineExecution",
    "OnlineTuning",
    "OperationTime",
    "Plan",
    "ThreadTeam",
    "built_with",
    "clear_cache",
    "dct",
    "dctn",
    "device_count",
    "dst",
    "dstn",
    "export_wisdom",
    "fft",
    "fft2",
    "fftn",
    "forget_wisdom",
    "hfft",
    "hfft2",
    "hfftn",
    "idct",
    "idctn",
    "idst",
    "idstn",
    "ifft",
    "ifft2",
    "ifftn",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "import_wisdom",
    "line_shape",
    "irfft",
    "irfft2",
    "irfftn",
    "limit_cache",
    "operators",
    "options",
    "rfft",
    "rfft2",
    "rfftn",
]
