"""Ready-made operators for `weft.Plan.apply` on modes: derivatives and what is made of them, filters and shifts.

Each is made for a plan with `between="modes"` and does not scale: with the usual norm, backward divides by N.
`lengths` are the periods of the transforms along each axis, in your unit: the length of the domain along c2c and r2c
axes, twice that of the domain along an axis with dct2; None: 2 pi each.

>>> import numpy as np, weft
>>> plan = weft.Plan(None, (8, 16), "r2c", between="modes", results=2)
>>> x, y = np.meshgrid(np.arange(8) / 8, np.arange(16) / 16, indexing="ij")
>>> slope = plan.apply(weft.operators.gradient(plan, (1, 1)), np.sin(2 * np.pi * (x + 3 * y)))
>>> bool(np.allclose(slope[1], 6 * np.pi * np.cos(2 * np.pi * (x + 3 * y))))
True
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from weft._error import Error
from weft._foreign import beside, device_of
from weft._modules import stream_of
from weft._views import Memory, module_of

if TYPE_CHECKING:
    from weft._plan import Plan

Numbers = Sequence[float] | None


def _floats(numbers: Numbers) -> list[float]:
    return [] if numbers is None else [float(n) for n in numbers]


def derivative(plan: Plan, axis: int, order: int = 1, lengths: Numbers = None) -> Any:
    """The derivative of an order along an axis, of every field. Of an odd order modes that stand for n/2 periods and
    -n/2 alike become zero."""
    ndim = len(plan.shape)
    return plan._core.derivative(_floats(lengths), axis + ndim if -ndim <= axis < 0 else axis, order)


def gradient(plan: Plan, lengths: Numbers = None) -> Any:
    """The derivatives along all n axes: of m fields m n results, those of the first field first."""
    return plan._core.gradient(_floats(lengths))


def divergence(plan: Plan, lengths: Numbers = None) -> Any:
    """The sum of the derivatives of n components along the n axes: of m n fields m results."""
    return plan._core.divergence(_floats(lengths))


def curl(plan: Plan, lengths: Numbers = None) -> Any:
    """The curl of three components along three axes, or of several such fields."""
    return plan._core.curl(_floats(lengths))


def solenoidal_part(plan: Plan, lengths: Numbers = None) -> Any:
    """What of n components along the n axes has no divergence (Helmholtz, Leray). The mean stays."""
    return plan._core.solenoidal_part(_floats(lengths))


def laplacian(plan: Plan, lengths: Numbers = None) -> Any:
    """The sum of the second derivatives, of every field."""
    return plan._core.laplacian(_floats(lengths))


def inverse_helmholtz(plan: Plan, shift: float = 0.0, lengths: Numbers = None) -> Any:
    """The solution u of (shift - laplacian) u = f; where shift + k^2 is zero, the mode becomes zero."""
    return plan._core.inverse_helmholtz(_floats(lengths), float(shift))


def shift(plan: Plan, distances: Sequence[float], lengths: Numbers = None) -> Any:
    """f(x + distances), of every field, in the unit of `lengths`."""
    return plan._core.shift(_floats(lengths), _floats(distances))


def product(plan: Plan, modes: Any, conjugated: bool = False) -> Any:
    """Every field times an array of modes, element by element: a cyclic convolution with the array that the modes are
    of, or with `points` a linear one; conjugated, the correlation. `modes`: this rank's modes in `plan.between_box`, in
    C order: what a plan of the kernel with `output=plan.between_box` gives. They are not copied. Of a plan of device
    memory they are in memory of the same GPU, an array of any module that the plan takes, and have their values on the
    stream of the executions when these come to them.

    >>> plan = weft.Plan(None, (15,), "r2c", points=(8,), between="modes", norm="none")
    >>> kernel = weft.Plan(None, (15,), "r2c", points=(8,), output=plan.between_box, norm="forward")
    >>> a, b = np.arange(8.0), np.cos(np.arange(8.0))
    >>> smooth = plan.apply(weft.operators.product(plan, kernel.forward(b)), a)
    >>> bool(np.allclose(smooth, np.convolve(a, b)[:8]))
    True
    """
    box = plan.between_box
    dtype = np.dtype(plan.input_dtype.char.upper())
    seen = plan._place.seen("modes", modes)
    known = isinstance(seen, np.ndarray | Memory)
    if not known or seen.shape != box.shape or seen.dtype != dtype:
        got = f"shape {seen.shape}, dtype {seen.dtype}" if known else type(modes).__name__
        raise Error("product", f"modes of {got}", f"an array of shape {box.shape} and dtype {dtype}")
    if not (seen.contiguous if isinstance(seen, Memory) else seen.flags.c_contiguous):
        raise Error("product", "modes that do not lie in C order", "a contiguous array in C order")
    return plan._core.product(seen.given() if isinstance(seen, Memory) else seen, bool(conjugated))


def filter(plan: Plan, factor: Callable[[Any], Any], lengths: Numbers = None) -> Any:
    """Every field times `factor` of |k|, an array of angular wavenumbers: a function of Python. It gets, and returns,
    arrays as `plan.apply` gives them to functions: of NumPy, and of a plan of device memory of CuPy or PyTorch, on that
    GPU.

    >>> plan = weft.Plan(None, (6, 6), between="modes")
    >>> mean = plan.apply(weft.operators.filter(plan, lambda k: k == 0), np.arange(36.0).reshape(6, 6) + 0j)
    >>> bool(np.allclose(mean, 17.5))
    True
    """
    ndim = len(plan.shape)
    periods = [2 * np.pi] * ndim if lengths is None else _floats(lengths)
    if len(periods) != ndim:
        raise Error("filter", f"{len(periods)} lengths", f"one for each of {ndim} axes, or None")
    squares = [(2 * np.pi / periods[a] * plan.wavenumbers(a)) ** 2 for a in range(ndim)]
    # Copies by module, device and stream: each is made, used and freed in the order of one stream.
    copies: dict[tuple[str, int, int], list[Any]] = {}

    def op(u: Any, at: tuple[slice, ...]) -> None:
        module, device = module_of(u), device_of(u)
        place = (module, device, stream_of(module, device))
        if place not in copies:
            copies[place] = [beside(k, u) for k in squares]
        parts = [
            k[s].reshape([-1 if a == b else 1 for b in range(ndim)])
            for a, (k, s) in enumerate(zip(copies[place], at, strict=True))
        ]
        u *= factor(sys.modules[module].sqrt(sum(parts)))

    return op


__all__ = [
    "curl",
    "derivative",
    "divergence",
    "filter",
    "gradient",
    "inverse_helmholtz",
    "laplacian",
    "product",
    "shift",
    "solenoidal_part",
]
