"""What NumPy's functions do with distributed arrays: elements are computed where they lie, reductions are of all."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from weft._box import Box
from weft._error import Error
from weft._layout import Layout, Part

if TYPE_CHECKING:
    from weft._dist_array import DistArray


def _distributed(values: Sequence[Any]) -> list[DistArray]:
    from weft._dist_array import DistArray

    return [v for v in values if isinstance(v, DistArray)]


def ufunc(ufunc: np.ufunc, method: str, inputs: tuple, kwargs: dict) -> Any:
    """`DistArray.__array_ufunc__`."""
    if method == "reduce":
        return reduce(inputs[0], ufunc, **kwargs)
    if method != "__call__" or ufunc.signature is not None:
        name = ufunc.__name__ + ("" if method == "__call__" else "." + method)
        raise TypeError(f"np.{name} is not there for a weft.DistArray: take its `local`, this rank's part")
    return elementwise(ufunc, inputs, kwargs.pop("out", ()), {**kwargs, "order": "C"})


def elementwise(function: Callable, inputs: Sequence[Any], outs: tuple = (), kwargs: dict | None = None) -> Any:
    """The function of the parts of this rank. Local.

    NumPy sees views with the axes in the memory order of the result, so that it computes that order without a copy.
    Plain arrays stand for this rank's part, or for what broadcasts to it, as `Plan.wavenumbers`.
    """
    kwargs = dict(kwargs or {})
    masks = [kwargs["where"]] if "where" in kwargs else []
    layout = broadcast([a._layout for a in _distributed([*inputs, *outs, *masks])])
    order, shape = layout.order, layout.box.shape

    def seen(value: Any) -> Any:
        part = getattr(value, "local", value)
        if np.ndim(part) == 0:
            return part
        return _against(part, shape).transpose(order)

    views = [seen(value) for value in inputs]
    if masks:
        kwargs["where"] = seen(masks[0])
    if any(out is not None for out in outs):
        kwargs["out"] = tuple(None if out is None else seen(out) for out in outs)
    results = function(*views, **kwargs)
    several = isinstance(results, tuple)
    wrapped = [
        out if out is not None else _wrapped(layout, _contiguous(result).transpose(layout.places))
        for result, out in itertools.zip_longest(results if several else (results,), outs)
    ]
    return tuple(wrapped) if several else wrapped[0]


def _contiguous(a: Any) -> Any:
    return a if a.flags.c_contiguous else np.ascontiguousarray(a)


def _against(part: Any, shape: tuple[int, ...]) -> Any:
    """A view with as many axes as the part of this rank; lengths are those of the part, or 1."""
    if np.shape(part) == shape:
        return np.asarray(part) if isinstance(part, list | tuple) else part
    lengths = (1,) * (len(shape) - np.ndim(part)) + np.shape(part)
    if len(lengths) > len(shape) or any(n not in (1, want) for n, want in zip(lengths, shape, strict=True)):
        wanted = f"what broadcasts to this rank's part, {shape}; of a whole array take whole[a.box.slices]"
        raise Error("array", f"an operand of shape {np.shape(part)}", wanted)
    return part.reshape(lengths) if hasattr(part, "strides") else np.reshape(part, lengths)


def _wrapped(layout: Layout, local: Any) -> DistArray:
    from weft._dist_array import DistArray

    return DistArray._of(layout, local)


def broadcast(layouts: Sequence[Layout]) -> Layout:
    """The layout of what operands of these layouts give, without gaps. Local."""
    ranks = layouts[0].ranks
    if all(layout is layouts[0] for layout in layouts):
        return layouts[0].dense
    if not all(layout.among_the_ranks_of(layouts[0]) for layout in layouts):
        raise Error("array", "arrays of different communicators", "arrays of one")
    return ranks.broadcasts.get(tuple(layouts), lambda: _broadcast(layouts))


def _broadcast(layouts: Sequence[Layout]) -> Layout:
    first = max(layouts, key=lambda layout: len(layout.shape))
    if all(layout.has_boxes_of(first) for layout in layouts):
        return layouts[0].dense
    ndim = len(first.shape)
    padded = [
        [Box((0,) * (ndim - len(box.lo)) + box.lo, (1,) * (ndim - len(box.hi)) + box.hi) for box, _ in layout.parts]
        for layout in layouts
    ]
    shapes = [(1,) * (ndim - len(layout.shape)) + layout.shape for layout in layouts]
    shape = np.broadcast_shapes(*shapes)
    parts = []
    for rank, boxes in enumerate(zip(*padded, strict=True)):
        ranges = []
        for axis, n in enumerate(shape):
            found = {(b.lo[axis], b.hi[axis]) for b, s in zip(boxes, shapes, strict=True) if s[axis] == n}
            if len(found) > 1:
                got = f"arrays of which rank {rank} holds {sorted(found)} along axis {axis}"
                raise Error("array", got, "equal boxes on all ranks; redistribute() gives them", rank)
            ranges.append(found.pop())
        lo, hi = zip(*ranges, strict=True)
        order = first.parts[rank].order if first.shape == shape else tuple(range(ndim))
        parts.append(Part(Box(lo, hi), tuple(ndim - order.index(a) for a in range(ndim))).dense())
    return Layout(first.ranks, shape, parts)


def reduce(
    a: DistArray,
    ufunc: np.ufunc,
    axis: Any = 0,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool = False,
    **others: Any,
) -> Any:
    """Reduces along all axes (None), which is collective, or, locally, along some that no rank's box is cut along."""
    if out is not None or keepdims or others:
        raise TypeError(f"np.{ufunc.__name__}.reduce of a weft.DistArray takes axis and dtype only")
    axes = range(a.ndim) if axis is None else np.atleast_1d(axis)
    chosen = tuple(sorted({int(x) % a.ndim for x in axes if -a.ndim <= x < a.ndim or _no_axis(x, a.ndim)}))
    layout = a._layout
    if len(chosen) < a.ndim:
        return _reduced_along(a, ufunc, chosen, dtype)
    partial = ufunc.reduce(a._local, axis=None, dtype=dtype) if a._local.size else None
    partials = [p for p in layout.ranks.allgather(partial) if p is not None]
    if not partials:
        return ufunc.reduce(a._local, axis=None, dtype=dtype)  # of no elements: what NumPy has for that
    return ufunc.reduce(np.stack(partials))


