"""What NumPy's functions do with distributed arrays: elements are computed where they lie."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from weft._box import Box
from weft._dist_reductions import axes_of, reduce, vdot
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
        if not math.prod(shape):  # boxes without points may have different shapes
            return np.empty(shape, np.asarray(part).dtype).transpose(order)
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
        empty = {b.size == 0 for b in boxes}
        for axis, n in enumerate(shape):
            found = {(b.lo[axis], b.hi[axis]) for b, s in zip(boxes, shapes, strict=True) if s[axis] == n}
            if empty == {True}:
                found = {(0, 0)}
            if len(found) > 1 or len(empty) > 1:
                got = f"arrays of which rank {rank} holds {sorted(found)} along axis {axis}"
                raise Error("array", got, "equal boxes on all ranks; redistribute() gives them", rank)
            ranges.append(found.pop())
        lo, hi = zip(*ranges, strict=True)
        order = first.parts[rank].order if first.shape == shape else tuple(range(ndim))
        parts.append(Part(Box(lo, hi), tuple(ndim - order.index(a) for a in range(ndim))).dense())
    return Layout(first.ranks, shape, parts)


def where(condition: Any, *values: Any) -> Any:
    """`np.where` of three arguments."""
    if len(values) != 2:
        raise TypeError(
            "np.where of a weft.DistArray takes three arguments; np.nonzero(a.local) are positions in this rank's "
            "part, which begins at a.box.lo"
        )
    return elementwise(np.where, (condition, *values))


# The arguments of functions below that have an element for each element of the result. Others are the same for all.
_ARRAYS = ("a", "b", "x", "z", "val", "a_min", "a_max", "min", "max")


def _of_elements(function: Callable) -> Callable:
    """A function of NumPy that is no ufunc, with a result for each element."""
    signature = inspect.signature(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        given = dict(signature.bind(*args, **kwargs).arguments)
        given |= given.pop("kwargs", {})
        out = given.pop("out", None)
        names = [name for name in given if name in _ARRAYS and given[name] is not None]
        values = [given.pop(name) for name in names]

        def of_views(*views: Any, out: Any = (None,), **others: Any) -> Any:
            written = {} if out[0] is None else {"out": out[0]}
            return function(**dict(zip(names, views, strict=True)), **written, **others)

        return elementwise(of_views, values, (out,), given)

    return call


def _array_equal(a: Any, b: Any, equal_nan: bool = False) -> bool:
    """Collective. A plain array is held against this rank's part."""
    both = [x._layout for x in _distributed((a, b))]
    if len({layout.shape for layout in both}) > 1:
        return False
    if not both[-1].has_boxes_of(both[0]):
        raise Error("array: array_equal", "arrays of different boxes", "the same; redistribute() gives them")
    parts = [getattr(x, "_local", x) for x in (a, b)]

    def equal() -> bool:
        nothing = all(np.size(part) == 0 for part in parts)  # of boxes without points, which may have different shapes
        return nothing or np.array_equal(*parts, equal_nan=equal_nan)

    return all(both[0].ranks.agreed(equal))


def _allclose(a: Any, b: Any, *args: Any, **kwargs: Any) -> bool:
    """Collective."""
    ranks = _distributed((a, b))[0]._layout.ranks
    return all(ranks.agreed(lambda: bool(np.all(_FUNCTIONS[np.isclose](a, b, *args, **kwargs)._local))))


def _new(function: Callable, value: Any = None) -> Callable:
    """`np.empty_like` and its like: of the same boxes, in the same memory order."""

    def make(
        a: DistArray,
        dtype: DTypeLike | None = None,
        order: str = "K",
        subok: bool = True,
        shape: Any = None,
        *,
        device: Any = None,
    ) -> DistArray:
        if order != "K" or shape is not None or device not in (None, "cpu"):
            raise TypeError(f"np.{function.__name__} of a weft.DistArray takes a dtype only; weft.DistArray() the rest")
        array = a._like(a.dtype if dtype is None else np.dtype(dtype))
        if value is not None:
            array.fill(value)
        return array

    return make


def _full_like(a: DistArray, fill_value: Any, *args: Any, **kwargs: Any) -> DistArray:
    return _new(np.full_like, fill_value)(a, *args, **kwargs)


def _norm(x: DistArray, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.linalg.norm`, of vectors: those of matrices need more than sums."""
    axes = x.ndim if axis is None else np.size(axis)
    vectors = axes == 1 or (axis is None and ord is None) or (axes == 2 and ord in (None, "fro"))
    if not vectors or (ord == "fro" and axes == 1):
        raise TypeError(
            f"np.linalg.norm with ord {ord!r} along {axes} axes is not there for a weft.DistArray; its method norm() "
            "takes all elements for one vector"
        )
    return x.norm(ord, axis, keepdims)


def _size(a: DistArray, axis: Any = None) -> int:
    return math.prod(a.shape[x] for x in axes_of(axis, a.ndim))


def _count_nonzero(a: DistArray, axis: Any = None, *, keepdims: bool = False) -> Any:
    return (a != 0).sum(axis, keepdims=keepdims)


def _result_type(*given: Any) -> np.dtype:
    return np.result_type(*[getattr(x, "_local", x) for x in given])


def _method(name: str) -> Callable:
    return lambda a, *args, **kwargs: getattr(a, name)(*args, **kwargs)


# Functions of NumPy that are no ufuncs. First those with a method of the same name.
_FUNCTIONS: dict[Callable, Callable] = {
    **{f: _method(f.__name__) for f in (np.sum, np.prod, np.mean, np.var, np.std, np.any, np.all, np.copy)},
    **{f: _method("min") for f in (np.min, np.amin)},
    **{f: _method("max") for f in (np.max, np.amax)},
    **{
        f: _of_elements(f)
        for f in (np.clip, np.isclose, np.angle, np.nan_to_num, np.round, np.around, np.isreal, np.iscomplex)
    },
    np.where: where,
    np.vdot: vdot,
    np.linalg.norm: _norm,
    np.count_nonzero: _count_nonzero,
    np.array_equal: _array_equal,
    np.allclose: _allclose,
    np.real: lambda val: val.real,
    np.imag: lambda val: val.imag,
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: _size,
    np.iscomplexobj: lambda x: x.dtype.kind == "c",
    np.isrealobj: lambda x: x.dtype.kind != "c",
    np.result_type: _result_type,
    np.empty_like: _new(np.empty_like),
    np.zeros_like: _new(np.zeros_like, 0),
    np.ones_like: _new(np.ones_like, 1),
    np.full_like: _full_like,
}
if hasattr(np, "astype"):
    _FUNCTIONS[np.astype] = _method("astype")


def function(function: Callable, args: tuple, kwargs: dict) -> Any:
    """`DistArray.__array_function__`."""
    known = _FUNCTIONS.get(function)
    if known is None:
        name = f"{function.__module__}.{function.__name__}"
        raise TypeError(f"{name} is not there for a weft.DistArray: take its `local`, this rank's part, or gather() it")
    return known(*args, **kwargs)
