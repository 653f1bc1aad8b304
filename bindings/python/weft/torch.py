"""Transforms of tensors of PyTorch that autograd differentiates: plain ones, and DTensors that are spread over ranks.

The functions are those of `torch.fft`, without padding. A DTensor is transformed where its parts lie: on the ranks of a
device mesh, which are ranks of MPI too. Results and gradients are DTensors.

>>> import torch, weft.torch
>>> x = torch.ones(4, 6, dtype=torch.float64, requires_grad=True)
>>> y = weft.torch.rfftn(x)
>>> y.shape, y[0, 0].item()
(torch.Size([4, 4]), (24+0j))
>>> y.abs().square().sum().backward()  # N times 2 x, N of these points counted twice but for the mean
>>> x.grad[0, 0].item()
48.0
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

try:
    import torch
except ImportError as error:
    raise ImportError("weft.torch needs PyTorch: pip install torch") from error

from weft._error import Error
from weft._torch_layout import Layout
from weft._torch_plans import Spec, transformed

Placements = Sequence[Any] | None


class _Transform(torch.autograd.Function):
    """A linear map, whose adjoint is the same plan's other direction."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, spec: Spec, backward: bool) -> torch.Tensor:
        ctx.spec, ctx.backward_ = spec, backward
        with torch.no_grad():
            return transformed(spec, x.detach().resolve_conj().resolve_neg().contiguous(), backward)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        (gradient,), spec = gradients, ctx.spec
        if not ctx.needs_input_grad[0]:
            return None, None, None
        if spec.halved is None:
            return _Transform.apply(gradient, spec, not ctx.backward_), None, None
        # Of a spectrum of real data only a half is there. c2r counts each point of it twice that stands for its
        # conjugate as well: its adjoint has these twice, and it is r2c's adjoint where they are halved before.
        if ctx.backward_:
            return _Transform.apply(gradient, spec, False) * spec.counted(gradient, 2.0), None, None
        return _Transform.apply(gradient * spec.counted(gradient, 0.5), spec, True), None, None


def fftn(
    x: torch.Tensor, dim: Sequence[int] | None = None, norm: str | None = None, *, placements: Placements = None
) -> torch.Tensor:
    """The discrete Fourier transform along the dimensions `dim`, all by default. Collective for a DTensor.

    Parameters
    ----------
    x : a complex or real tensor in single or double precision, plain or a DTensor with placements `Shard` and
        `Replicate`. Where it is replicated, each copy is transformed. Parts that are not contiguous are copied first.
    dim : the dimensions that are transformed.
    norm : as in `torch.fft`: "backward" (None), "ortho", "forward".
    placements : of the result, over the mesh of x; None: those of x. Another dimension saves an exchange: a tensor that
        is sharded along dimension 0 is best left sharded along dimension 1.

    Returns
    -------
    complex tensor of x's shape and precision, on its device; of a DTensor a DTensor.

    >>> weft.torch.fftn(torch.ones(2, 2)).real
    tensor([[4., 0.],
            [0., 0.]])
    """
    return _c2c(x, dim, norm, placements, backward=False)


def ifftn(
    x: torch.Tensor, dim: Sequence[int] | None = None, norm: str | None = None, *, placements: Placements = None
) -> torch.Tensor:
    """The inverse of `fftn`, with its arguments."""
    return _c2c(x, dim, norm, placements, backward=True)


def rfftn(
    x: torch.Tensor, dim: Sequence[int] | None = None, norm: str | None = None, *, placements: Placements = None
) -> torch.Tensor:
    """`fftn` of a real tensor: along the last of `dim` the result has n//2+1 points, the rest follows by symmetry."""
    if x.is_complex():
        raise Error("rfftn", f"a tensor of {x.dtype}", "a real tensor")
    return _transformed(_real(x), x.shape, dim, norm, placements, backward=False, halve=True)


def irfftn(
    x: torch.Tensor,
    s: Sequence[int] | None = None,
    dim: Sequence[int] | None = None,
    norm: str | None = None,
    *,
    placements: Placements = None,
) -> torch.Tensor:
    """The inverse of `rfftn`. `s`: the lengths of the real result along `dim`; None: the last one is 2(m-1).

    Nothing is cropped or padded: all lengths but the last have to be those of x, the last one 2(m-1) or 2(m-1)+1.
    -1 stands for the length that there is without `s`. A `dim` that is None are then the last ones, as many as `s` has.
    """
    wanted = None if s is None else (s,) if isinstance(s, int) else tuple(s)
    if wanted is not None and dim is None:
        dim = range(x.ndim - len(wanted), x.ndim)
    dims = _dims(x, dim)
    shape = list(x.shape)
    shape[dims[-1]] = 2 * (shape[dims[-1]] - 1)
    if wanted is not None:
        there = [shape[d] for d in dims]
        odd = [*there[:-1], there[-1] + 1]
        lengths = [n if n != -1 else have for n, have in zip(wanted, there, strict=False)]
        if len(wanted) != len(dims) or lengths not in (there, odd):
            raise Error("irfftn: s", str(wanted), f"lengths that need no padding: {there} or {odd}")
        shape[dims[-1]] = lengths[-1]
    if shape[dims[-1]] < 1:
        raise Error("irfftn", f"{shape[dims[-1]]} points along dimension {dims[-1]}", "at least 1; s= says how many")
    return _transformed(_complex(x), shape, dims, norm, placements, backward=True, halve=True)


def _c2c(x: torch.Tensor, dim: Any, norm: str | None, placements: Placements, *, backward: bool) -> torch.Tensor:
    return _transformed(_complex(x), x.shape, dim, norm, placements, backward=backward, halve=False)


def _transformed(
    x: torch.Tensor,
    shape: Sequence[int],
    dim: Any,
    norm: str | None,
    placements: Placements,
    *,
    backward: bool,
    halve: bool,
) -> torch.Tensor:
    """`shape`: of the real tensor where one side is real."""
    dims = _dims(x, dim)
    halved = dims[-1] if halve else None
    layout = Layout.of(x, placements)
    spec = Spec.of(x, tuple(shape), dims, halved, norm, layout, backward)
    result = _Transform.apply(layout.local(x), spec, backward)
    return layout.joined(result, spec.shape_after(backward))


def _dims(x: torch.Tensor, dim: Any) -> tuple[int, ...]:
    dims = tuple(range(x.ndim)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if not dims or any(not -x.ndim <= d < x.ndim for d in dims) or len({d % x.ndim for d in dims}) != len(dims):
        raise Error("transform: dim", repr(dim), f"different dimensions of a tensor that has {x.ndim}, at least one")
    return tuple(d % x.ndim for d in dims)


def _real(x: torch.Tensor) -> torch.Tensor:
    return x if x.dtype in (torch.float32, torch.float64) else x.to(_default_of(x))


def _complex(x: torch.Tensor) -> torch.Tensor:
    if x.dtype in (torch.complex64, torch.complex128):
        return x
    return x.to(torch.complex128 if _default_of(x) is torch.float64 else torch.complex64)


def _default_of(x: torch.Tensor) -> torch.dtype:
    """The precision that a tensor is transformed in: its own, single for shorter floats, for integers the default."""
    if x.is_complex():
        raise Error("transform", f"a tensor of {x.dtype}", "complex64 or complex128")
    if x.is_floating_point():
        return torch.float64 if x.dtype is torch.float64 else torch.float32
    return torch.get_default_dtype()


__all__ = ["fftn", "ifftn", "irfftn", "rfftn"]
