"""Arrays that are spread over ranks: each rank has a box of the whole, and all know who has which."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from weft import _hdf5
from weft._box import Box
from weft._dist_basics import Spread
from weft._distributions import Where
from weft._error import Error
from weft._layout import Described, Layout, Part, described, layout_of, movable, move, strides_of
from weft._together import Ranks, ranks_of
from weft._views import separate

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
    fill : the value of all elements, a number; None: undefined.
    local : this rank's part, of the shape of its box. It is used where it lies, with its strides. None: a new array.

    Collective: all ranks give the same shape and dtype, or all raise a `weft.Error`. What is wrong on one rank only, in
    making, moving and writing an array, is an error on all: ranks agree before any of them waits for another one's
    elements. Arguments of reductions are the same on all ranks, which is not checked. An mpi4py communicator is not to
    be freed before the array's last collective method.

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
        ranks = ranks_of(comm)

        def given() -> tuple[Described, bool]:
            if fill is not None:
                np.empty((), dtype)[()] = fill  # an error here is one that all ranks get
            return described(shape, distribution, dtype), local is not None

        everyone = ranks.agreed(given)
        self._layout = layout_of(ranks, [part for part, _ in everyone], distribution)
        self._local = self._layout.empty(dtype) if local is None else local
        if any(own for _, own in everyone):
            self._take(np.dtype(dtype))
        if fill is not None:
            self._local[...] = fill

    def _take(self, dtype: np.dtype) -> None:
        """Checks this rank's own array, on all ranks together, and takes its strides for those of the layout."""
        local, box, ranks = self._local, self.box, self._layout.ranks

        def check() -> tuple[int, ...]:
            if not isinstance(local, np.ndarray) or local.shape != box.shape or local.dtype != dtype:
                got = f"shape {np.shape(local)}, dtype {getattr(local, 'dtype', type(local).__name__)}"
                raise Error("array: local", got, f"a NumPy array of shape {box.shape}, dtype {dtype}")
            return strides_of(local)

        parts = zip(self._layout.parts, ranks.agreed(check), strict=True)
        self._layout = Layout(ranks, self.shape, [Part(part.box, steps) for part, steps in parts])

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

        def seen() -> np.ndarray:
            a = np.asarray(whole)
            if not a.flags.aligned or not separate(a.shape, a.strides, a.itemsize):
                a = np.array(a, order="C")
            movable(a.dtype)
            return a

        source, a = _on_one(ranks, root, seen)
        array = cls(source.shape, a.dtype, distribution, comm)
        move(source, a, array._layout, array._local)
        return array

    def gather(self, root: int = 0) -> np.ndarray | None:
        """The whole array on one rank, None on the others. Collective, by one exchange.

        >>> weft.DistArray((2, 2), int, fill=3).gather()
        array([[3, 3],
               [3, 3]])
        """
        ranks = self._layout.ranks
        target, whole = _on_one(ranks, root, lambda: np.empty(self.shape, self.dtype))
        move(self._layout, self._local, target, whole)
        return whole if ranks.rank == root else None

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
        ranks, like = self._layout.ranks, distribution if out is None else out

        def given() -> tuple[Described | None, int]:
            """What the layout is to be made of; of an array that has one, a number that tells it from others."""
            movable(self.dtype)
            if not isinstance(like, Spread):
                if out is not None:
                    raise Error("array: redistribute", f"out of type {type(out).__name__}", "a DistArray, or None")
                return described(self.shape, _cut(distribution, self.ndim), self.dtype), 0
            fits = like.shape == self.shape and like._layout.among_the_ranks_of(self._layout)
            if not fits or (out is not None and out.dtype != self.dtype):
                got = f"{'an array' if out is None else 'out'} of shape {like.shape}, dtype {like.dtype}"
                raise Error("array: redistribute", got, f"{self.shape}, {self.dtype} on the same ranks")
            return None, hash(like._layout)

        everyone = ranks.agreed(given)
        if len({(made_of is None, number) for made_of, number in everyone}) > 1:
            raise Error("array: redistribute", "different arrays, or on some ranks none", "the same on all ranks")
        if out is None:
            if isinstance(like, Spread):
                layout = like._layout.dense
            else:
                layout = layout_of(ranks, [m for m, _ in everyone if m is not None], _cut(distribution, self.ndim))
            out = DistArray._of(layout, layout.empty(self.dtype))
        move(self._layout, self._local, out._layout, out._local)
        return out

    write = _hdf5.write

    @classmethod
    def read(cls, file: Any, dataset: str = "data", distribution: Where = "slab0", comm: Any = None) -> DistArray:
        """An array from a dataset of an HDF5 file, which every rank reads its box of. Collective. Needs h5py."""
        return _hdf5.read(cls, file, dataset, distribution, comm)


DistArray.__module__ = "weft"


def _cut(distribution: Any, ndim: int) -> Where:
    """The distribution that is meant: of an axis the one with whole lines along it."""
    if not isinstance(distribution, int | np.integer):
        return distribution
    axis = int(distribution)
    if not -ndim <= axis < ndim or ndim < 2:
        raise Error("array: redistribute", f"axis {axis}", f"an axis of {ndim}, and one more to be cut")
    axis %= ndim
    return f"slab{1 - axis}" if ndim == 2 else f"pencil{axis}"


def _on_one(ranks: Ranks, root: int, make: Callable[[], np.ndarray]) -> tuple[Layout, np.ndarray]:
    """An array that one rank makes, empty on the others, and its layout. Collective."""
    made: list[np.ndarray] = []

    def mine() -> tuple[int, Any]:
        number = operator.index(root)
        if not 0 <= number < ranks.size:
            raise Error("array: root", str(root), f"a rank from 0 to {ranks.size - 1}")
        if ranks.rank == number:
            made.append(make())
        return number, [(a.shape, a.dtype, strides_of(a)) for a in made]

    everyone = ranks.agreed(mine)
    roots = {number for number, _ in everyone}
    if len(roots) > 1:
        raise Error("array: root", f"ranks {sorted(roots)}", "the same on all ranks")
    ((shape, dtype, strides),) = everyone[roots.pop()][1]
    nothing = (0,) * len(shape)
    parts = [
        Part(Box(nothing, shape), strides) if found else Part(Box(nothing, nothing), (1,) * len(shape))
        for _, found in everyone
    ]
    return Layout(ranks, shape, parts), made[0] if made else np.empty(nothing, dtype)


def layout_of_side(plan: Plan, side: Any) -> Layout:
    """The layout of a plan's input or output. Collective the first time."""
    known = plan._layouts.get(side.name)
    if known is None:
        ranks, batch = ranks_of(plan._comm), len(side.shape) - len(side.box.lo)

        def part() -> tuple:
            if plan.device is not None:
                raise Error("array", "a plan of device memory", "a plan of arrays on the host, or plain device arrays")
            if side.shape[batch:] != side.box.shape:
                raise Error("array", f"the {side.name} of a plan with a halo", "one without, or plain arrays")
            more = side.shape[:batch]
            steps = tuple(max(s // side.dtype.itemsize, 1) for s in side.strides)
            return (0,) * batch + side.box.lo, (*more, *side.box.hi), steps

        parts = [Part(Box(lo, hi), steps) for lo, hi, steps in ranks.agreed(part)]
        corner = np.max([part.box.hi for part in parts], axis=0)
        known = Layout(ranks, tuple(int(n) for n in corner), parts)
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
