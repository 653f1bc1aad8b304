"""The plans that transforms of tensors use, and their gradients: made with the first tensor of a kind, and kept.

Making a plan is collective. What a plan is kept by is the same on all of its ranks: all of them make it, or none.
"""

from __future__ import annotations

import collections
import os
import threading
from dataclasses import dataclass
from typing import Any

import torch

from weft import _core
from weft._error import Error
from weft._plan import Plan
from weft._torch_layout import Layout, shared

_MOST_PLANS = 32
# The factor of a transform: None, 1/sqrt(N) or 1/N, by norm and direction, as the norm of a plan that has it in both
# directions. Each of them is then the other's adjoint.
_NORMS = {
    ("backward", False): "none",
    ("backward", True): "both",
    ("ortho", False): "ortho",
    ("ortho", True): "ortho",
    ("forward", False): "both",
    ("forward", True): "none",
}


@dataclass(frozen=True)
class Spec:
    """What identifies a plan. Forward goes from `shape` to the spectrum, in either direction of a transform."""

    shape: tuple[int, ...]
    dims: tuple[int, ...]
    halved: int | None  # the dimension of which a spectrum of real data has half
    norm: str  # of the plan
    dtype: str
    device: int  # -1: the host
    ranks: tuple[int, ...]
    boxes: tuple[Any, Any]  # this rank's
    key: tuple[Any, ...]  # what is the same on all ranks

    @staticmethod
    def of(
        x: Any,
        shape: tuple[int, ...],
        dims: tuple[int, ...],
        halved: int | None,
        norm: str | None,
        layout: Layout,
        backward: bool,
    ) -> Spec:
        factor = _NORMS.get(("backward" if norm is None else norm, backward))
        if factor is None:
            raise Error("transform: norm", repr(norm), 'one of "backward", "ortho", "forward"')
        kind = str(x.dtype).removeprefix("torch.")
        if halved is not None:
            kind = {"complex64": "float32", "complex128": "float64"}.get(kind, kind)
        spectrum = _spectrum(shape, halved)
        before, after = layout.boxes(*((spectrum, shape) if backward else (shape, spectrum)))
        boxes = (after, before) if backward else (before, after)
        placements = tuple(str(p) for p in (*layout.before, *layout.after, backward))
        device, ranks = -1 if x.device.type == "cpu" else x.device.index, layout.ranks()
        key = (shape, dims, halved, factor, kind, x.device.type, ranks, layout.mesh_shape(), placements)
        spec = Spec(shape, dims, halved, factor, kind, device, ranks, boxes, key)
        have, want = tuple(layout.local(x).shape), before.shape
        if have != want:
            raise Error("transform", f"a part of shape {have} on this rank", f"{want}, as Shard cuts dimensions evenly")
        return spec

    def shape_after(self, backward: bool) -> tuple[int, ...]:
        """The global shape of the result."""
        return self.shape if backward else _spectrum(self.shape, self.halved)

    def counted(self, like: torch.Tensor, factor: float) -> torch.Tensor:
        """`factor` along the halved dimension of this rank's spectrum, for the points that stand for two; else 1."""
        assert self.halved is not None
        low, high = self.boxes[1].lo[self.halved], self.boxes[1].hi[self.halved]
        k = torch.arange(low, high, device=like.device)
        real = torch.float32 if self.dtype == "float32" else torch.float64
        two = (k > 0) & (2 * k < self.shape[self.halved])
        weights = torch.ones(high - low, dtype=real, device=like.device).masked_fill(two, factor)
        return weights.reshape([-1 if d == self.halved else 1 for d in range(len(self.shape))])


def _spectrum(shape: tuple[int, ...], halved: int | None) -> tuple[int, ...]:
    return tuple(n // 2 + 1 if d == halved else n for d, n in enumerate(shape))


class _Kept:
    """A plan, and the lock that lets one thread at a time use its ranks."""

    def __init__(self, spec: Spec) -> None:
        alone = len(spec.ranks) <= 1
        comm, self.lock = (_core.Comm.self(), threading.Lock()) if alone else shared(spec.ranks)
        transforms = ["r2c" if d == spec.halved else "c2c" if d in spec.dims else None for d in range(len(spec.shape))]
        device = spec.device if spec.device >= 0 else None
        with self.lock:
            self.plan = Plan(comm, spec.shape, transforms, spec.dtype, *spec.boxes, norm=spec.norm, device=device)


class _Store:
    """The plans used last."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.plans: collections.OrderedDict[tuple[Any, ...], _Kept] = collections.OrderedDict()

    def get(self, spec: Spec) -> _Kept:
        with self.lock:
            kept = self.plans.get(spec.key)
            if kept is not None:
                self.plans.move_to_end(spec.key)
                return kept
        kept = _Kept(spec)  # two threads may make the same one; the second stays
        with self.lock:
            self.plans[spec.key] = kept
            while len(self.plans) > _MOST_PLANS:
                self.plans.popitem(last=False)
        return kept


_store = _Store()


def transformed(spec: Spec, x: torch.Tensor, backward: bool) -> torch.Tensor:
    """This rank's part of the transform, by a plan that is made now if it is not there. Collective over its ranks.

    A part without points is as empty as another one, but PyTorch has lengths for it and plans have none."""
    kept = _store.get(spec)
    with kept.lock:
        if backward:
            return kept.plan.backward(x.reshape(kept.plan.output_shape)).reshape(spec.boxes[0].shape)
        return kept.plan.forward(x.reshape(kept.plan.input_shape)).reshape(spec.boxes[1].shape)


def _forget() -> None:
    """In a child of fork: plans are those of the parent, and a lock may be held for ever."""
    global _store
    _store = _Store()
    shared.cache_clear()


os.register_at_fork(after_in_child=_forget)
