"""The arguments of `scipy.fft`, as SciPy's documentation describes them: which axes, which lengths, which dtype."""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from weft._error import Error
from weft._foreign import as_array, at_home, converted, dtype_of, made_like, transformable

Axes = int | Sequence[int] | None


def array_of(x: Any) -> Any:
    """The argument as an array that can be transformed: float16 as float32, what is no float as float64."""
    return transformable(as_array(x))


def complex_of(a: Any) -> Any:
    """The array, or a complex copy of a real one."""
    dtype = dtype_of(a)
    return a if dtype.kind == "c" else converted(a, np.dtype(dtype.char.upper()))


def norm_of(norm: str | None) -> str:
    if norm is None:
        return "backward"
    if norm not in ("backward", "ortho", "forward"):
        raise ValueError(f'Invalid norm value {norm!r}, should be "backward", "ortho" or "forward"')
    return norm


def workers_of(workers: int | None) -> int:
    """None: as many as `scipy.fft.set_workers` says, or 1. -1 stands for all processors, -2 for one less, ..."""
    if workers is None:
        fft = sys.modules.get("scipy.fft")
        return 1 if fft is None else fft.get_workers()
    count = operator.index(workers)
    processors = os.cpu_count() or 1
    if count < 0:
        if count < -processors:
            raise ValueError(f"workers value out of range; got {workers}, must not be less than {-processors}")
        return count + 1 + processors
    if count == 0:
        raise ValueError("workers must not be zero")
    return count


def devices_of(devices: Iterable[int] | None, workers: int | None) -> tuple[int, ...]:
    """The GPUs that share a transform, as CUDA counts them; (): none was named."""
    if devices is None:
        return ()
    chosen = tuple(_integers(devices, "devices"))
    if workers is not None:
        raise Error("transform", "both workers and devices", "one of the two: each device has one thread")
    if not chosen or min(chosen) < 0:
        raise Error("transform: devices", repr(devices), "the numbers of one GPU or more, from 0")
    return chosen


def no_plan(plan: object) -> None:
    if plan is not None:
        raise NotImplementedError(
            "Passing a precomputed plan is not supported; weft keeps the plans of whole arrays itself"
        )


def axes_and_lengths(a: Any, s: Any, axes: Axes) -> tuple[list[int], list[int]]:
    """The axes that are transformed, not negative, and the length along each."""
    lengths = None if s is None else list(_integers(s, "s"))
    if axes is not None:
        given = list(_integers(axes, "axes"))
        if any(not -a.ndim <= axis < a.ndim for axis in given):
            raise ValueError("axes exceeds dimensionality of input")
        chosen = [axis % a.ndim for axis in given]
        if len(set(chosen)) != len(chosen):
            raise ValueError("all axes must be unique")
        if lengths is not None and len(lengths) != len(chosen):
            raise ValueError("when given, axes and shape arguments have to be of the same length")
    elif lengths is not None:
        if len(lengths) > a.ndim:
            raise ValueError("shape requires more axes than are present")
        chosen = list(range(a.ndim - len(lengths), a.ndim))
    else:
        chosen = list(range(a.ndim))
    if lengths is None:
        lengths = [a.shape[axis] for axis in chosen]
    lengths = [a.shape[axis] if n == -1 else n for n, axis in zip(lengths, chosen, strict=True)]
    for n in lengths:
        if n < 1:
            raise ValueError(f"invalid number of data points ({n}) specified")
    return chosen, lengths


def _integers(values: Any, name: str) -> Iterable[int]:
    try:
        return [operator.index(v) for v in (values if isinstance(values, Iterable) else [values])]
    except TypeError:
        raise ValueError(f"{name} must be a scalar or iterable of integers") from None


def fitted(a: Any, axes: Sequence[int], lengths: Sequence[int]) -> Any:
    """The array with these lengths along the axes: a view where cropped, a copy with zeros where padded."""
    shape = list(a.shape)
    for axis, n in zip(axes, lengths, strict=True):
        shape[axis] = n
    if shape == list(a.shape):
        return a
    part = a[tuple(slice(min(n, have)) for n, have in zip(shape, a.shape, strict=True))]
    if list(part.shape) == shape:
        return part
    padded = made_like(a, shape, dtype_of(a), zeros=True)
    with at_home(a):
        padded[tuple(slice(n) for n in part.shape)] = part
    return padded


def named(function: Callable[..., np.ndarray], name: str, meaning: str) -> Callable[..., np.ndarray]:
    """The function as one of the package, of that name and with that docstring."""
    function.__name__ = function.__qualname__ = name
    function.__module__, function.__doc__ = "weft", meaning
    return function
