"""How arrays are cut, as mpi4py-fft says it: for each axis a communicator of the ranks among which it is cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import DTypeLike

from weft import _core
from weft._box import Box
from weft._core import Distribution
from weft._error import Error
from weft._layout import movable
from weft._plan import Plan


class Subcomm(tuple):
    """A grid of ranks, as a tuple of communicators, one per axis. Collective over `comm`.

    `dims`: how many ranks there are along each axis; 0, or less: MPI chooses. An integer: so many axes, all chosen. Of
    a Cartesian communicator dims are its own.

    >>> from mpi4py import MPI
    >>> [c.size for c in Subcomm(MPI.COMM_SELF, [0, 0, 1])]
    [1, 1, 1]
    """

    whole: Any  # the communicator of all of them

    def __new__(cls, comm: Any, dims: int | Sequence[int] | None = None, reorder: bool = True) -> Subcomm:
        if comm.Is_inter():
            raise Error("Subcomm", "an intercommunicator", "a communicator of one group")
        if comm.Get_topology() == MPI.CART:
            if dims is not None:
                raise Error("Subcomm: dims", f"{dims} for a Cartesian communicator", "None: it has its own")
            grid, made = comm, False
        else:
            wanted = [0] if dims is None else [0] * dims if np.ndim(dims) == 0 else [max(0, int(n)) for n in dims]
            grid, made = comm.Create_cart(_filled(comm.size, wanted), reorder=reorder), True
        axes = range(grid.Get_dim())
        self = super().__new__(cls, [grid.Sub([other == axis for other in axes]) for axis in axes])
        self.whole = comm
        if made:
            grid.Free()
        return self

    def destroy(self) -> None:
        """Frees the communicators of the axes. Collective."""
        for comm in self:
            if comm != MPI.COMM_NULL:
                comm.Free()


def _filled(size: int, dims: list[int]) -> list[int]:
    """The numbers of ranks along each axis, of which some may be left open."""
    given = int(np.prod([n for n in dims if n > 0]))
    if size % given or (0 not in dims and given != size):
        raise Error("grid", f"{dims} for {size} ranks", "numbers whose product is that of the ranks, or 0 where open")
    return list(MPI.Compute_dims(size, dims))


def whole_of(subcomm: Sequence[Any]) -> tuple[Any, bool]:
    """The communicator of all ranks of a grid, and whether it was made for this. Collective over the grid."""
    whole = getattr(subcomm, "whole", None)
    if whole is not None:
        return whole, False
    world = MPI.COMM_WORLD.Get_group()
    members = [MPI.COMM_WORLD.rank]
    for comm in reversed(subcomm):  # the last axis runs fastest
        members = [rank for line in comm.allgather(members) for rank in line]
    return MPI.COMM_WORLD.Create_group(world.Incl(members)), True


class Pencil:
    """The part of an array that this rank has: whole along `axis`, cut evenly along the others, the larger parts first.

    `subcomm`: a communicator per axis; if there are fewer, the missing ones are of axes that are not cut.

    >>> from mpi4py import MPI
    >>> Pencil([MPI.COMM_SELF] * 2, (4, 6), axis=1).subshape
    (4, 6)
    """

    def __init__(self, subcomm: Sequence[Any], shape: Sequence[int], axis: int = -1) -> None:
        shape = tuple(int(n) for n in shape)
        if not -len(shape) <= axis < len(shape):
            raise Error("Pencil: axis", str(axis), f"an axis of {len(shape)}")
        comms, axis = list(subcomm), axis % len(shape)
        if len(comms) < len(shape):
            comms += [MPI.COMM_SELF] * (len(shape) - 1 - len(comms))
            comms.insert(axis, MPI.COMM_SELF)
        if len(comms) != len(shape) or comms[axis].size != 1:
            got = f"{len(comms)} communicators of {[c.size for c in comms]} ranks"
            raise Error("Pencil: subcomm", got, f"one for each of {len(shape)} axes, of one rank along axis {axis}")
        self.shape, self.axis, self.subcomm = shape, axis, tuple(comms)
        starts = [_start(n, c.size, c.rank) for n, c in zip(shape, comms, strict=True)]
        ends = [_start(n, c.size, c.rank + 1) for n, c in zip(shape, comms, strict=True)]
        self.box = Box(tuple(starts), tuple(ends))
        self.substart, self.subshape = self.box.lo, self.box.shape

    def pencil(self, axis: int) -> Pencil:
        """The pencil that is whole along another axis, and cut along this one's axis instead. Local."""
        axis %= len(self.shape)
        comms = list(self.subcomm)
        comms[self.axis], comms[axis] = comms[axis], comms[self.axis]
        return Pencil(comms, self.shape, axis)

    def transfer(self, pencil: Pencil, dtype: DTypeLike) -> Transfer:
        """What moves arrays from here to a pencil made by `pencil()`. Collective."""
        return Transfer(self, pencil, dtype)


