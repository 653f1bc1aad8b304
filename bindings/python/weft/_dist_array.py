"""Arrays that are spread over ranks: each rank has a box of the whole, and all know who has which."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from weft import _hdf5
from weft._box import Box
from weft._dist_basics import Spread
from weft._distributions import Where
from weft._error import Error
from weft._layout import Layout, gathered, layout_of, move, strides_of
from weft._together import ranks_of

if TYPE_CHECKING:
    from weft._places import Given
    from weft._plan import Plan


class DistArray(Spread):
    """An array of a global shape of which each rank holds a box, as a NumPy array.

    It is made on all ranks together, and given to `weft.Plan.forward` and `backward` as it is. Operators and NumPy's
    ufuncs work on the parts of all ranks without communication; sums, norms and the like are of the whole array.

    Parameters
    ----------
    shape : global lengths of 1 to 8 axes.
    dtype : any; to be moved between ranks, elements of 4, 8 or 16 bytes.
    distribution : who holds what, as a plan's `input`: "slab0" (cut along axis 0), "pencil2" (whole lines along axis
        2), "brick", this rank's `weft.Box`, the list of all ranks' boxes, or a `weft.Distribution` without halo.
    comm : mpi4py communicator, `weft.Comm` (as `ThreadTeam.run` gives it), or None: this process alone.
    fill : the value of all elements; None: undefined.
    local : this rank's part, of the shape of its box. It is used where it lies, with its strides. None: a new array.

    Collective: all ranks give the same shape and dtype, or all raise a `weft.Error`. An argument that is wrong by
    itself is an error on the ranks that give it, for which others wait. An mpi4py communicator is not to be freed
    before the array's last collective method.

    Examples
    --------
    >>> import numpy as np, weft
    >>> a = weft.DistArray((4, 6), fill=2)   # this process alone; under mpirun: comm=MPI.COMM_WORLD of mpi4py
    >>> a.box
    Box(lo=(0, 0), hi=(4, 6))
    >>> a[1:3, 0] = 5                        # global positions; each rank sets those that it holds
    >>> float((a * a).sum())                 # collective
    138.0
    """

    __slots__ = ()

    def __init__(
        self,
        shape: Any,
        dtype: DTypeLike = float,
        distribution: Where = "slab0",
        comm: Any = None,
        *,
        fill: Any = None,
        local: Any = None,
    ) -> None:
        shape = tuple(shape) if np.ndim(shape) else (operator.index(shape),)
        dtype = np.dtype(dtype)
        self._layout = layout_of(comm, shape, distribution, dtype)
        self._local = self._layout.empty(dtype) if local is None else local
        if local is not None:
            self._take(local, dtype)
        if fill is not None:
            self._local[...] = fill

    def _take(self, local: Any, dtype: np.dtype) -> None:
        """Checks this rank's own array, on all ranks together, and takes its strides for those of the layout."""
        box, ranks = self.box, self._layout.ranks

        def check() -> tuple[int, ...]:
            if tuple(local.shape) != box.shape or local.dtype != dtype:
                got = f"shape {tuple(local.shape)}, dtype {local.dtype}"
                raise Error("array: local", got, f"shape {box.shape}, dtype {dtype}", ranks.rank)
            return strides_of(local)

        steps = ranks.agreed(check)
        self._layout = gathered(ranks, self.shape, box, steps[ranks.rank])

    @classmethod
    def input_of(cls, plan: Plan, fill: Any = None) -> DistArray:
        """A new array for a plan's input, of its boxes and memory order; with a batch it has one more axis, the first.
        Collective the first time.

        >>> plan = weft.Plan(None, (4, 6), "r2c")
        >>> modes = plan.forward(weft.DistArray.input_of(plan, fill=1))
        >>> modes.shape, modes.dtype, complex(modes[0, 0])
        ((4, 4), dtype('complex128'), (24+0j))
        """
        return cls._for_side(plan, plan._input, fill)

    @classmethod
    def output_of(cls, plan: Plan, fill: Any = None) -> DistArray:
        """The same for a plan's output."""
        return cls._for_side(plan, plan._output, fill)

    @classmethod
    def _for_side(cls, plan: Plan, side: Any, fill: Any) -> DistArray:
        array = cls._of(layout_of_side(plan, side), side.empty())
        if fill is not None:
            array._local[...] = fill
        return array

    @classmethod
    def scatter(cls, whole: Any, distribution: Where = "slab0", comm: Any = None, root: int = 0) -> DistArray:
        """Spreads an array that one rank has over all. Collective; what other ranks give as `whole` is ignored.

        The root's array is read where it lies, unless it has negative or overlapping steps.

        >>> weft.DistArray.scatter(np.arange(6).reshape(2, 3)).local
        array([[0, 1, 2],
               [3, 4, 5]])
        """
        ranks = ranks_of(comm)
        root = _rank(root, ranks.size)
        here = ranks.rank == root
        a = np.asarray(whole) if here else np.empty(0)
        if here:
            try:
                strides_of(a)
            except Error:
                a = np.ascontiguousarray(a)
        shape, dtype = ranks.allgather((a.shape, a.dtype) if here else None)[root]
        array = cls(shape, dtype, distribution, comm)
        move(
            _at(array._layout, root, a), a if here else np.empty((0,) * len(shape), dtype), array._layout, array._local
        )
        return array

    def gather(self, root: int = 0) -> np.ndarray | None:
        """The whole array on one rank, None on the others. Collective, by one exchange.

        >>> weft.DistArray((2, 2), int, fill=3).gather()
        array([[3, 3],
               [3, 3]])
        """
        root = _rank(root, self._layout.ranks.size)
        here = self._layout.ranks.rank == root
        whole = np.empty(self.shape if here else (0,) * self.ndim, self.dtype)
        move(self._layout, self._local, _at(self._layout, root, whole), whole)
        return whole if here else None

    def redistribute(self, distribution: Where | int | DistArray, out: DistArray | None = None) -> DistArray:
        """The same array with other boxes. Collective, by one exchange of Weft's.

        `distribution`: as in the constructor; an axis, along which every rank then has whole lines ("pencil" of it, of
        two axes "slab" of the other); or an array whose layout is taken. `out`: an array to write to, instead of a new
        one.
        The plans of the last exchanges between the same layouts are kept.

        >>> a = weft.DistArray((8, 4, 2), fill=1)
        >>> bool((a.redistribute("brick").redistribute(0) == a).all())
        True
        """
        if out is None:
            if isinstance(distribution, DistArray):
                layout = distribution._layout.dense
            else:
                where = _whole_along(distribution, self.ndim) if isinstance(distribution, int) else distribution
                layout = layout_of(self.comm, self.shape, where, self.dtype)
            out = DistArray._of(layout, layout.empty(self.dtype))
        if out.shape != self.shape or out.dtype != self.dtype or not out._layout.among_the_ranks_of(self._layout):
            raise Error(
                "array: redistribute",
                f"out of shape {out.shape}, dtype {out.dtype}",
                f"{self.shape}, {self.dtype} on the same ranks",
            )
        move(self._layout, self._local, out._layout, out._local)
        return out

    write = _hdf5.write

    @classmethod
    def read(cls, file: Any, dataset: str = "data", distribution: Where = "slab0", comm: Any = None) -> DistArray:
        """An array from a dataset of an HDF5 file, which every rank reads its box of. Collective. Needs h5py."""
        return _hdf5.read(cls, file, dataset, distribution, comm)


