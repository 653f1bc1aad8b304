"""`DistArray` as mpi4py-fft has it: a NumPy array that is this rank's part, and knows of the whole."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Number
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import DTypeLike

from weft._error import Error
from weft.mpi4py_fft.io import HDF5File
from weft.mpi4py_fft.pencil import Pencil, Subcomm, Transfer


class DistArray(np.ndarray):
    """This rank's part of an array that is spread over ranks. Collective.

    Parameters
    ----------
    global_shape : lengths of the whole. The first `rank` ones are never cut, such as that of a vector's components.
    subcomm : a `Subcomm`, or a communicator per axis; or numbers of ranks of MPI.COMM_WORLD along each axis, 0 where
        MPI chooses. None: only the axis `alignment` is whole.
    val : the value of all elements. None: undefined.
    dtype : of the elements.
    buffer : memory for them.
    alignment : an axis that is whole on every rank, not counting those of `rank`. None: the last one that is.
    rank : 0 for scalars, 1 for vectors, 2 for matrices.

    Operations are NumPy's, on this rank's part.
    """

    def __new__(
        cls,
        global_shape: Sequence[int],
        subcomm: Any = None,
        val: Number | None = None,
        dtype: DTypeLike = float,
        buffer: Any = None,
        strides: Any = None,
        alignment: int | None = None,
        rank: int = 0,
    ) -> DistArray:
        lead, shape = tuple(global_shape[:rank]), tuple(int(n) for n in global_shape[rank:])
        pencil = _pencil(shape, subcomm, alignment) if len(shape) > 1 else None
        local = (*lead, *(shape if pencil is None else pencil.subshape))
        self = super().__new__(cls, local, dtype=dtype, buffer=buffer, strides=strides)
        if buffer is None and val is not None:
            self.fill(val)
        self._p0, self._rank = pencil, rank
        return self

    def __array_finalize__(self, obj: Any) -> None:
        self._p0, self._rank = getattr(obj, "_p0", None), getattr(obj, "_rank", None)

    @property
    def pencil(self) -> Pencil:
        """How the array is cut."""
        if self._p0 is None:
            raise Error("DistArray", "an array of one axis", "one of several, which is cut among ranks")
        return self._p0

    @property
    def rank(self) -> int:
        """The number of axes before those that are cut."""
        return self._rank

    @property
    def dimensions(self) -> int:
        """The number of axes that are cut, or could be."""
        return len(self.pencil.shape)

    @property
    def alignment(self) -> int:
        """The axis that is whole on every rank, not counting those of `rank`."""
        return self.pencil.axis

    @property
    def global_shape(self) -> tuple[int, ...]:
        """The lengths of the whole."""
        return self.shape[: self.rank] + self.pencil.shape

    @property
    def substart(self) -> tuple[int, ...]:
        """Where this rank's part begins in the whole."""
        return (0,) * self.rank + self.pencil.substart

    @property
    def subcomm(self) -> tuple[Any, ...]:
        """A communicator per axis."""
        return (MPI.COMM_SELF,) * self.rank + self.pencil.subcomm

    @property
    def commsizes(self) -> list[int]:
        """The number of ranks along each axis."""
        return [comm.size for comm in self.subcomm]

    @property
    def v(self) -> np.ndarray:
        """This rank's part as a plain array, a view."""
        return self.view(np.ndarray)

    def local_slice(self) -> tuple[slice, ...]:
        """This rank's part as an index of the whole."""
        return tuple(slice(0, n) for n in self.shape[: self.rank]) + self.pencil.box.slices

    def __getitem__(self, i: Any) -> Any:
        """Components of vectors and matrices are `DistArray`s, everything else is plain."""
        rank = self._rank or 0
        components = len(i) <= rank if isinstance(i, tuple) else isinstance(i, Integral | slice) and rank > 0
        if not components:
            return self.v[i]
        part = super().__getitem__(i)
        if isinstance(part, DistArray):
            part._rank = rank - (self.ndim - part.ndim)
        return part

    def get(self, gslice: Sequence[Any]) -> np.ndarray | None:
        """The elements at global positions, integers and whole axes: on the first rank; None on others. Collective."""
        index = tuple(gslice)
        if len(index) != self.ndim or any(not isinstance(s, Integral) and s != slice(None) for s in index):
            raise Error("DistArray.get", f"{gslice}", f"an integer or slice(None) for each of {self.ndim} axes")
        where = self.local_slice()
        pairs = list(zip(index, where, self.global_shape, strict=True))
        index = tuple(s if isinstance(s, slice) else int(s) % n for s, _, n in pairs)
        axes = [a for a, s in enumerate(index) if isinstance(s, slice)]
        pieces = []
        if all(isinstance(s, slice) or w.start <= s < w.stop for s, w in zip(index, where, strict=True)):
            mine = tuple(s if isinstance(s, slice) else s - w.start for s, w in zip(index, where, strict=True))
            pieces.append(([where[a] for a in axes], self.v[mine]))
        for comm in self.pencil.subcomm:
            pieces = [piece for line in comm.allgather(pieces) for piece in line]
        if any(comm.rank for comm in self.pencil.subcomm):
            return None
        whole = np.empty([self.global_shape[a] for a in axes], self.dtype)
        for slices, values in pieces:
            whole[tuple(slices)] = values
        return whole

    def get_pencil_and_transfer(self, axis: int) -> tuple[Pencil, Transfer]:
        """The pencil that is whole along an axis, and what moves components there. Collective."""
        pencil = self.pencil.pencil(axis)
        return pencil, self.pencil.transfer(pencil, self.dtype)

    def redistribute(self, axis: int | None = None, out: DistArray | None = None) -> DistArray:
        """The array with another axis whole, or moved to `out`, by an exchange of Weft's. Collective.

        It is this array itself if that axis is whole already.
        """
        if out is None:
            if axis is None:
                raise Error("DistArray.redistribute", "no axis and no out", "one of them")
            axis %= self.dimensions
            if self.pencil.subcomm[axis].size == 1:
                self._p0 = Pencil(self.pencil.subcomm, self.pencil.shape, axis)
                return self
            comms = self.pencil.pencil(axis).subcomm
            out = DistArray(self.global_shape, comms, dtype=self.dtype, alignment=axis, rank=self.rank)
        elif axis is not None and axis % self.dimensions != out.alignment:
            raise Error(
                "DistArray.redistribute", f"axis {axis} and an out whole along {out.alignment}", "the same axis"
            )
        if out.global_shape != self.global_shape or out.dtype != self.dtype:
            got = f"out of shape {out.global_shape}, dtype {out.dtype}"
            raise Error("DistArray.redistribute", got, f"{self.global_shape}, {self.dtype}")
        if self.commsizes == out.commsizes:
            out[...] = self
            return out
        target = out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
        transfer = Transfer(self.pencil, out.pencil, self.dtype, math.prod(self.shape[: self.rank]))
        transfer.forward(self, target)
        transfer.destroy()
        if target is not out:
            out[...] = target
        return out

    def write(
        self,
        filename: Any,
        name: str = "darray",
        step: int = 0,
        global_slice: Sequence[Any] | None = None,
        domain: Any = None,
        as_scalar: bool = False,
    ) -> None:
        """Writes the array, or a slice of the whole, as a step of an HDF5 file. Collective. See `HDF5File`."""
        file = filename if isinstance(filename, HDF5File) else HDF5File(filename, domain=domain, mode="a")
        file.write(step, {name: [self if global_slice is None else (self, global_slice)]}, as_scalar=as_scalar)

    def read(self, filename: Any, name: str = "darray", step: int = 0) -> None:
        """Reads a step of an HDF5 file into the array. Collective."""
        file = filename if isinstance(filename, HDF5File) else HDF5File(filename, mode="r")
        file.read(self, name, step=step)


