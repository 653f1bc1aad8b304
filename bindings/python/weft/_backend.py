"""Weft as a backend of `scipy.fft`: `scipy.fft.set_backend(weft)` lets SciPy's own functions call Weft's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import weft

__ua_domain__ = "numpy.scipy.fft"


def __ua_function__(method: Callable, args: tuple, kwargs: dict) -> Any:  # noqa: N807
    """Does what SciPy's function of that name does. What Weft lacks is left to other backends: long double, fast Hankel
    transforms, arrays that are not NumPy's."""
    function = getattr(weft, method.__name__, None) if method.__name__ in FUNCTIONS else None
    x = args[0] if args else kwargs.get("x")
    foreign = hasattr(x, "__array_namespace__") and not isinstance(x, np.ndarray)
    if function is None or foreign or np.asarray(x).dtype.char in "gG":
        return NotImplemented
    return function(*args, **kwargs)


FUNCTIONS = {
    *(name + axes for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft") for axes in ("", "2", "n")),
    *(name + axes for name in ("dct", "idct", "dst", "idst") for axes in ("", "n")),
}