DistArray.__module__ = "weft"


def _rank(root: int, size: int) -> int:
    if not 0 <= operator.index(root) < size:
        raise Error("array: root", str(root), f"a rank from 0 to {size - 1}")
    return root


def _whole_along(axis: int, ndim: int) -> str:
    """The distribution with whole lines along an axis."""
    if not -ndim <= axis < ndim or ndim < 2:
        raise Error("array: redistribute", f"axis {axis}", f"an axis of {ndim}, and one more to be cut")
    axis %= ndim
    return f"slab{1 - axis}" if ndim == 2 else f"pencil{axis}"


def _at(layout: Layout, root: int, whole: np.ndarray) -> Layout:
    """The layout of an array that is on one rank: there with its strides, which the others learn. Collective."""
    ranks, n = layout.ranks, len(layout.shape)
    if ranks.rank == root:
        return gathered(ranks, layout.shape, Box((0,) * n, layout.shape), strides_of(whole))
    return gathered(ranks, layout.shape, Box((0,) * n, (0,) * n), (1,) * n)


def layout_of_side(plan: Plan, side: Any) -> Layout:
    """The layout of a plan's input or output. Collective the first time."""
    known = plan._layouts.get(side.name)
    if known is None:
        if plan.device is not None:
            raise Error("array", "a plan of device memory", "a plan of arrays on the host, or plain device arrays")
        n = len(side.shape)
        if side.shape[n - len(side.box.lo) :] != side.box.shape:
            raise Error("array", f"the {side.name} of a plan with a halo", "one without, or plain arrays")
        more = side.shape[: n - len(side.box.lo)]  # the batch
        box = Box((0,) * len(more) + side.box.lo, (*more, *side.box.hi))
        ranks = ranks_of(plan._comm)
        corner = np.max([hi for _, hi in ranks.allgather((box.lo, box.hi))], axis=0)
        shape = tuple(int(n) for n in corner)
        known = gathered(ranks, shape, box, tuple(max(s // side.dtype.itemsize, 1) for s in side.strides))
        plan._layouts[side.name] = known
    return known


def execute(plan: Plan, do: Any, direction: Any, given: Given) -> DistArray:
    """An execution of a plan of which at least one array is a `DistArray`, and so is the result."""
    forward, x, out = direction.name == "forward", given.x, given.out
    sides = (plan._input, plan._output) if forward else (plan._output, plan._input)
    for name, array, side in zip(("x", "out"), (x, out), sides, strict=True):
        if isinstance(array, DistArray) and not array._layout.has_boxes_of(layout_of_side(plan, side)):
            wanted = f"the plan's {side.name} boxes; redistribute(weft.DistArray.{side.name}_of(plan)) gives them"
            plan._core.refuse(direction)
            raise Error("plan", f"{name}, a DistArray of shape {array.shape} of other boxes", wanted)
    result = plan._do(do, direction, given._replace(x=_part(x), out=_part(out)))
    return out if isinstance(out, DistArray) else DistArray._of(layout_of_side(plan, sides[1]), result)


def _part(array: Any) -> Any:
    return array._local if isinstance(array, DistArray) else array
