"""Fourier transforms of whole arrays, as `scipy.fft` has them: same arguments, same results, threads as ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft._conjugates import of_real
from weft._foreign import conjugated, dtype_of
from weft._scipy_arguments import (
    Axes,
    array_of,
    axes_and_lengths,
    complex_of,
    fitted,
    named,
    no_plan,
    norm_of,
)
from weft._whole import Ranks, transform

Lengths = int | Sequence[int] | None
Devices = Sequence[int] | None
Who = tuple[int | None, Devices]  # workers and devices, as they were given
# The direction that scales is the other one for hfft and ihfft.
_SWAPPED = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def _c2c(x: Any, s: Lengths, axes: Axes, norm: str | None, who: Who, *, backward: bool) -> Any:
    a = array_of(x)
    chosen, lengths = axes_and_lengths(a, s, axes)
    scale, ranks = norm_of(norm), Ranks.of(*who)
    if not chosen:
        return a
    a = fitted(a, chosen, lengths)
    kinds = dict.fromkeys(chosen, "c2c")
    if isinstance(a, np.ndarray) and a.dtype.kind == "f" and not backward and not ranks.devices:
        return of_real(a, kinds, scale, ranks)
    a = complex_of(a)
    return transform(a, a.shape, kinds, dtype_of(a), backward=backward, norm=scale, ranks=ranks)


def _r2c(x: Any, s: Lengths, axes: Axes, norm: str | None, who: Who) -> Any:
    a = array_of(x)
    if dtype_of(a).kind == "c":
        raise TypeError("x must be a real sequence")
    chosen, lengths = axes_and_lengths(a, s, axes)
    scale, ranks = norm_of(norm), Ranks.of(*who)
    if not chosen:
        raise ValueError("at least 1 axis must be transformed")
    a = fitted(a, chosen, lengths)
    kinds = dict.fromkeys(chosen, "c2c") | {chosen[-1]: "r2c"}
    return transform(a, a.shape, kinds, np.dtype(dtype_of(a).char.upper()), backward=False, norm=scale, ranks=ranks)


def _c2r(x: Any, s: Lengths, axes: Axes, norm: str | None, who: Who, *, conjugate: bool = False) -> Any:
    a = array_of(x)
    scale, ranks = norm_of(norm), Ranks.of(*who)
    given = s is not None
    chosen, lengths = axes_and_lengths(a, s, axes)
    if not chosen:
        raise ValueError("at least 1 axis must be transformed")
    last = chosen[-1]
    if not given:
        lengths[-1] = 2 * (a.shape[last] - 1)
    if lengths[-1] < 1:
        raise ValueError(f"Invalid number of data points ({lengths[-1]}) specified")
    a = complex_of(fitted(a, chosen, [*lengths[:-1], lengths[-1] // 2 + 1]))
    if conjugate:
        a = conjugated(a)
    shape = list(a.shape)
    shape[last] = lengths[-1]
    kinds = dict.fromkeys(chosen, "c2c") | {last: "r2c"}
    return transform(a, tuple(shape), kinds, np.dtype(dtype_of(a).char.lower()), backward=True, norm=scale, ranks=ranks)


def fftn(
    x: Any,
    s: Lengths = None,
    axes: Axes = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    devices: Devices = None,
) -> Any:
    """The discrete Fourier transform along several axes, all by default.

    Parameters
    ----------
    x : array; real and complex, float32 and float64; float16 counts as float32, integers as float64.
    s : lengths along the axes: the input is cropped, or padded by zeros.
    axes : axes that are transformed; None: the last len(s), or all.
    norm : "backward" (None): ifftn divides by N, the number of points; "ortho": both by sqrt(N); "forward": fftn by N.
    overwrite_x : allowed for SciPy's sake. The input is never overwritten.
    workers : threads; None: as `scipy.fft.set_workers` says, or 1; -1: one for each processor. Only of
        arrays on the host.
    plan : must be None. Plans are made with the first array of a shape and kept; `weft.clear_cache` frees them.
    devices : the numbers of GPUs that share the work, such as [0, 1]; docs/python-gpu.md says how x gets there.

    Returns
    -------
    complex array of x's precision in C order; of a tensor of PyTorch or an array of CuPy one of those, on its device.

    >>> import numpy as np, weft
    >>> weft.fftn([[1, 2], [3, 4]])
    array([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]])
    """
    no_plan(plan)
    return _c2c(x, s, axes, norm, (workers, devices), backward=False)


def ifftn(
    x: Any,
    s: Lengths = None,
    axes: Axes = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    devices: Devices = None,
) -> Any:
    """The inverse of `fftn`, with its arguments.

    >>> weft.ifftn(weft.fftn([[1, 2], [3, 4]])).real
    array([[1., 2.],
           [3., 4.]])
    """
    no_plan(plan)
    return _c2c(x, s, axes, norm, (workers, devices), backward=True)


def rfftn(
    x: Any,
    s: Lengths = None,
    axes: Axes = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    devices: Devices = None,
) -> Any:
    """`fftn` of real data: along the last of the axes the result has n//2+1 points, the rest follows by symmetry.

    >>> weft.rfftn(np.ones((2, 4))).real
    array([[8., 0., 0.],
           [0., 0., 0.]])
    """
    no_plan(plan)
    return _r2c(x, s, axes, norm, (workers, devices))


def irfftn(
    x: Any,
    s: Lengths = None,
    axes: Axes = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    devices: Devices = None,
) -> Any:
    """The inverse of `rfftn`. `s` are the lengths of the real result; without it the last one is 2(m-1), an even
    number.

    >>> weft.irfftn(weft.rfftn(np.ones((2, 4))))
    array([[1., 1., 1., 1.],
           [1., 1., 1., 1.]])
    """
    no_plan(plan)
    return _c2r(x, s, axes, norm, (workers, devices))


def hfftn(
    x: Any,
    s: Lengths = None,
    axes: Axes = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    devices: Devices = None,
) -> Any:
    """`fftn` of Hermitian-symmetric data, of which x has the half along the last of the axes; the result is real."""
    no_plan(plan)
    return _c2r(x, s, axes, _SWAPPED[norm_of(norm)], (workers, devices), conjugate=True)


def ihfftn(
    x: Any,
    s: Lengths = None,
    axes: Axes = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    devices: Devices = None,
) -> Any:
    """The inverse of `hfftn`."""
    no_plan(plan)
    result = _r2c(x, s, axes, _SWAPPED[norm_of(norm)], (workers, devices))
    return conjugated(result, out=result)


def _along_one_axis(name: str, of: Callable[..., Any]) -> Callable[..., Any]:
    def function(
        x: Any,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        plan: None = None,
        devices: Devices = None,
    ) -> Any:
        lengths = None if n is None else (n,)
        return of(x, lengths, (axis,), norm, overwrite_x, workers, plan=plan, devices=devices)

    return named(function, name, f"`{of.__name__}` along one axis, of length n.")


def _along_two_axes(name: str, of: Callable[..., Any]) -> Callable[..., Any]:
    def function(
        x: Any,
        s: Lengths = None,
        axes: Axes = (-2, -1),
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        plan: None = None,
        devices: Devices = None,
    ) -> Any:
        return of(x, s, axes, norm, overwrite_x, workers, plan=plan, devices=devices)

    return named(function, name, f"`{of.__name__}` along two axes, the last ones by default.")


fft, fft2 = _along_one_axis("fft", fftn), _along_two_axes("fft2", fftn)
ifft, ifft2 = _along_one_axis("ifft", ifftn), _along_two_axes("ifft2", ifftn)
rfft, rfft2 = _along_one_axis("rfft", rfftn), _along_two_axes("rfft2", rfftn)
irfft, irfft2 = _along_one_axis("irfft", irfftn), _along_two_axes("irfft2", irfftn)
hfft, hfft2 = _along_one_axis("hfft", hfftn), _along_two_axes("hfft2", hfftn)
ihfft, ihfft2 = _along_one_axis("ihfft", ihfftn), _along_two_axes("ihfft2", ihfftn)
