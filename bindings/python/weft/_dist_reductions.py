"""Sums, means, norms of distributed arrays: of all elements, which ranks do together, or along axes that are whole."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from weft._box import Box
from weft._error import Error
from weft._layout import Layout, Part

if TYPE_CHECKING:
    from weft._dist_array import DistArray

# What ranks reduce first each for itself, and then the results.
_ANY_ORDER = {
    *(np.add, np.multiply, np.minimum, np.maximum, np.fmin, np.fmax, np.logical_or, np.logical_and, np.logical_xor),
    *(np.bitwise_or, np.bitwise_and, np.bitwise_xor, np.gcd, np.lcm, np.hypot, np.logaddexp, np.logaddexp2),
}


def reduce(
    a: Any,
    ufunc: np.ufunc,
    axis: Any = 0,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool = False,
    **others: Any,
) -> Any:
    """Reduces along all axes (None), which is collective, or, locally, along some that no rank's box is cut along."""
    if out is not None or others or not hasattr(a, "_layout"):
        raise TypeError(f"np.{ufunc.__name__}.reduce of a weft.DistArray takes axis, dtype and keepdims only")
    axes, layout = axes_of(axis, a.ndim), a._layout
    if len(axes) < a.ndim:
        return _along(a, ufunc, axes, dtype, keepdims)
    if ufunc not in _ANY_ORDER:
        raise TypeError(f"np.{ufunc.__name__}.reduce of all of a weft.DistArray would depend on the order of elements")
    found = layout.ranks.agreed(lambda: ufunc.reduce(a._local, axis=None, dtype=dtype) if a._local.size else None)
    partials = [partial for partial in found if partial is not None]
    result = ufunc.reduce(np.stack(partials), dtype=None if ufunc in _OF_TRUTH else partials[0].dtype)
    return np.reshape(result, (1,) * a.ndim) if keepdims else result


_OF_TRUTH = {np.logical_or, np.logical_and, np.logical_xor}  # whose dtype is that of their operands


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """An axis, several, or None for all, as NumPy takes them: not negative, in order."""
    if axis is None:
        return tuple(range(ndim))
    given = [axis] if np.ndim(axis) == 0 else list(axis)
    for x in given:
        if not -ndim <= x < ndim:
            raise np.exceptions.AxisError(int(x), ndim)
    axes = sorted(int(x) % ndim for x in given)
    if len(set(axes)) != len(axes):
        raise ValueError(f"duplicate value in axis {axis}")
    return tuple(axes)


def _along(a: DistArray, ufunc: np.ufunc, axes: tuple[int, ...], dtype: DTypeLike | None, keepdims: bool) -> DistArray:
    layout = _reduced(a._layout, axes, keepdims)
    arguments: dict[str, Any] = dict(axis=axes, dtype=dtype, keepdims=keepdims)
    result = layout.empty(ufunc.reduce(np.ones((1,) * a.ndim, a.dtype), **arguments).dtype)
    if result.size:
        ufunc.reduce(a._local, out=result, **arguments)
    return type(a)._of(layout, result)


def _reduced(layout: Layout, axes: tuple[int, ...], keepdims: bool) -> Layout:
    """The layout without these axes, or with one point along them."""
    for rank, (box, _) in enumerate(layout.parts):
        if box.size and any(box.hi[x] - box.lo[x] != layout.shape[x] for x in axes):
            got = f"a reduction along axes {axes}, of which rank {rank} holds {box.lo} to {box.hi}"
            raise Error("array", got, "axes that are not cut, as after redistribute(axis), or all axes")
    kept = [x for x in range(len(layout.shape)) if keepdims or x not in axes]
    none = (0,) * len(kept)

    def part(old: Part) -> Part:
        low = tuple(0 if x in axes else old.box.lo[x] for x in kept)
        high = tuple(1 if x in axes else old.box.hi[x] for x in kept)
        box = Box(low, high) if old.box.size else Box(none, none)
        return Part(box, tuple(old.strides[x] for x in kept)).dense()

    shape = tuple(1 if x in axes else layout.shape[x] for x in kept)
    return Layout(layout.ranks, shape, [part(old) for old in layout.parts])


def reduction(ufunc: np.ufunc, meaning: str, takes_dtype: bool) -> Callable[..., Any]:
    """The method of `DistArray` that reduces with a ufunc."""

    def of_numbers(
        self: DistArray,
        axis: Any = None,
        dtype: DTypeLike | None = None,
        out: None = None,
        keepdims: bool = False,
        **others: Any,
    ) -> Any:
        return reduce(self, ufunc, axis, dtype, out, keepdims, **others)

    def method(self: DistArray, axis: Any = None, out: None = None, keepdims: bool = False, **others: Any) -> Any:
        return reduce(self, ufunc, axis, None, out, keepdims, **others)

    chosen = of_numbers if takes_dtype else method
    chosen.__doc__ = f"""{meaning} of the whole array, the same on all ranks. Collective.

    `axis`: one or several along which no rank's box is cut; then the result is a `weft.DistArray` without them, or with
    one point along them (`keepdims`), and the reduction is local. `out` is not there."""
    return chosen


