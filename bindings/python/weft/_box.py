"""The part of a global index space that one rank holds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Box(NamedTuple):
    """The indices i with lo[a] <= i[a] < hi[a] along every axis a.

    >>> box = Box((0, 8), (4, 16))
    >>> box.shape, box.size
    ((4, 8), 32)
    >>> box.slices
    (slice(0, 4, None), slice(8, 16, None))
    >>> Box.whole((4, 4)).intersect(Box((2, 2), (6, 6)))
    Box(lo=(2, 2), hi=(4, 4))
    """

    lo: tuple[int, ...]
    hi: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths along all axes."""
        return tuple(h - low for low, h in zip(self.lo, self.hi, strict=True))

    @property
    def size(self) -> int:
        """The number of points; 0 for an empty box."""
        return math.prod(self.shape)

    @property
    def slices(self) -> tuple[slice, ...]:
        """The index of the box in the global array: `whole[box.slices]`."""
        return tuple(slice(low, h) for low, h in zip(self.lo, self.hi, strict=True))

    @classmethod
    def whole(cls, shape: Sequence[int]) -> Box:
        """The box of all indices of an array of this shape."""
        return cls((0,) * len(shape), tuple(shape))

    def intersect(self, other: Box) -> Box:
        """The common part of two boxes; one without points if they have none in common."""
        lo = tuple(max(a, b) for a, b in zip(self.lo, other.lo, strict=True))
        hi = tuple(min(a, b) for a, b in zip(self.hi, other.hi, strict=True))
        return Box(lo, tuple(max(low, h) for low, h in zip(lo, hi, strict=True)))

    def contains(self, other: Box) -> bool:
        """Whether all points of the other box are in this one."""
        return other.size == 0 or self.intersect(other) == other
