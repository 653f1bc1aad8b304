"""The modules that make arrays: new arrays of a plan's shape and strides, and the stream that the caller is on."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._error import Error

KNOWN = ("numpy", "cupy", "torch")


def named(xp: Any, default: str) -> str:
    """The name of a module that is given as itself or as its name."""
    name = default if xp is None else xp if isinstance(xp, str) else getattr(xp, "__name__", repr(xp))
    if name not in KNOWN:
        raise Error("plan", f"arrays of {name}", 'those of "numpy", "cupy" or "torch"')
    return name


def default_of_devices() -> str:
    """The module whose device arrays are made where nobody says which: the one that the program has imported, CuPy
    before PyTorch."""
    for name in ("cupy", "torch"):
        if name in sys.modules:
            return name
    raise Error("plan", "no module for new arrays in memory of a GPU", "import cupy or import torch first, or xp=")


def empty(module: str, shape: Sequence[int], strides: Sequence[int], dtype: np.dtype, count: int, device: int) -> Any:
    """A new array of `count` elements of memory, its values undefined, of CuPy or PyTorch. `strides` in bytes;
    `device` -1: the host."""
    if module == "torch":
        torch = importlib.import_module("torch")
        where = "cpu" if device < 0 else f"cuda:{device}"
        memory = torch.empty(count, dtype=getattr(torch, dtype.name), device=where)
        return memory.as_strided(tuple(shape), tuple(s // dtype.itemsize for s in strides))
    if module == "cupy" and device >= 0:
        cupy = importlib.import_module("cupy")
        with cupy.cuda.Device(device):
            memory = cupy.empty(count, dtype)
        return cupy.ndarray(tuple(shape), dtype, memory.data, tuple(strides))
    place = "memory of the host" if device < 0 else f"memory of GPU {device}"
    raise Error(
        "plan", f"a new array of {module} in {place}", "an array of your own, as out=, or of numpy, cupy, torch"
    )


def stream_of(module: str, device: int) -> int:
    """The stream that the caller's work in that module goes to, as CUDA's handle; 0 is the default one."""
    if module == "torch":
        return sys.modules["torch"].cuda.current_stream(device).cuda_stream
    if module == "cupy":
        return sys.modules["cupy"].cuda.get_current_stream(device).ptr
    return 0


def handle_of(stream: Any) -> int:
    """The handle of a stream that the user names."""
    if isinstance(stream, int) and not isinstance(stream, bool) and stream >= 0:
        return stream
    if hasattr(stream, "__cuda_stream__"):
        return stream.__cuda_stream__()[1]
    for attribute in ("ptr", "cuda_stream", "handle"):
        handle = getattr(stream, attribute, None)
        if isinstance(handle, int):
            return handle
    raise Error(
        "plan: stream",
        f"an object of type {type(stream).__name__}",
        "a stream of CuPy or PyTorch, an object with __cuda_stream__, or CUDA's handle as a number",
    )


def allocating_on(module: str, device: int, stream: int) -> contextlib.AbstractContextManager:
    """Where new arrays are for use on this stream, also in the eyes of the module that frees and reuses them."""
    if stream == stream_of(module, device):
        return contextlib.nullcontext()
    if module == "torch":
        cuda = sys.modules["torch"].cuda
        return cuda.stream(cuda.ExternalStream(stream, device) if stream else cuda.default_stream(device))
    if module == "cupy":
        cuda = sys.modules["cupy"].cuda
        return cuda.ExternalStream(stream, device) if stream else cuda.Stream.null
    return contextlib.nullcontext()


def note_written(array: Any) -> None:
    """Tells PyTorch that a tensor has other values now, so that gradients that need the old ones are an error."""
    torch = sys.modules.get("torch")
    if torch is not None and type(array) is not np.ndarray and isinstance(array, torch.Tensor):
        torch.autograd.graph.increment_version(array)
