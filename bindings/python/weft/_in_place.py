"""Arrays of plans that are in place: input and output are two views of one memory."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from weft._arrays import Side
from weft._error import Error
from weft._views import module_of


def other_view(name: str, array: Any, side: Side) -> Any:
    """The array of `side` that begins where `array` begins, of the same module. The memory there has to have
    `side.bytes` bytes."""
    module = module_of(array)
    if module == "torch":
        return _of_torch(name, array, side)
    if module == "cupy":
        return _of_cupy(name, array, side)
    if module != "numpy":
        raise Error("plan: in place", f"{name}, an array of {module}", "one of NumPy, CuPy or PyTorch")
    memory, start, end = _memory(array)
    first = array.__array_interface__["data"][0]
    _check_room(name, end - first, side)
    return np.ndarray(side.shape, side.dtype, memory, first - start, side.strides)


def _check_room(name: str, room: int, side: Side) -> None:
    if room < side.bytes:
        raise Error(
            "plan: in place",
            f"{name} in memory of {room} bytes from its first element on",
            f"{side.bytes}, the larger of input and output, as plan.empty_input() has them",
        )


def _of_torch(name: str, tensor: Any, side: Side) -> Any:
    torch = sys.modules["torch"]
    memory, size = tensor.untyped_storage(), side.dtype.itemsize
    begin = tensor.data_ptr() - memory.data_ptr()
    _check_room(name, memory.nbytes() - begin, side)
    if begin % size:
        raise Error(
            "plan: in place",
            f"{name}, a tensor that begins {begin} bytes into its memory",
            f"a multiple of {size}, the bytes of {side.dtype}",
        )
    view = torch.empty(0, dtype=getattr(torch, side.dtype.name), device=tensor.device)
    return view.set_(memory, begin // size, side.shape, tuple(step // size for step in side.strides))


def _of_cupy(name: str, array: Any, side: Side) -> Any:
    pointer = array.data
    _check_room(name, pointer.mem.size - (pointer.ptr - pointer.mem.ptr), side)
    return sys.modules["cupy"].ndarray(side.shape, side.dtype, pointer, side.strides)


def _memory(array: np.ndarray) -> tuple[np.ndarray, int, int]:
    """All of the memory that an array is part of, as far as it is known: as an array, its first address, its end."""
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    if owner.base is None:
        memory = owner.ravel("K")  # a view: who owns memory has it without gaps
    else:
        try:
            memory = np.frombuffer(owner.base, np.uint8)
        except (TypeError, ValueError, BufferError):  # all that is known is the memory of the array itself
            memory = owner.ravel("K")
            if not np.shares_memory(memory, owner):
                raise Error(
                    "plan: in place",
                    f"an array with steps, on an object of type {type(owner.base).__name__}",
                    "an array of NumPy's own, or one without steps",
                ) from None
    start = memory.__array_interface__["data"][0]
    return memory, start, start + memory.nbytes
