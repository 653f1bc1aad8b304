"""`PFFT`: a plan of Weft's behind the interface of mpi4py-fft."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import DTypeLike

from weft._error import Error
from weft._plan import Plan
from weft.mpi4py_fft.axes import groups_of, joined, kinds_of, padded
from weft.mpi4py_fft.pencil import Pencil, Subcomm, whole_of

_BACKENDS = ("fftw", "pyfftw", "numpy", "scipy", "mkl_fft")
_FFTW_ONLY = ("planner_effort", "overwrite_input", "avoid_copy", "auto_align_input", "auto_contiguous")


class PFFT:
    """Transforms of an array that is spread over the ranks of MPI, with the arguments of mpi4py-fft. Collective.

    Parameters
    ----------
    comm : communicator; or one per axis, as a `Subcomm` or any tuple, that says how the input is cut.
    shape : global lengths. None: those of `darray`.
    axes : which axes are transformed: None (all), an axis, or a sequence of axes or of groups of axes. The last group
        is whole in the input, and the first in the output. Real data are halved along the last axis of the last group
        that `transforms` does not name.
    dtype : of the input: float32, float64, complex64, complex128.
    grid : numbers of ranks along the first axes; -1 where MPI chooses. (-1,) cuts along axis 0 only.
    padding : a factor by which the input is longer than `shape`, the lengths of the modes, along the transformed axes,
        for all of them or one for each: 1.5 is the 3/2 rule. Forward leaves out the modes that are more, backward takes
        them as zero. Of an even length the mode in the middle is shared by both signs, along the halved axis as well.
        False: no padding.
    collapse : joins groups of axes that no rank's part is cut along, which tells where the output is whole. Weft
        transforms local axes together anyway.
    backend : one of mpi4py-fft's, for its sake. Which library transforms is an option of Weft: fft="fftw".
    transforms : pairs of functions by group of axes: {(1, 2): (dctn, idctn)}; see `weft.mpi4py_fft.fftw`.
    darray : a `DistArray` whose shape, dtype and distribution are those of the input.
    slab : True: cut along one axis only; an integer: along this one.
    options : those of `weft.Plan`, such as threads, effort or exchange. Options of FFTW are ignored.

    `forward` and `backward` are instances of `Transform`.
    """

    def __init__(
        self,
        comm: Any,
        shape: Sequence[int] | None = None,
        axes: Any = None,
        dtype: DTypeLike = float,
        grid: Sequence[int] | None = None,
        padding: Any = False,
        collapse: bool = False,
        backend: str = "fftw",
        transforms: Mapping | None = None,
        darray: Any = None,
        slab: bool | int | None = False,
        **options: Any,
    ) -> None:
        if backend not in _BACKENDS:
            raise Error("PFFT: backend", repr(backend), f"one of {', '.join(_BACKENDS)}")
        if shape is None and darray is None:
            raise Error("PFFT: shape", "None", "global lengths, or a darray that has them")
        lengths = darray.pencil.shape if shape is None else tuple(int(n) for n in shape)
        groups = groups_of(axes, lengths, darray)
        points = padded(padding, lengths, groups)
        if darray is not None and points != lengths:
            raise Error("PFFT: padding", repr(padding), "False with a darray, whose shape is that of the input")
        self._made: list[Any] = []  # communicators to free
        if darray is not None:
            dtype, self.subcomm = darray.dtype, darray.pencil.subcomm
        else:
            self.subcomm = self._cut(comm, points, groups[-1], grid, slab)
        self._input_shape, dtype = points, np.dtype(dtype)
        self._names, halved = kinds_of(groups, len(lengths), dtype, transforms, collapse)
        if collapse:
            groups = joined(groups, self.subcomm)
        self.axes, self.collapse = tuple(groups), collapse
        self._output_shape = tuple(n // 2 + 1 if a == halved else n for a, n in enumerate(lengths))
        pencil = Pencil(self.subcomm, points, groups[-1][-1])
        last = Pencil(self.subcomm, self._output_shape, groups[-1][-1])
        for group in reversed(groups[:-1]):
            last = last.pencil(group[-1])
        self.pencil = (pencil, last)
        self._whole, made = whole_of(darray.pencil.subcomm if darray is not None else self.subcomm)
        if made:
            self._made.append(self._whole)
        self._options = {name: value for name, value in options.items() if name not in _FFTW_ONLY}
        self._dtype = dtype
        self._kept = {} if points == lengths else {"modes": self._output_shape}
        if self._kept and halved is not None and lengths[halved] % 2:
            self._kept["modes_nyquist"] = "odd"
        self._plans: dict[str, Plan] = {}
        arrays = _Arrays(self._plan("forward"))
        self.forward = Transform(self, arrays, "forward", self.pencil)
        self.backward = Transform(self, arrays, "backward", self.pencil[::-1])

    def _cut(self, comm: Any, shape: tuple[int, ...], first: tuple[int, ...], grid: Any, slab: Any) -> Sequence[Any]:
        """The communicators along the axes of the input. `first`: the axes that are transformed first."""
        cut = slab is not None and slab is not False
        if grid is not None and cut:
            raise Error("PFFT: slab", f"{slab} with a grid", "one of them")
        if isinstance(comm, tuple | list):
            if grid is not None or cut:
                raise Error("PFFT: comm", "a communicator per axis, with a grid or slab", "one of them")
            if len(comm) != len(shape) or any(comm[a].size != 1 for a in first):
                got = f"{len(comm)} communicators of {[c.size for c in comm]} ranks"
                raise Error("PFFT: comm", got, f"one for each of {len(shape)} axes, of one rank along axes {first}")
            return comm
        if not isinstance(comm, MPI.Comm):
            raise Error("PFFT: comm", f"an object of type {type(comm).__name__}", "a communicator, or one per axis")
        if grid is not None:
            if len(grid) > len(shape):
                raise Error("PFFT: grid", str(tuple(grid)), f"at most one number per axis, {len(shape)}")
            dims = [*grid, *[1] * (len(shape) - len(grid))]
        elif not cut:
            dims = [int(a in first) for a in range(len(shape))]
        else:
            axis = (first[-1] + 1) % len(shape) if slab is True else slab % len(shape)
            dims = [comm.size if a == axis else 1 for a in range(len(shape))]
        made = Subcomm(comm, dims)
        self._made += made
        for axis in first:
            if made[axis].size != 1:
                raise Error(
                    "PFFT", f"an input cut along axis {axis}", f"whole lines along axes {first}, the first ones"
                )
        return made

    def _plan(self, norm: str) -> Plan:
        """The plan that scales as `norm` says. Those that are no default are made when they are asked for first."""
        if norm not in self._plans:
            boxes = (self.pencil[0].box, self.pencil[1].box)
            self._plans[norm] = Plan(
                self._whole,
                self._input_shape,
                self._names,
                self._dtype,
                *boxes,
                norm=norm,
                **self._kept,
                **self._options,
            )
        return self._plans[norm]

    def destroy(self) -> None:
        """Frees the plans and the communicators that were made for them. Collective."""
        for plan in self._plans.values():
            plan.free()
        for comm in self._made:
            comm.Free()
        self._made = []

    def shape(self, forward_output: bool = True) -> tuple[int, ...]:
        """The shape of this rank's output of forward, or of its input."""
        return self.pencil[bool(forward_output)].subshape

    def local_slice(self, forward_output: bool = True) -> tuple[slice, ...]:
        """Which part of the global output, or input, this rank has."""
        return self.pencil[bool(forward_output)].box.slices

    def global_shape(self, forward_output: bool = False) -> tuple[int, ...]:
        """The lengths of the whole input, or of the whole output."""
        return self._output_shape if forward_output else self._input_shape

    @property
    def dimensions(self) -> int:
        """The number of axes."""
        return len(self._input_shape)

    def dtype(self, forward_output: bool = False) -> np.dtype:
        """The dtype of the input, or of the output."""
        plan = self._plans["forward"]
        return plan.output_dtype if forward_output else plan.input_dtype


