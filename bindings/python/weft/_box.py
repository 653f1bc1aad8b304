"""The part of a global index space that one rank holds."""

from __future__ import annotations

import math
from typing import NamedTuple


class Box(NamedTuple):
    """The indices i with lo[a] <= i[a] < hi[a] along every axis a.

    >>> box = Box((0, 8), (4, 16))
    >>> box.shape, box.size
    ((4, 8), 32)
    >>> box.slices
    (slice(0, 4, None), slice(8, 16, None))
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