def _no_axis(axis: Any, ndim: int) -> bool:
    raise np.exceptions.AxisError(int(axis), ndim)


def _reduced_along(a: DistArray, ufunc: np.ufunc, axes: tuple[int, ...], dtype: DTypeLike | None) -> DistArray:
    kept = [axis for axis in range(a.ndim) if axis not in axes]
    for rank, (box, _) in enumerate(a._layout.parts):
        if box.size and any(box.hi[x] - box.lo[x] != a.shape[x] for x in axes):
            got = f"a reduction along axes {axes}, of which rank {rank} holds {box.lo} to {box.hi}"
            raise Error("array", got, "axes that are not cut, as after redistribute(axis), or all axes")
    shape = tuple(a.shape[x] for x in kept)

    def part(old: Part) -> Part:
        box = Box(tuple(old.box.lo[x] for x in kept), tuple(old.box.hi[x] for x in kept))
        return Part(box, tuple(old.strides[x] for x in kept)).dense()

    layout = Layout(a._layout.ranks, shape, [part(old) for old in a._layout.parts])
    result = layout.empty(ufunc.reduce(np.ones((1,) * a.ndim, a.dtype), axis=axes, dtype=dtype).dtype)
    return _wrapped(layout, ufunc.reduce(a._local, axis=axes, dtype=dtype, out=result) if result.size else result)


def reduction(ufunc: np.ufunc, meaning: str) -> Callable[..., Any]:
    """The method of `DistArray` that reduces with a ufunc."""

    def method(self: DistArray, axis: Any = None, dtype: DTypeLike | None = None, **others: Any) -> Any:
        return reduce(self, ufunc, axis, dtype, **others)

    method.__doc__ = f"""{meaning} of the whole array, the same number on all ranks. Collective.

    `axis`: one or several along which no rank's box is cut; then the result is a `weft.DistArray` without them, and the
    reduction is local."""
    return method


