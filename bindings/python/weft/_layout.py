"""Which rank holds which box of an array, and with which strides: what all ranks know of a distributed array."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from weft._box import Box
from weft._core import Distribution
from weft._distributions import Where, distribution
from weft._error import Error
from weft._together import Ranks
from weft._views import separate

# What a plan that transforms nothing is told of elements it only moves, by their size.
_OF_PLANS = [np.dtype(char) for char in "fdFD"]
_MOVED_AS = {4: np.dtype(np.float32), 8: np.dtype(np.float64), 16: np.dtype(np.complex128)}

# The lengths of an array, its dtype, and what distributions have in common if they are equal.
Described = tuple[tuple[int, ...], str, tuple]


class Part(NamedTuple):
    """One rank's box, and the strides of its array in elements."""

    box: Box
    strides: tuple[int, ...]

    @property
    def order(self) -> tuple[int, ...]:
        """The axes from slowest to fastest in memory. An axis of one point may have the stride of another one."""
        lengths = self.box.shape
        return tuple(sorted(range(len(lengths)), key=lambda a: (-self.strides[a], -lengths[a], a)))

    def dense(self) -> Part:
        """The same box without gaps, in the same memory order."""
        strides, step, shape = [0] * len(self.strides), 1, self.box.shape
        for axis in reversed(self.order):
            strides[axis] = step
            step *= max(shape[axis], 1)
        return Part(self.box, tuple(strides))


class Layout:
    """The shape of an array and the parts of all ranks, the same on all of them. Layouts are equal if these are."""

    def __init__(self, ranks: Ranks, shape: tuple[int, ...], parts: Sequence[Part]) -> None:
        self.ranks, self.shape, self.parts = ranks, shape, tuple(parts)
        self.mine = self.parts[ranks.rank]
        self.box = self.mine.box
        self._hash = hash((shape, self.parts))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Layout) and self._key == other._key and self.among_the_ranks_of(other)

    @functools.cached_property
    def order(self) -> tuple[int, ...]:
        """This rank's axes from slowest to fastest in memory."""
        return self.mine.order

    @functools.cached_property
    def places(self) -> tuple[int, ...]:
        """Where each axis is in `order`."""
        return tuple(self.order.index(a) for a in range(len(self.order)))

    @property
    def _key(self) -> tuple:
        return self._hash, self.shape, self.parts

    def among_the_ranks_of(self, other: Layout) -> bool:
        return self.ranks is other.ranks or self.ranks.size == other.ranks.size == 1

    def has_boxes_of(self, other: Layout) -> bool:
        """Whether all ranks hold the same boxes in both, whatever their strides."""
        return self == other or (
            self.shape == other.shape
            and self.among_the_ranks_of(other)
            and all(
                a.box == b.box or a.box.size == b.box.size == 0 for a, b in zip(self.parts, other.parts, strict=True)
            )
        )

    @functools.cached_property
    def dense(self) -> Layout:
        """The same boxes in arrays without gaps."""
        return self.with_parts(Part.dense)

    def with_parts(self, change: Callable[[Part], Part]) -> Layout:
        """The layout with every rank's part changed. If nothing changes, it is this one. Local."""
        parts = tuple(change(part) for part in self.parts)
        return self if parts == self.parts else Layout(self.ranks, self.shape, parts)

    def empty(self, dtype: DTypeLike) -> np.ndarray:
        """A new array for this rank, its values undefined: without gaps, in this layout's memory order."""
        memory = np.empty([self.box.shape[a] for a in self.order], dtype)
        return memory.transpose(self.places)

    def fits(self, local: Any) -> bool:
        """Whether an array has this rank's shape and strides."""
        if tuple(local.shape) != self.box.shape:
            return False
        steps = zip(local.shape, local.strides, self.mine.strides, strict=True)
        return local.size == 0 or all(n == 1 or have == want * local.itemsize for n, have, want in steps)

    def distribution(self) -> Distribution:
        """This rank's part for a plan; arrays of one axis have a second one, of one point."""
        if self.box.size == 0:
            return Distribution.box(Box((0,) * self._axes, (0,) * self._axes))
        (lo, hi), strides = self.box, self.mine.strides
        beyond = 1 + sum((n - 1) * s for n, s in zip(self.box.shape, strides, strict=True) if n > 1)
        strides = tuple(s if n > 1 else beyond for n, s in zip(self.box.shape, strides, strict=True))
        if len(lo) == 1:
            lo, hi, strides = (*lo, 0), (*hi, 1), (*strides, beyond)
        return Distribution.box(Box(lo, hi)).with_strides(strides)

    @property
    def _axes(self) -> int:
        return max(len(self.shape), 2)


