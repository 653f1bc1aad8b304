"""The arrays that a plan reads and writes: what they look like, and clear words for those that do not."""

from __future__ import annotations

import numpy as np

from weft._box import Box
from weft._error import Error
from weft._memory import empty
from weft._views import Memory

_BYTE = np.dtype(np.uint8)


class Side:
    """One side of a plan: the box of this rank and the NumPy arrays that hold it.

    With a batch, arrays have one more axis, the first. With a halo, their shape is that of the box with its halo.
    """

    def __init__(self, name: str, side: tuple, dtype: np.dtype, batch: int, halo: tuple, room: int = 0) -> None:
        """`room`: bytes of new arrays, if they are to have more than their own."""
        self.name = name
        corners, self.order, strides, distance, count = side
        self.box = Box(*corners)
        self.dtype = dtype
        size = dtype.itemsize
        self.bytes = max(count * size, room)
        self.count = -(-self.bytes // size)  # elements of new arrays' memory
        around = [low + high for low, high in zip(*halo, strict=True)] if halo[0] else [0] * len(self.box.lo)
        empty = self.box.size == 0
        shape = [n + more * (not empty) for n, more in zip(self.box.shape, around, strict=True)]
        steps = [s * size for s in strides]
        if batch > 1:
            shape, steps = [batch, *shape], [distance * size, *steps]
        self.shape, self.strides = tuple(shape), tuple(steps)

    def empty(self) -> np.ndarray:
        """A new array, its values undefined. Its memory has what the plan may touch and no more."""
        memory = empty((self.bytes,), _BYTE)
        return np.ndarray(self.shape, self.dtype, memory, 0, self.strides)

    def check(self, name: str, array: np.ndarray | Memory, write: bool = False) -> None:
        """Raises `weft.Error` unless the array can be read, or written, where it lies."""
        try:
            alike = array.strides == self.strides and array.shape == self.shape and array.dtype == self.dtype
        except AttributeError:
            alike = False
        if not alike:
            self._look_closer(name, array)
        if write and not array.flags.writeable:
            raise Error("plan", f"{name}, which is read-only", "a writable array")

    def _look_closer(self, name: str, array: object) -> None:
        wanted = (
            f"shape {self.shape}, dtype {self.dtype}, strides {self.strides} bytes "
            f"({_order(self.shape, self.strides)}), as plan.empty_{self.name}() makes them"
        )
        if not isinstance(array, np.ndarray | Memory):
            raise Error("plan", f"{name} of type {type(array).__name__}", f"a NumPy array of {wanted}")
        same = array.shape == self.shape and array.dtype == self.dtype
        axes = zip(array.shape, array.strides, self.strides, strict=False)
        if same and (array.size == 0 or all(n == 1 or have == want for n, have, want in axes)):
            return  # along an axis of one point no step is ever made
        got = f"shape {array.shape}, dtype {array.dtype}, strides {array.strides} bytes"
        hint = ""
        if same:
            hint = "; other strides, of views too, are given to the plan: input=weft.Distribution....with_strides(...)"
        raise Error("plan", f"{name} of {got} ({_order(array.shape, array.strides)})", wanted + hint)


def _order(shape: tuple, strides: tuple) -> str:
    """The memory order in words: C order, Fortran order, or the axes from slowest to fastest."""
    axes = [a for a in range(len(shape)) if shape[a] > 1]
    if any(strides[a] <= 0 for a in axes):
        return "steps that are not positive"
    slowest_first = sorted(axes, key=lambda a: -strides[a])
    if slowest_first == axes:
        return "C order"
    if slowest_first == axes[::-1]:
        return "Fortran order"
    return f"axes {slowest_first} from slowest to fastest"
