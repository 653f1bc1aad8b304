"""Arrays of plans that are in place: input and output are two views of one memory."""

from __future__ import annotations

import numpy as np

from weft._arrays import Side
from weft._error import Error


def other_view(name: str, array: np.ndarray, side: Side, room: int) -> np.ndarray:
    """The array of `side` that begins where `array` begins. The memory there has to have `room` bytes."""
    memory, start, end = _memory(array)
    first = array.__array_interface__["data"][0]
    if end - first < room:
        raise Error(
            "plan: in place",
            f"{name} in memory of {end - first} bytes from its first element on",
            f"{room}, the larger of input and output, as plan.empty_input() has them",
        )
    return np.ndarray(side.shape, side.dtype, memory, first - start, side.strides)


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
