"""Names for PFFT's argument `transforms`, and which of Weft's transforms they stand for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from weft._error import Error


def _name(name: str) -> Callable[..., Any]:
    def function(*args: Any, **kwargs: Any) -> Any:
        raise Error(f"fftw.{name}", "a call", f"a name for PFFT's transforms; weft.{name} transforms whole arrays")

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Stands for {name} in PFFT's argument `transforms`."
    return function


fftn, ifftn, rfftn, irfftn = map(_name, ("fftn", "ifftn", "rfftn", "irfftn"))
dctn, idctn, dstn, idstn = map(_name, ("dctn", "idctn", "dstn", "idstn"))


def aligned(shape: int | Sequence[int], n: int = 64, dtype: DTypeLike = float, fill: Any = None) -> np.ndarray:
    """An array that begins on a multiple of n bytes."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    memory = np.empty(size + n, np.uint8)
    start = -memory.ctypes.data % n
    array = memory[start : start + size].view(dtype).reshape(shape)
    if fill is not None:
        array[...] = fill
    return array


def aligned_like(z: np.ndarray, fill: Any = None) -> np.ndarray:
    """An array of the shape and dtype of z that begins on a multiple of 64 bytes."""
    return aligned(z.shape, dtype=z.dtype, fill=fill)


def kind_of(pair: tuple[Callable, Callable]) -> str:
    """Which transform a pair of functions stands for: "c2c", "r2c", or "dct2" and its like.

    Functions of mpi4py-fft, SciPy, NumPy and PyFFTW go by their names and their argument `type`.
    """
    try:
        forward, backward = pair
    except TypeError:
        raise Error("PFFT: transforms", repr(pair), "a pair of functions, such as (dctn, idctn)") from None
    (name, kind), (inverse, other) = _described(forward), _described(backward)
    if inverse != "i" + name or kind != other:
        got = f"{name} and {inverse}, of types {kind} and {other}"
        raise Error("PFFT: transforms", got, "a transform and its inverse, both of the same type")
    return {"fft": "c2c", "rfft": "r2c"}.get(name) or f"{name}{kind}"


def _described(function: Callable) -> tuple[str, int]:
    """The name without the n or 2 of several axes, and the type."""
    kind = 2
    while isinstance(function, functools.partial):
        kind, function = function.keywords.get("type", kind), function.func
    name = getattr(function, "__name__", repr(function)).rstrip("n2")
    if name.removeprefix("i") not in ("fft", "rfft", "dct", "dst") or kind not in (1, 2, 3, 4):
        raise Error("PFFT: transforms", f"{name} of type {kind}", "fftn, rfftn, dctn, dstn (types 1 to 4) and inverses")
    return name, 2 if "fft" in name else kind