def _start(n: int, size: int, rank: int) -> int:
    return rank * (n // size) + min(rank, n % size)


class Transfer:
    """Moves arrays from one pencil to another and back, by a plan that transforms nothing. Collective.

    `dtype`: any of 4, 8 or 16 bytes, such as integers: bits stay as they are."""

    def __init__(self, source: Pencil, target: Pencil, dtype: DTypeLike, batch: int = 1) -> None:
        a, b = source.axis, target.axis
        expected = source.pencil(b)
        sizes = [[c.size for c in p.subcomm] for p in (expected, target)]
        if source.shape != target.shape or expected.box != target.box or sizes[0] != sizes[1] or a == b:
            got = f"pencils whole along axes {a} and {b} of {source.box} and {target.box}"
            raise Error("Transfer", got, "one made by pencil(axis) of the other")
        shape = list(source.subshape)
        shape[b] = source.shape[b]
        cuts = Distribution.slab(b), Distribution.slab(a)
        self._dtype = np.dtype(dtype)
        moved = movable(self._dtype)
        self._plan = Plan(source.subcomm[b], shape, [None] * len(shape), moved, *cuts, batch=batch)

    def forward(self, array: np.ndarray, out: np.ndarray) -> None:
        """Moves `array`, of the source's subshape, to `out`, of the target's. Collective."""
        self._move(_core.Direction.forward, array, out)

    def backward(self, array: np.ndarray, out: np.ndarray) -> None:
        """The same from the target to the source."""
        self._move(_core.Direction.backward, array, out)

    def destroy(self) -> None:
        """Frees the plan. Local."""
        self._plan.free()

    def _move(self, direction: _core.Direction, array: np.ndarray, out: np.ndarray) -> None:
        plan, forward = self._plan, direction is _core.Direction.forward
        shapes = (plan.input_shape, plan.output_shape) if forward else (plan.output_shape, plan.input_shape)
        try:
            given = self._source(array, shapes[0]), self._target(out, shapes[1])
        except Exception:
            plan._core.refuse(direction)  # other ranks may wait for this one
            raise
        (plan.forward if forward else plan.backward)(*given)

    def _source(self, a: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """What the plan reads, with all components along its first axis; copied if it is not in C order."""
        return self._moved(np.ascontiguousarray(a.view(np.ndarray))).reshape(shape)

    def _target(self, a: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        if not a.flags.c_contiguous or a.size != np.prod(shape):
            raise Error("Transfer", f"out of shape {a.shape}, strides {a.strides} bytes", f"one of {shape} in C order")
        return self._moved(a.view(np.ndarray)).reshape(shape)

    def _moved(self, a: np.ndarray) -> np.ndarray:
        if a.dtype != self._dtype:
            raise Error("Transfer", f"an array of {a.dtype}", f"one of {self._dtype}")
        return a.view(self._plan.input_dtype)