class _Arrays:
    """The arrays that belong to a PFFT, for calls that name none. They are made when they are asked for first."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._made = plan, {}

    def get(self, output: bool) -> np.ndarray:
        if output not in self._made:
            self._made[output] = self._plan.empty_output() if output else self._plan.empty_input()
            self._made[output].fill(0)
        return self._made[output]


class Transform:
    """One direction of a `PFFT`. Forward divides by the number of points, unless it is told otherwise."""

    def __init__(self, fft: PFFT, arrays: _Arrays, direction: str, pencils: tuple[Pencil, Pencil]) -> None:
        self._fft, self._arrays, self._forward = fft, arrays, direction == "forward"
        self.input_pencil, self.output_pencil = pencils

    @property
    def input_array(self) -> np.ndarray:
        """The array that is transformed if the call names none."""
        return self._arrays.get(not self._forward)

    @property
    def output_array(self) -> np.ndarray:
        """The array that is written to and returned if the call names none."""
        return self._arrays.get(self._forward)

    def __call__(
        self,
        input_array: np.ndarray | None = None,
        output_array: np.ndarray | None = None,
        normalize: bool | None = None,
        **kw: Any,
    ) -> np.ndarray:
        """Transforms, and returns the output array: the one given, or else `output_array`. Collective.

        Arrays of the PFFT's dtype in C order are read and written where they lie; others are copied. `normalize`:
        whether the result is divided by the product of the logical lengths; None: forward only.
        """
        if kw:
            raise Error("PFFT", f"the argument {next(iter(kw))}", "input_array, output_array and normalize")
        normalize = self._forward if normalize is None else normalize
        plan = self._fft._plan("forward" if bool(normalize) == self._forward else "backward")
        shape, dtype = (plan.input_shape, plan.input_dtype) if self._forward else (plan.output_shape, plan.output_dtype)
        ends = (plan.output_shape, plan.output_dtype) if self._forward else (plan.input_shape, plan.input_dtype)
        x = self.input_array if input_array is None else _as_it_lies(input_array, shape, dtype)
        out = self.output_array if output_array is None else _as_it_lies(output_array, *ends, write=True)
        if x is None or (out is not None and x.size and np.may_share_memory(x, out)):
            x = self.input_array
            if input_array is not None:
                _copy(input_array, x)
        result = out if out is not None and not np.may_share_memory(x, out) else self.output_array
        (plan.forward if self._forward else plan.backward)(x, result)
        if output_array is None:
            return result
        if result is not out:
            _copy(result, output_array)
        return output_array


def _copy(source: np.ndarray, target: np.ndarray) -> None:
    if np.size(source) or np.size(target):  # arrays without points may have different shapes
        target[...] = source


def _as_it_lies(array: Any, shape: tuple[int, ...], dtype: np.dtype, write: bool = False) -> np.ndarray | None:
    """The array as a plan can read or write it, or None."""
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.shape != shape:
        return None
    if not array.flags.c_contiguous or not array.flags.aligned or (write and not array.flags.writeable):
        return None
    return array.view(np.ndarray)
