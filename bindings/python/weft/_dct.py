"""Cosine and sine transforms of whole arrays, as `scipy.fft` has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft._foreign import at_home, copied, dtype_of
from weft._scipy_arguments import Axes, array_of, axes_and_lengths, fitted, named, norm_of
from weft._whole import Ranks, transform

Lengths = int | Sequence[int] | None
Devices = Sequence[int] | None
# The transform that the inverse of each type is.
_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


def _r2r(
    x: Any,
    family: str,
    type: int,
    s: Lengths,
    axes: Axes,
    norm: str | None,
    workers: int | None,
    orthogonalize: bool | None,
    devices: Devices = None,
    *,
    backward: bool,
) -> Any:
    a = array_of(x)
    chosen, lengths = axes_and_lengths(a, s, axes)
    scale, ranks = norm_of(norm), Ranks.of(workers, devices)
    if type not in _INVERSE:
        raise ValueError(f"invalid {family.upper()} type: {type!r}; there are 1, 2, 3 and 4")
    if not chosen:
        return a
    if orthogonalize is None:
        orthogonalize = scale == "ortho"
    a = fitted(a, chosen, lengths)
    done = f"{family}{_INVERSE[type] if backward else type}"
    if orthogonalize and done in _BEFORE:
        a = copied(a)
        _scale_ends(a, chosen, *_BEFORE[done])
    kinds = dict.fromkeys(chosen, f"{family}{type}")
    result = transform(a, a.shape, kinds, dtype_of(a), backward=backward, norm=scale, ranks=ranks)
    if orthogonalize and done in _AFTER:
        _scale_ends(result, chosen, *_AFTER[done])
    return result


# What makes the matrix of a transform orthogonal, up to a factor: the factor of the first and of the last point along
# each axis, before the transform and after it.
_ROOT = 2**0.5
_BEFORE = {"dct1": (_ROOT, _ROOT), "dct3": (_ROOT, 1), "dst3": (1, _ROOT)}
_AFTER = {"dct1": (1 / _ROOT, 1 / _ROOT), "dct2": (1 / _ROOT, 1), "dst2": (1, 1 / _ROOT)}


def _scale_ends(a: Any, axes: list[int], first: float, last: float) -> None:
    with at_home(a):
        for axis in axes:
            for position, factor in ((0, first), (-1, last)):
                if factor != 1:
                    a[(slice(None),) * axis + (position,)] *= factor


def dctn(
    x: Any,
    type: int = 2,
    s: Lengths = None,
    axes: Axes = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    orthogonalize: bool | None = None,
    devices: Devices = None,
) -> Any:
    """The discrete cosine transform of type 1, 2, 3 or 4 along several axes, all by default.

    Real data give real results; of complex data real and imaginary parts are transformed separately. The arguments
    are those of `fftn`. The lengths that norms divide by are 2(n-1) for type 1 and 2n for the others.
    `orthogonalize`: whether the first and last points are scaled so that the transform's matrix is orthogonal up to a
    factor; None: with norm "ortho".

    >>> import numpy as np, weft
    >>> weft.dctn(np.ones((2, 2)))
    array([[16.,  0.],
           [ 0.,  0.]])
    """
    return _r2r(x, "dct", type, s, axes, norm, workers, orthogonalize, devices, backward=False)


def idctn(
    x: Any,
    type: int = 2,
    s: Lengths = None,
    axes: Axes = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    orthogonalize: bool | None = None,
    *,
    devices: Devices = None,
) -> Any:
    """The inverse of `dctn`, with its arguments."""
    return _r2r(x, "dct", type, s, axes, norm, workers, orthogonalize, devices, backward=True)


def dstn(
    x: Any,
    type: int = 2,
    s: Lengths = None,
    axes: Axes = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    orthogonalize: bool | None = None,
    *,
    devices: Devices = None,
) -> Any:
    """The discrete sine transform of type 1, 2, 3 or 4, as `dctn`. For type 1 norms divide by 2(n+1)."""
    return _r2r(x, "dst", type, s, axes, norm, workers, orthogonalize, devices, backward=False)


def idstn(
    x: Any,
    type: int = 2,
    s: Lengths = None,
    axes: Axes = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    orthogonalize: bool | None = None,
    *,
    devices: Devices = None,
) -> Any:
    """The inverse of `dstn`, with its arguments."""
    return _r2r(x, "dst", type, s, axes, norm, workers, orthogonalize, devices, backward=True)


def _along_one_axis(name: str, of: Callable[..., Any]) -> Callable[..., Any]:
    def function(
        x: Any,
        type: int = 2,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        orthogonalize: bool | None = None,
        *,
        devices: Devices = None,
    ) -> Any:
        lengths = None if n is None else (n,)
        return of(x, type, lengths, (axis,), norm, overwrite_x, workers, orthogonalize=orthogonalize, devices=devices)

    return named(function, name, f"`{of.__name__}` along one axis, of length n.")


dct, idct = _along_one_axis("dct", dctn), _along_one_axis("idct", idctn)
dst, idst = _along_one_axis("dst", dstn), _along_one_axis("idst", idstn)