def mean(self: DistArray) -> Any:
    """The mean of the whole array, the same number on all ranks. Collective."""
    return self.sum(dtype=None if self.dtype.kind in "fc" else float) / self.size


def var(self: DistArray) -> Any:
    """The mean square of the distance from the mean. Collective."""
    return (self - self.mean()).norm() ** 2 / self.size


def std(self: DistArray) -> Any:
    """The standard deviation, the root of `var`. Collective."""
    return np.sqrt(self.var())


def norm(self: DistArray, ord: Any = None) -> Any:
    """The norm of the whole array as one vector, the same number on all ranks. Collective.

    `ord`: 2 (None), the root of the sum of squares; 1, the sum of absolute values; inf, the largest of them.
    """
    if ord in (None, 2):
        flat = self._local.ravel(order="K")
        partial = np.linalg.norm(flat)
        return partial.dtype.type(math.hypot(*self._layout.ranks.allgather(float(partial))))
    if ord in (1, math.inf):
        sizes = abs(self)
        return sizes.sum() if ord == 1 else sizes.max()
    raise Error("array: norm", f"ord {ord!r}", "2, 1 or inf")


def vdot(self: DistArray, other: DistArray) -> Any:
    """The sum of the products of this array's conjugate elements and the other's. Collective.

    Both have the same boxes on all ranks.
    """
    a, b = self, other
    if len(_distributed([a, b])) < 2 or not a._layout.has_boxes_of(b._layout):
        raise Error("array: vdot", "arrays of different boxes", "the same; redistribute() gives them")
    order = a.order
    mine = [x._local.transpose(order).ravel() for x in (a, b)]
    return np.add.reduce(np.stack(a._layout.ranks.allgather(np.vdot(*mine))))


def _alike(function: Callable) -> Callable:
    return lambda a, b, *args, **kwargs: bool(elementwise(function, (a, b), (), dict(kwargs)).all())


def _new(value: Any) -> Callable:
    def make(a: DistArray, *args: Any, dtype: DTypeLike | None = None) -> DistArray:
        array = a._like(a.dtype if dtype is None else dtype)
        filling = args[0] if args else value
        if filling is not None:
            array.fill(filling)
        return array

    return make


# Functions of NumPy that are no ufuncs. The names of the methods that do the same:
_METHODS = (
    np.sum,
    np.prod,
    np.mean,
    np.var,
    np.std,
    np.any,
    np.all,
    np.copy,
    np.astype if hasattr(np, "astype") else np.copy,
)
_LOCAL = (np.where, np.clip, np.isclose, np.angle, np.nan_to_num, np.round, np.around)
_FUNCTIONS: dict[Callable, Callable] = {
    **{f: lambda a, *args, _name=f.__name__, **kwargs: getattr(a, _name)(*args, **kwargs) for f in _METHODS},
    **{f: lambda *args, _f=f, **kwargs: elementwise(_f, args, (), kwargs) for f in _LOCAL},
    **{f: lambda a, *args, **kwargs: a.min(*args, **kwargs) for f in (np.min, np.amin)},
    **{f: lambda a, *args, **kwargs: a.max(*args, **kwargs) for f in (np.max, np.amax)},
    np.linalg.norm: norm,
    np.vdot: vdot,
    np.real: lambda a: a.real,
    np.imag: lambda a: a.imag,
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a: a.size,
    np.iscomplexobj: lambda a: a.dtype.kind == "c",
    np.isrealobj: lambda a: a.dtype.kind != "c",
    np.array_equal: lambda a, b: np.shape(a) == np.shape(b) and _alike(np.equal)(a, b),
    np.allclose: _alike(np.isclose),
    np.empty_like: _new(None),
    np.zeros_like: _new(0),
    np.ones_like: _new(1),
    np.full_like: _new(None),
}


def function(function: Callable, args: tuple, kwargs: dict) -> Any:
    """`DistArray.__array_function__`."""
    known = _FUNCTIONS.get(function)
    if known is None:
        name = f"{function.__module__}.{function.__name__}"
        raise TypeError(f"{name} is not there for a weft.DistArray: take its `local`, this rank's part, or gather() it")
    return known(*args, **kwargs)
