"""Global positions of a distributed array: which of them this rank holds, and where."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from weft._layout import Layout

Selection = list  # of an integer or a slice of step 1, both not negative, per axis
Held = tuple  # the same, relative to this rank's box


def selection(shape: tuple[int, ...], index: Any) -> Selection:
    """The index as one integer or slice per axis of the whole array."""
    entries = list(index) if isinstance(index, tuple) else [index]
    gaps = [i for i, entry in enumerate(entries) if entry is Ellipsis]
    if len(gaps) > 1 or len(entries) - len(gaps) > len(shape):
        raise IndexError(f"{len(entries)} indices for an array of {len(shape)} axes")
    missing = [slice(None)] * (len(shape) - len(entries) + len(gaps))
    at = gaps[0] if gaps else len(entries)
    entries[at : at + 1] = missing
    return [_normal(entry, axis, n) for axis, (entry, n) in enumerate(zip(entries, shape, strict=True))]


def _normal(entry: Any, axis: int, n: int) -> int | slice:
    if isinstance(entry, slice):
        start, stop, step = entry.indices(n)
        if step != 1:
            raise IndexError(
                f"a slice of step {step} along axis {axis}; a DistArray has slices of step 1, `local` all of them"
            )
        return slice(start, max(start, stop))
    try:
        if isinstance(entry, bool | np.bool_):
            raise TypeError
        position = operator.index(entry)
    except TypeError:
        raise IndexError(
            f"an index of type {type(entry).__name__} along axis {axis}; a DistArray has integers and slices, "
            "`local` all of NumPy's"
        ) from None
    if not -n <= position < n:
        raise IndexError(f"index {position} is out of bounds for axis {axis} with size {n}")
    return position % n


def held(layout: Layout, chosen: Selection) -> Held | None:
    """Of the chosen positions those of this rank, as an index of its part; None if it has none of an integer's."""
    mine: list[int | slice] = []
    for entry, low, high in zip(chosen, layout.box.lo, layout.box.hi, strict=True):
        if isinstance(entry, slice):
            start, stop = max(entry.start, low), min(entry.stop, high)
            mine.append(slice(start - low, stop - low) if start < stop else slice(0, 0))
        elif low <= entry < high:
            mine.append(entry - low)
        else:
            return None
    return tuple(mine)


def nothing_of(layout: Layout, chosen: Selection, dtype: np.dtype) -> np.ndarray:
    """What a rank reads that holds none of the chosen positions: no elements; of a single one an IndexError."""
    axes = sum(isinstance(entry, slice) for entry in chosen)
    if axes == 0:
        where = f"held by rank {_owner(layout, chosen)}, this is rank {layout.ranks.rank}"
        raise IndexError(f"position {tuple(chosen)} is {where}; `gather` and sums are collective")
    return np.empty((0,) * axes, dtype)


def _owner(layout: Layout, position: Selection) -> int | None:
    for rank, (box, _) in enumerate(layout.parts):
        if all(low <= p < high for p, low, high in zip(position, box.lo, box.hi, strict=True)):
            return rank
    return None


def part_of_values(layout: Layout, chosen: Selection, mine: Held, values: Any) -> Any:
    """What of the values this rank sets. Along each axis they have one entry, or the selection's, or this rank's."""
    if np.ndim(values) == 0:
        return values
    axes = [(c, m, low) for c, m, low in zip(chosen, mine, layout.box.lo, strict=True) if isinstance(c, slice)]
    extra = np.ndim(values) - len(axes)
    if extra > 0:
        raise ValueError(f"values of {np.ndim(values)} axes for a selection of {len(axes)}")
    index = []
    for (c, m, low), n in zip(axes[-extra:] if extra else axes, np.shape(values), strict=True):
        count, whole = m.stop - m.start, c.stop - c.start
        if n == whole and n != count:
            first = m.start + low - c.start
            index.append(slice(first, first + count) if count else slice(0, 0))
        elif n in (1, count):
            index.append(slice(None))
        else:
            raise ValueError(
                f"values of length {n} along an axis of which {whole} are set, {count} of them on this rank"
            )
    return np.asarray(values)[tuple(index)]
