"""Which part of a DTensor this rank has, and which ranks have the others, in the words of plans: boxes and a Comm.

PyTorch cuts a dimension of n points among p ranks into parts of ceil(n/p) points, the last ones smaller or empty, and
where several dimensions of the mesh cut one dimension of the tensor, the first one cuts first.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from weft import _core
from weft._box import Box
from weft._error import Error
from weft._ranks import resolve


@dataclass(frozen=True)
class Layout:
    """A mesh with the placements before and after a transform; no mesh: a plain tensor, all of it here."""

    mesh: Any
    before: tuple[Any, ...]
    after: tuple[Any, ...]

    @staticmethod
    def of(x: torch.Tensor, placements: Sequence[Any] | None) -> Layout:
        if not hasattr(x, "placements"):
            if placements is not None:
                raise Error("transform: placements", "placements for a plain tensor", "a DTensor, or None")
            return Layout(None, (), ())
        before = tuple(x.placements)
        after = before if placements is None else tuple(placements)
        if len(after) != len(before):
            raise Error(
                "transform: placements", str(after), f"one for each of the {len(before)} dimensions of the mesh"
            )
        for b, a in zip(before, after, strict=True):
            if not _plain(b) or not _plain(a) or b.is_shard() != a.is_shard():
                raise Error(
                    "transform: placements",
                    f"{before} before and {after} after",
                    "Shard in both, or Replicate in both, for each dimension of the mesh; redistribute() makes it so",
                )
        return Layout(x.device_mesh, before, after)

    def local(self, x: Any) -> torch.Tensor:
        """This rank's part. Gradients of it are gradients of x, with the placements of x."""
        return x if self.mesh is None else _Part.apply(x, self)

    def joined(self, part: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
        """The result that has this rank's part."""
        return part if self.mesh is None else _joined(part, self.mesh, self.after, shape)

    def boxes(self, before: Sequence[int], after: Sequence[int]) -> tuple[Box, Box]:
        """This rank's boxes of tensors of these shapes."""
        return self._box(before, self.before), self._box(after, self.after)

    def _box(self, shape: Sequence[int], placements: tuple[Any, ...]) -> Box:
        low, high = [0] * len(shape), list(shape)
        for axis, placement in enumerate(placements):
            if not placement.is_shard():
                continue
            d = placement.dim % len(shape)
            size, coordinate = self.mesh.size(axis), self.mesh.get_local_rank(axis)
            chunk = -(-(high[d] - low[d]) // size)
            low[d] = min(low[d] + coordinate * chunk, high[d])
            high[d] = min(low[d] + chunk, high[d])
        return Box(tuple(low), tuple(high))

    def mesh_shape(self) -> tuple[int, ...]:
        """Ranks along the dimensions of the mesh."""
        return () if self.mesh is None else tuple(self.mesh.shape)

    def ranks(self) -> tuple[int, ...]:
        """The ranks, as torch.distributed numbers them, that share one copy of the tensor with this one."""
        if self.mesh is None:
            return ()
        if self.mesh.get_coordinate() is None:
            raise Error("transform", "a rank outside the tensor's device mesh", "calls on the ranks of the mesh only")
        coordinate = self.mesh.get_coordinate()
        index = tuple(slice(None) if p.is_shard() else c for p, c in zip(self.before, coordinate, strict=True))
        ranks = self.mesh.mesh[index]
        return tuple(ranks.reshape(-1).tolist())


def _joined(part: torch.Tensor, mesh: Any, placements: tuple[Any, ...], shape: Sequence[int]) -> torch.Tensor:
    from torch.distributed.tensor import DTensor

    stride = torch.empty(tuple(shape), device="meta").stride()
    return DTensor.from_local(part, mesh, placements, run_check=False, shape=torch.Size(shape), stride=stride)


class _Part(torch.autograd.Function):
    """This rank's part of a DTensor. PyTorch's `to_local` guesses the strides of the gradient from those of a part.
    Where parts are uneven, older versions then replicate the gradient."""

    @staticmethod
    def forward(ctx: Any, x: Any, layout: Layout) -> torch.Tensor:
        ctx.layout, ctx.shape = layout, tuple(x.shape)
        return x.to_local()

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        layout = ctx.layout
        return _joined(gradients[0].contiguous(), layout.mesh, layout.before, ctx.shape), None


def _plain(placement: Any) -> bool:
    """Whether the placement is one that this module knows: no sums to be made, no interleaved parts."""
    return placement.is_replicate() or type(placement).__name__ == "Shard"


@functools.cache
def shared(ranks: tuple[int, ...]) -> tuple[_core.Comm, threading.Lock]:
    """The Comm of these ranks of torch.distributed, in this order, and the lock of who uses it: by MPI, whose ranks
    have to have the same numbers. Collective over them."""
    from torch import distributed

    try:
        from mpi4py import MPI
    except ImportError as error:
        raise Error(
            "transform", "a DTensor on several ranks without mpi4py", "ranks of MPI: pip install mpi4py"
        ) from error
    world = MPI.COMM_WORLD
    theirs, ours = (distributed.get_rank(), distributed.get_world_size()), (world.rank, world.size)
    if theirs != ours:
        raise Error(
            "transform",
            f"rank {theirs[0]} of {theirs[1]} in torch.distributed that is rank {ours[0]} of {ours[1]} in MPI",
            "the same numbers: start the program by mpirun, with init_process_group(rank=MPI.COMM_WORLD.rank, "
            "world_size=MPI.COMM_WORLD.size, ...)",
        )
    if ranks == tuple(range(world.size)):
        return resolve(world), threading.Lock()
    group = world.group.Incl(ranks)
    part = world.Create_group(group, tag=ranks[0])
    group.Free()
    return resolve(part), threading.Lock()
