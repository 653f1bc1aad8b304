"""The modules that make arrays: new arrays of a plan's shape and strides, arrays on memory that is there already, and
the stream that the caller is on."""

from __future__ import annotations

import contextlib
import importlib
import sys
import types
from collections.abc import Iterator, Sequence
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


def on_memory(
    module: str, where: tuple[int, int, int], shape: Sequence[int], strides: Sequence[int], dtype: np.dtype
) -> Any:
    """An array of CuPy or PyTorch on memory that others own. `where`: its address, how many bytes it has, the GPU.
    `strides` in bytes."""
    address, size, device = where
    if module == "torch":
        facts = dict(shape=tuple(shape), strides=tuple(strides), typestr=dtype.str, data=(address, False), version=2)
        # as_tensor copies nothing that is on the device already.
        return sys.modules["torch"].as_tensor(
            types.SimpleNamespace(__cuda_array_interface__=facts), device=f"cuda:{device}"
        )
    cupy = sys.modules["cupy"]
    memory = cupy.cuda.UnownedMemory(address, size, None, device)
    return cupy.ndarray(tuple(shape), dtype, cupy.cuda.MemoryPointer(memory, 0), tuple(strides))


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


@contextlib.contextmanager
def working_on(module: str, device: int, stream: int) -> Iterator[None]:
    """Where the module works on this GPU and this stream, and new arrays are for use there, also in the eyes of the
    module, which frees and reuses their memory."""
    with contextlib.ExitStack() as entered:
        if module in ("cupy", "torch"):
            cuda = sys.modules[module].cuda
            # CuPy lets a stream in only where its device is the current one.
            entered.enter_context(cuda.Device(device) if module == "cupy" else cuda.device(device))
            if stream != stream_of(module, device):
                entered.enter_context(_entered(module, device, stream))
        yield


def _entered(module: str, device: int, stream: int) -> contextlib.AbstractContextManager:
    """The stream as what `with` makes the module's current one."""
    cuda = sys.modules[module].cuda
    if module == "torch":
        return cuda.stream(cuda.ExternalStream(stream, device) if stream else cuda.default_stream(device))
    if not stream:
        return cuda.Stream.null
    if hasattr(cuda.Stream, "from_external"):  # since CuPy 14, where ExternalStream is deprecated
        return cuda.Stream.from_external(types.SimpleNamespace(__cuda_stream__=lambda: (0, stream)))
    return cuda.ExternalStream(stream, device)


def note_written(array: Any) -> None:
    """Tells PyTorch that a tensor has other values now, so that gradients that need the old ones are an error."""
    torch = sys.modules.get("torch")
    if torch is not None and type(array) is not np.ndarray and isinstance(array, torch.Tensor):
        torch.autograd.graph.increment_version(array)