def strides_of(local: np.ndarray) -> tuple[int, ...]:
    """In elements. Steps that a plan could not take are a `weft.Error`."""
    size = local.itemsize
    if not separate(local.shape, local.strides, size) or not local.flags.aligned:
        steps = f"strides {local.strides} bytes" + ("" if local.flags.aligned else ", not aligned")
        wanted = f"aligned memory, steps of positive multiples of {size} bytes, and no two elements in one place"
        raise Error("array: local", steps, wanted)
    pairs = zip(local.shape, local.strides, strict=True)
    return tuple(s // size if n > 1 or (s > 0 and s % size == 0) else 1 for n, s in pairs)


def gathered(ranks: Ranks, shape: tuple[int, ...], box: Box, strides: tuple[int, ...]) -> Layout:
    """The layout of which each rank knows its own part. Collective."""
    parts = [Part(Box(*corners), steps) for corners, steps in ranks.allgather(((box.lo, box.hi), strides))]
    return Layout(ranks, shape, parts)


def described(shape: Any, where: Where, dtype: DTypeLike) -> Described:
    """Shape, dtype and distribution as given, if they are right by themselves. Local."""
    lengths = tuple(operator.index(n) for n in shape) if np.ndim(shape) else (operator.index(shape),)
    given = distribution("distribution", where)
    if given.kind == "fastest":
        raise Error(
            "array: distribution",
            '"fastest"',
            "one that says who holds what; DistArray.output_of(plan) takes a plan's",
        )
    if any(n for side in given.halo for n in side):
        raise Error("array: distribution", "one with a halo", "one without")
    if np.dtype(dtype).hasobject:
        raise Error("array: dtype", f"{np.dtype(dtype)}, objects of Python", "numbers, or other elements of fixed size")
    return lengths, np.dtype(dtype).str, given.key


def layout_of(ranks: Ranks, everyone: Sequence[Described], where: Where) -> Layout:
    """The layout that a plan's input of this distribution would have, of what all ranks have `described`. Collective;
    ranks that disagree all raise."""
    for rank, (lengths, kind, _) in enumerate(everyone):
        if (lengths, kind) != everyone[0][:2]:
            here, there = f"shape {everyone[0][0]} of {everyone[0][1]}", f"shape {lengths} of {kind}"
            raise Error("array", f"{there}, while rank 0 has {here}", "the same on all ranks", rank)
    lengths = everyone[0][0]
    key = tuple((lengths, distribution_key) for _, _, distribution_key in everyone)
    return ranks.layouts.get(key, lambda: _planned(ranks, lengths, distribution("distribution", where)))


def _planned(ranks: Ranks, lengths: tuple[int, ...], where: Distribution) -> Layout:
    if len(lengths) == 1 and where.kind != "slab":
        raise Error("array: distribution", f'"{where.kind}" of an array of one axis', '"slab0"')
    plan = _plan(ranks, (*lengths, 1) if len(lengths) == 1 else lengths, where, where, np.dtype(float))
    n = len(lengths)
    box, strides = plan.input_box, strides_of(plan.empty_input())
    return gathered(ranks, lengths, Box(box.lo[:n], box.hi[:n]), strides[:n])


def _plan(ranks: Ranks, shape: Sequence[int], source: Where, target: Where, dtype: np.dtype) -> Any:
    from weft._plan import Plan  # which knows DistArray, and so this module

    return Plan(ranks.core, shape, [None] * len(shape), dtype, input=source, output=target)


def movable(dtype: np.dtype) -> np.dtype:
    """What elements are while a plan moves them, whose bits it leaves as they are. A `weft.Error` if there is none."""
    if dtype in _OF_PLANS:
        return dtype
    moved = _MOVED_AS.get(dtype.itemsize)
    if moved is None or dtype.hasobject:
        wanted = "4, 8 or 16 bytes to be moved; astype() gives them"
        raise Error("array", f"elements of {dtype}, {dtype.itemsize} bytes", wanted)
    return moved


def move(source: Layout, data: np.ndarray, target: Layout, out: np.ndarray) -> None:
    """Moves an array from one layout to another, by one exchange of a plan that transforms nothing. Collective.
    The plans made last are kept, with their workspace."""
    moved = movable(data.dtype)
    shape = source.shape if len(source.shape) > 1 else (*source.shape, 1)
    with source.ranks.moving:
        plan = source.ranks.plans.get(
            (source, target, moved),
            lambda: _plan(source.ranks, shape, source.distribution(), target.distribution(), moved),
        )
        plan.forward(_for(plan.input_shape, data, moved), _for(plan.output_shape, out, moved))


def _for(shape: tuple[int, ...], a: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The array's memory as a plan has it."""
    if a.size == 0:
        return np.empty(shape, dtype)
    return a.view(dtype).reshape(shape) if a.shape == shape else a.view(dtype)[:, None]