def _pencil(shape: tuple[int, ...], subcomm: Any, alignment: int | None) -> Pencil:
    if subcomm is None:
        alignment = len(shape) - 1 if alignment is None else alignment
        subcomm = [int(a == alignment % len(shape)) for a in range(len(shape))]
    if not all(isinstance(comm, MPI.Comm) for comm in subcomm):
        if len(subcomm) != len(shape):
            raise Error("DistArray: subcomm", str(subcomm), f"one number for each of {len(shape)} axes")
        subcomm = Subcomm(MPI.COMM_WORLD, subcomm)
    if alignment is None:
        whole = [a for a, comm in enumerate(subcomm) if comm.size == 1]
        if not whole:
            raise Error(
                "DistArray: subcomm", f"all of {len(shape)} axes cut", "at least one that is whole on every rank"
            )
        alignment = whole[-1]
    return Pencil(subcomm, shape, alignment)


def newDistArray(  # noqa: N802
    pfft: Any, forward_output: bool = True, val: Number = 0, rank: int = 0, view: bool = False
) -> Any:
    """A new array for the output of a `PFFT`'s forward, or its input. Local.

    `rank`: 1 and 2 for vectors and matrices, with as many components along each axis as there are axes. `view`: a plain
    array, whose `base` is the `DistArray`.
    """
    output = bool(forward_output)
    pencil = pfft.pencil[output]
    shape = (pfft.dimensions,) * rank + pfft.global_shape(output)
    array = DistArray(shape, pencil.subcomm, val, pfft.dtype(output), alignment=pencil.axis, rank=rank)
    return array.v if view else array