def _accumulated(dtype: np.dtype, given: DTypeLike | None) -> tuple[np.dtype, np.dtype]:
    """The dtypes that a mean is summed up in, and that it has: NumPy's choice."""
    if given is not None:
        return np.dtype(given), np.dtype(given)
    if dtype.kind in "biu":
        return np.dtype(float), np.dtype(float)
    return (np.dtype(np.float32), dtype) if dtype.char == "e" else (dtype, dtype)


def _count(a: DistArray, axis: Any) -> int:
    return math.prod(a.shape[x] for x in axes_of(axis, a.ndim))


def mean(
    self: DistArray, axis: Any = None, dtype: DTypeLike | None = None, out: None = None, keepdims: bool = False
) -> Any:
    """The mean of the whole array, the same number on all ranks. Collective. `axis`, `keepdims`: as of `sum`.

    It is summed up in `dtype`; None: in that of the array, of integers in float64, of float16 in float32."""
    summed, result = _accumulated(self.dtype, dtype)
    return _as(reduce(self, np.add, axis, summed, out, keepdims) / _count(self, axis), result)


def _as(value: Any, dtype: np.dtype) -> Any:
    return value if value.dtype == dtype else value.astype(dtype)


def var(
    self: DistArray,
    axis: Any = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: float = 0,
    keepdims: bool = False,
) -> Any:
    """The mean square of the distance from the mean, of n points the sum divided by n - `ddof`. Collective.

    The other arguments are those of `mean`; `dtype` is a float type, or None."""
    if dtype is not None and np.dtype(dtype).kind != "f":
        raise TypeError(f"var and std of a weft.DistArray with dtype {np.dtype(dtype)}: take a float type, or None")
    summed, result = _accumulated(self.dtype, dtype)
    middle = reduce(self, np.add, axis, summed, out, keepdims=True) / _count(self, axis)
    total = reduce(_squares(self - middle), np.add, axis, None, None, keepdims)
    real = np.zeros(0, result).real.dtype
    return _as(total / max(_count(self, axis) - ddof, 0), real)


def std(
    self: DistArray,
    axis: Any = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: float = 0,
    keepdims: bool = False,
) -> Any:
    """The standard deviation, the root of `var`, with its arguments. Collective."""
    return np.sqrt(self.var(axis, dtype, out, ddof, keepdims))


def _squares(a: DistArray) -> DistArray:
    """The squares of the absolute values."""
    return np.square(a) if a.dtype.kind != "c" else np.square(a.real) + np.square(a.imag)


def norm(self: DistArray, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The norm of the whole array as one vector, the same number on all ranks. Collective.

    `ord`: 2 (None, "fro"), the root of the sum of squares; inf and -inf, the largest and smallest absolute value; 0,
    how many are not 0; another p, the p-th root of the sum of p-th powers. `axis`, `keepdims`: as of `sum`.
    """
    if not (ord in (None, "fro") or isinstance(ord, int | float)):
        raise Error("array: norm", f"ord {ord!r}", "a number, inf, or None")
    a = self.astype(float) if self.dtype.kind in "biu" else self
    if ord in (None, "fro", 2):
        if len(axes_of(axis, a.ndim)) < a.ndim:
            return np.sqrt(_squares(a).sum(axis, keepdims=keepdims))
        flat = a._local.ravel(order="K")
        real = flat.real.dtype
        wide = flat.astype(np.float32) if real.char == "e" else flat
        parts = a._layout.ranks.agreed(lambda: float(np.linalg.norm(wide)))
        return np.reshape(real.type(np.linalg.norm(parts)), (1,) * a.ndim if keepdims else ())[()]
    sizes = abs(a)
    if abs(ord) == math.inf:
        return (sizes.max if ord > 0 else sizes.min)(axis, keepdims=keepdims)
    if ord == 0:
        return (sizes != 0).sum(axis, sizes.dtype, keepdims=keepdims)
    return (sizes**ord).sum(axis, keepdims=keepdims) ** (1 / ord)


def vdot(self: DistArray, other: DistArray) -> Any:
    """The sum of the products of this array's conjugate elements and the other's. Collective.

    Both have the same boxes on all ranks.
    """
    a, b = self, other
    if not (hasattr(a, "_layout") and hasattr(b, "_layout") and a._layout.has_boxes_of(b._layout)):
        raise Error("array: vdot", "arrays of different boxes", "the same; redistribute() gives them")
    parts = a._layout.ranks.agreed(lambda: np.vdot(*[x._local.transpose(a.order).ravel() for x in (a, b)]))
    return np.add.reduce(np.stack(parts), dtype=parts[0].dtype)
