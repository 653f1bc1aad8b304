"""Memory of results, and how much of what calls leave behind is kept for later ones."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence

import numpy as np

from weft import _core
from weft._error import Error

_LEAST = 1 << 20  # bytes of a result that are worth keeping; below NumPy's allocator keeps them itself
limit = 1 << 30  # bytes, of each kind of what is kept
_core.limit_idle_memory(limit)


def empty(shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """A new array in C order, its values undefined, for a result. Large ones take the memory of earlier results whose
    arrays are gone, if there is any of about that size."""
    count = math.prod(shape)
    if count * dtype.itemsize < _LEAST:
        return np.empty(shape, dtype)
    return np.ndarray(shape, dtype, _core.ResultMemory(count * dtype.itemsize))


def set_limit(nbytes: int) -> None:
    """Says how many bytes of memory of past results are kept. `weft.limit_cache` does the rest."""
    global limit
    try:
        given = operator.index(nbytes)
    except TypeError:
        given = -1
    if not 0 <= given < 1 << 63:
        raise Error("limit_cache: nbytes", repr(nbytes), "a number of bytes, from 0 to 2**63 - 1")
    limit = given
    _core.limit_idle_memory(limit)
