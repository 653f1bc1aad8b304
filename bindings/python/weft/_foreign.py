"""Whole arrays of NumPy, CuPy and PyTorch: the few things that transforms do with them, in the words of each module."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

import numpy as np

from weft._error import Error
from weft._memory import empty
from weft._views import device_memory, dtype_of_torch, module_of, on_device

# What is no float32, float64, complex64 or complex128 is transformed as one of them; the rest as float64.
_WIDER = {"float16": "float32", "bfloat16": "float32"}
_NOT_TRANSFORMED = {"complex32", "float8_e4m3fn", "float8_e5m2"}


def as_array(x: Any) -> Any:
    """x as an array of its own module, with its dtype; what is no array becomes one of NumPy."""
    module = module_of(x)
    if module in ("numpy", "cupy"):
        return x
    if module == "torch":
        _check(x)
        return x.resolve_conj().resolve_neg()
    if on_device(x):
        raise Error(
            "transform",
            f"an array of {module} in memory of a GPU",
            "one of CuPy or PyTorch; cupy.asarray(x) and torch.from_dlpack(x) see the same memory",
        )
    return np.asarray(x)


def _check(tensor: Any) -> None:
    torch = sys.modules["torch"]
    if tensor.requires_grad and torch.is_grad_enabled():
        raise Error("transform", "a tensor that requires grad", "weft.torch.fftn and its like, or x.detach()")
    if hasattr(tensor, "placements"):
        raise Error("transform", "a DTensor", "weft.torch.fftn and its like")


def transformable(a: Any) -> Any:
    """The array, or a copy in a dtype that can be transformed: float16 as float32, what is no float as float64."""
    if module_of(a) == "torch":
        dtype = dtype_of_torch(a.dtype)
        if isinstance(dtype, np.dtype):
            return a
        if dtype.name in _NOT_TRANSFORMED:
            raise TypeError(f"weft transforms {dtype} nowhere: float32 and float64 and complex numbers of them")
        return converted(a, np.dtype(_WIDER.get(dtype.name, "float64")))
    if a.dtype.kind in "fc":
        if a.dtype.char in "gG":
            raise TypeError(f"weft transforms {a.dtype} nowhere: float32 and float64 and complex numbers of them")
        dtype = np.dtype(np.float32) if a.dtype.char == "e" else a.dtype.newbyteorder("=")
    else:
        dtype = np.dtype(np.float64)
    return a if a.dtype == dtype and a.dtype.isnative else converted(a, dtype)


def at_home(a: Any) -> contextlib.AbstractContextManager:
    """Where work of the array's module on it is done on its device and in the order of its stream: CuPy takes the
    current device, PyTorch that of the tensor."""
    return a.device if module_of(a) == "cupy" else contextlib.nullcontext()


def dtype_of(a: Any) -> np.dtype:
    """The dtype in NumPy's words."""
    if module_of(a) != "torch":
        return a.dtype
    dtype = dtype_of_torch(a.dtype)
    assert isinstance(dtype, np.dtype)  # transformable() saw to that
    return dtype


def converted(a: Any, dtype: np.dtype) -> Any:
    """A copy in another dtype."""
    if module_of(a) == "torch":
        return a.to(getattr(sys.modules["torch"], dtype.name))
    with at_home(a):
        return a.astype(dtype)


def made_like(a: Any, shape: tuple[int, ...] | list[int], dtype: np.dtype, zeros: bool = False) -> Any:
    """A new array in C order, of the module and in the memory of `a`; zeros, or with values that are undefined."""
    module = module_of(a)
    name = "zeros" if zeros else "empty"
    if module == "torch":
        torch = sys.modules["torch"]
        return getattr(torch, name)(tuple(shape), dtype=getattr(torch, dtype.name), device=a.device)
    if module == "cupy":
        cupy = sys.modules["cupy"]
        with a.device:
            return getattr(cupy, name)(tuple(shape), dtype)
    return np.zeros(shape, dtype) if zeros else empty(shape, dtype)


def beside(values: np.ndarray, a: Any) -> Any:
    """An array of NumPy as one of the module of `a`, in the memory that `a` is in: a copy, unless `a` is NumPy's."""
    module = module_of(a)
    if module == "torch":
        return sys.modules["torch"].from_numpy(values).to(a.device)
    if module == "cupy":
        with a.device:
            return sys.modules["cupy"].asarray(values)
    return values


def copied(a: Any) -> Any:
    """A copy in C order."""
    if module_of(a) == "torch":
        return a.clone(memory_format=sys.modules["torch"].contiguous_format)
    with at_home(a):
        return a.copy()


def conjugated(a: Any, out: Any = None) -> Any:
    """The complex conjugate, a new array or in `out`."""
    if module_of(a) == "torch":
        return sys.modules["torch"].conj_physical(a, out=out)
    if module_of(a) == "cupy":
        with a.device:
            return sys.modules["cupy"].conj(a, out=out)
    return np.conj(a, out=out)


def device_of(a: Any) -> int:
    """The GPU whose memory the array lies in; -1: memory of the host."""
    memory = device_memory("x", a, 0) if on_device(a) else None
    return -1 if memory is None else memory.device


def strides_of(a: Any) -> tuple[int, ...]:
    """Strides in bytes."""
    if module_of(a) != "torch":
        return a.strides
    return tuple(step * a.element_size() for step in a.stride())


def aligned(a: Any) -> bool:
    """Whether the array begins where plans take it: on a multiple of its real numbers' size, on GPUs of 16 bytes."""
    module = module_of(a)
    if module == "numpy":
        return a.flags.aligned
    address = a.data.ptr if module == "cupy" else a.data_ptr()
    return address % (16 if on_device(a) else dtype_of(a).itemsize) == 0
