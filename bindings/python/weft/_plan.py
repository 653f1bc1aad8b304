"""Distributed transforms: a plan, made once by all ranks, and executed as often as you like."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from weft import _core, _modules
from weft._arrays import Side
from weft._box import Box
from weft._core import Distribution, Explanation
from weft._dist_array import DistArray
from weft._dist_array import execute as execute_distributed
from weft._distributions import Where, distribution
from weft._error import Error
from weft._findings import Findings
from weft._forking import planning
from weft._modes import Modes
from weft._places import Given, of_blocks, place_of
from weft._ranks import resolve
from weft._sides import Sides

_FORWARD, _BACKWARD = _core.Direction.forward, _core.Direction.backward
PRECISION = {"f": "float32", "F": "float32", "d": "float64", "D": "float64"}
# The factors of forward and of backward.
SCALES = {
    "backward": ("none", "full"),
    "ortho": ("symmetric", "symmetric"),
    "forward": ("full", "none"),
    "none": ("none", "none"),
    "both": ("full", "full"),
}


class Plan(Findings, Modes, Sides):
    """A transform of an array that is spread over ranks, forward and backward, ready to be executed.

    Making a plan is collective over `comm`: all ranks give the same arguments, except for their own box, memory orders,
    strides and halos. If it fails on one rank, it fails on all: that rank raises what is wrong there, the others a
    `weft.Error` that names the rank.

    Parameters
    ----------
    comm : mpi4py communicator, `weft.Comm` (as `ThreadTeam.run` gives it), or None: this process alone.
    shape : global lengths of 1 to 8 axes; for r2c those of the real array. Several ranks need 2 axes.
    transforms : one name for all axes, or one per axis: "c2c", "r2c", "dct1" to "dct4", "dst1" to "dst4", None. "r2c"
        for all means r2c along the last axis and c2c along the others.
    dtype : of the input: float32, float64, complex64 or complex128. None: float64 or complex128, as the transforms say.
    input, output : who holds what before and after: "slab0" (cut along axis 0), "pencil2" (whole lines along axis 2),
        "brick", this rank's `weft.Box`, the list of all ranks' boxes, or a `weft.Distribution`, which also takes memory
        orders, strides and halos. For the output "fastest": boxes and memory order as the plan likes them best, or
        `weft.Distribution.sphere(radius)` or `columns(first, count)`: only some of the modes, such as those of a
        plane-wave basis. The array then has one axis, and `columns` tells its modes.
    norm : as in `scipy.fft`: "backward" (None): backward divides by N, the product of the logical lengths of the
        transformed axes; "ortho": both divide by sqrt(N); "forward": forward divides by N; "none": nothing is divided;
        "both": both divide by N. With "none", "ortho" and "both" each direction is the other's adjoint.
    tolerance : the relative error in the 2-norm that messages may cause, None: they are exact.
    effort : "estimate", "measure" or "patient": how much is tried while planning; "online": the first executions try.
    in_place : whether input and output are one memory: `forward(x)` then returns a view of the memory of x, which
        holds the result, and `backward(y)` one of that of y. r2c may have `with_r2c_padding()` for its input.
    line : two axes (a, b) that are one line of n = shape[a] * shape[b] points: its one-dimensional transform, of any
        length that is a product of two, on any number of ranks. Before forward point j has the indices
        divmod(j, shape[b]); after it mode k has k % shape[a] along a and k // shape[a] along b. Both are c2c, or, of
        a real line, one is r2c: b for the modes 0 to n//2, with some behind them that fill the rows; a for those of
        which k or n - k has a remainder k % shape[a] of at most shape[a]//2. `weft.line_shape` factors a length.
        Empty: none.
    modes : the length of the output along each axis, where not all modes are kept: those of the lowest frequencies.
        Forward leaves the others out, backward takes them as zero; scale factors are those of `shape`. None for all
        modes of an axis. Of a c2c axis the m kept modes are 0 to (m+1)//2 - 1, then -(m//2) to -1, as those of m points
        (`np.fft.fftfreq`); of r2c and of DCTs and DSTs they are the first m.
    modes_nyquist : what the mode m/2 of an even number m of kept modes stands for: "shared": m/2 periods and -m/2
        alike, so that real data stay real, and m modes of r2c count as those of 2(m-1) points, whose last mode is real;
        "odd": the same, but m modes of r2c count as those of 2m-1 points; "single": -m/2 alone, and all of r2c
        themselves.
    points : the length of the input along each axis, if it is shorter than `shape`, which then has the lengths of the
        transforms: forward takes the points behind as zero, backward leaves them out. None for all points of an axis.
    between : None, or what `apply` passes through: "modes": it transforms points to modes, lets an operator change
        them, and transforms them back to points; "points": from modes to points and back to modes. Input and output
        are then both points, or both modes, and nothing of what is between is stored. `dtype` is that of points.
    results : with `between`, the number of arrays that the operator leaves, if it is not `batch`: 3 of 1 for a
        gradient, 1 of 2 for a product.
    batch : number of arrays that are transformed together. Arrays then have one more axis, the first.
    input_distance, output_distance : elements from one array of the batch to the next; 0: one follows the other.
    device : where this rank's arrays lie: None: in memory of the host; "cuda", the number of a GPU, a `torch.device`, a
        `cupy.cuda.Device` or an array there: in memory of that GPU. docs/python-gpu.md says more.
    options : everything that `weft.options()` lists, such as threads=2 or exchange="p2p". With workspace="user" every
        execution is given its workspace, as `empty_workspace()` makes it, which several plans may share.

    Examples
    --------
    >>> import numpy as np, weft
    >>> plan = weft.Plan(None, (4, 6), "r2c")  # this process alone; under mpirun: MPI.COMM_WORLD of mpi4py
    >>> x = plan.empty_input()                 # 4 x 6 float64
    >>> x[...] = 1
    >>> y = plan.forward(x)                    # 4 x 4 complex128
    >>> y.shape, complex(y[0, 0])
    ((4, 4), (24+0j))
    >>> bool(np.allclose(plan.backward(y), x))
    True

    One thread at a time executes the plans of a communicator, in the same order on all ranks. Plans release the GIL
    while they are made and while they work. Ctrl-C ends planning by trials between two of them, with an error on all
    ranks; otherwise it is seen when the call returns.
    """

    def __init__(
        self,
        comm: Any,
        shape: Sequence[int],
        transforms: str | Sequence[str | None] = "c2c",
        dtype: DTypeLike | None = None,
        input: Where = "slab0",
        output: Where = "fastest",
        norm: str | None = None,
        tolerance: float | None = None,
        effort: str | None = None,
        *,
        in_place: bool = False,
        line: Sequence[int] = (),
        modes: Sequence[int | None] = (),
        modes_nyquist: str = "shared",
        points: Sequence[int | None] = (),
        between: str | None = None,
        results: int | None = None,
        batch: int = 1,
        input_distance: int = 0,
        output_distance: int = 0,
        device: Any = None,
        **options: str | int | float | bool,
    ) -> None:
        self._core: Any = None
        ranks = resolve(comm)
        try:
            self._shape = tuple(int(n) for n in shape)
            self._transforms = names_of(transforms, len(self._shape))
            source, target = dtypes_of(self._transforms, dtype)
            between = None if between == "none" else between
            if between is not None:
                source = target = source if between == "modes" else target
            scales = SCALES.get("backward" if norm is None else norm)
            if scales is None:
                raise Error("plan: norm", repr(norm), 'one of "backward", "ortho", "forward", "none", "both"')
            arguments = _core.PlanArguments()
            arguments.shape = self._shape
            arguments.transforms = self._transforms
            arguments.precision = PRECISION[source.char]
            real = source.kind == "f" or "r2c" in self._transforms
            arguments.element = "real" if real else "complex"
            arguments.forward_scale, arguments.backward_scale = scales
            arguments.in_place = self._in_place = bool(in_place)
            axes = [operator.index(axis) for axis in line]
            arguments.line = [axis + len(self._shape) if -len(self._shape) <= axis < 0 else axis for axis in axes]
            halved = [n // 2 + 1 if kind == "r2c" else n for n, kind in zip(self._shape, self._transforms, strict=True)]
            arguments.points = _lengths("points", points, self._shape)
            arguments.modes = _lengths("modes", modes, halved)
            arguments.modes_nyquist = modes_nyquist
            arguments.between = self._between = "none" if between is None else between
            arguments.results = 0 if results is None else operator.index(results)
            arguments.batch = operator.index(batch)
            self._several = arguments.batch > 1 or arguments.results > 1
            arguments.input_distance = operator.index(input_distance)
            arguments.output_distance = operator.index(output_distance)
            if tolerance is not None:
                options["tolerance"] = repr(float(tolerance))
            if effort is not None:
                options["effort"] = effort
            take_options(arguments, options)
            before, after = distribution("input", input), distribution("output", output)
            self._place = place_of(device)
            arguments.device = self._place.device
        except Exception as wrong:
            refuse_planning(ranks, wrong)
            raise
        with planning if ranks.size == 1 else contextlib.nullcontext():
            self._core = _core.Plan(ranks, arguments, before, after)
        room = self._core.buffer_bytes if in_place else 0
        self._input = Side("input", self._core.input, source, batch, before.halo, room)
        self._output = Side("output", self._core.output, target, results or batch, after.halo, room)
        self._result: Any = None
        self._comm, self._layouts = comm, {}  # of a DistArray

    def forward(self, x: Any, out: Any = None, workspace: Any = None, *, stream: Any = None) -> Any:
        """Transforms this rank's input box and returns its output box. Collective.

        `x` is read where it lies and left as it was; `out` is written where it lies, a new array if it is None. Both
        look as `empty_input()` and `empty_output()` make them, in shape, dtype and strides, and do not overlap. In
        place `out` is a view of the memory of `x`, which is overwritten. `workspace`: if and only if the plan has
        option workspace="user". Arrays may be `weft.DistArray`s of the plan's boxes; then the result is one too.

        In memory of a GPU the execution is enqueued on `stream`, None: the current one in the module of x, and the
        result is there when that stream has come so far. A new array is one of the module of x.

        >>> plan = weft.Plan(None, (4, 6), "r2c", in_place=True)
        >>> x = plan.empty_input()
        >>> x[...] = 1
        >>> y = plan.forward(x)
        >>> y.shape, complex(y[0, 0]), np.shares_memory(x, y)
        ((4, 4), (24+0j), True)
        >>> bool(np.all(plan.backward(y, out=x) == 1))
        True
        """
        return self._do(self._core.execute, _FORWARD, Given(x, out, workspace, stream))

    def backward(self, x: Any, out: Any = None, workspace: Any = None, *, stream: Any = None) -> Any:
        """The same from the output box to the input box. Collective."""
        return self._do(self._core.execute, _BACKWARD, Given(x, out, workspace, stream))

    def apply(
        self,
        op: Any,
        x: Any,
        out: Any = None,
        workspace: Any = None,
        *,
        direction: str = "forward",
        stream: Any = None,
    ) -> Any:
        """Of a plan with something `between`: transforms `x`, lets `op` change what comes of it, and transforms that
        back. Collective. `forward` does the same without an operator. `direction="backward"` goes from the output box
        to the input box, by the same transforms in the same order.

        `op`: an operator of `weft.operators`, or a function `op(u, at)` of parts of the modes, or points. It changes
        `u` in place: an array of the fields of one part, with one axis more in front if there are several (`batch` of
        them when it is called, `results` of them when it returns, room for the larger number). `at`: where the part
        is, a slice of global indices for each axis, with which arrays of the whole shape are cut as `factor[at]`.
        On the host parts are small, to stay in the cache, so that a function costs some microseconds for each; it holds
        the GIL. Nothing of `u` may be kept. If `op` raises, all ranks fail, and the plan is broken.

        In memory of a GPU `u` is an array of the module of x, or, if that is neither CuPy nor PyTorch, of the module of
        `empty_input()`; it lies in the plan's memory, and parts are tens of MB. The stream of the part is the current
        one of that module while `op` is called, so that what `op` does is enqueued there, and need not be done when it
        returns. `stream`: as of `forward`.

        >>> plan = weft.Plan(None, (64, 8), between="modes")
        >>> k = plan.wavenumbers(0)[:, None]
        >>> def low_pass(u, at):
        ...     u *= abs(k[at[0]]) < 4
        >>> x = np.exp(2j * np.pi * np.arange(64) / 64)[:, None] * np.ones(8)
        >>> bool(np.allclose(plan.apply(low_pass, x + x**9), x))
        True
        """
        way = {"forward": _FORWARD, "backward": _BACKWARD}.get(direction)
        if way is None:
            raise Error("apply: direction", repr(direction), '"forward" or "backward"')
        what = op
        if not isinstance(op, _core.ModeOperator):
            try:
                what = of_blocks(self._place.caller(op, x), self._input.dtype, self._several)
            except Exception:  # no module for arrays of a GPU
                self._core.refuse(way)
                raise
        return self._do(lambda *used: self._core.apply(*used, what), way, Given(x, out, workspace, stream))

    def start_forward(self, x: Any, out: Any = None, workspace: Any = None, *, stream: Any = None) -> None:
        """As `forward`, but returns as soon as the execution would have to wait for another rank. Collective.

        Until `wait` returns or `test` returns True, the arrays belong to the plan, which keeps them alive. No thread
        runs in the background: the execution goes on inside `test` and `wait`. Of a plan that is freed before, the
        memory of the arrays is never given back: messages under way may use it.

        >>> plan = weft.Plan(None, (4, 4))
        >>> plan.start_forward(np.ones((4, 4), complex))
        >>> complex(plan.wait()[0, 0])
        (16+0j)
        """
        self._result = self._do(self._core.start, _FORWARD, Given(x, out, workspace, stream))

    def start_backward(self, x: Any, out: Any = None, workspace: Any = None, *, stream: Any = None) -> None:
        """As `backward`, and as `start_forward` does it. Collective."""
        self._result = self._do(self._core.start, _BACKWARD, Given(x, out, workspace, stream))

    def _do(self, what: Any, direction: _core.Direction, given: Given) -> Any:
        """Executes or starts. What is wrong with the arrays is an error here before C++ sees them; then other ranks,
        which may wait for this one to agree, are told."""
        if isinstance(given.x, DistArray) or isinstance(given.out, DistArray):
            return execute_distributed(self, what, direction, given)
        sides = (self._input, self._output) if direction is _FORWARD else (self._output, self._input)
        try:
            used, out = self._place.arrays(self._core, sides, given, self._in_place)
        except Exception:  # also where a module has no memory for a new array
            self._core.refuse(direction)
            raise
        what(direction, *used)
        _modules.note_written(out)
        return out

    def test(self) -> bool:
        """Takes the execution under way as far as possible without waiting. True if none is under way any more."""
        return self._core.test()

    def wait(self) -> Any:
        """Completes the execution under way and returns its result; None if none was started since the last wait."""
        self._core.wait()
        result, self._result = self._result, None
        return result

    @property
    def shape(self) -> tuple[int, ...]:
        """Global lengths, for r2c those of the real array."""
        return self._shape

    @property
    def columns(self) -> tuple[np.ndarray, np.ndarray]:
        """This rank's columns of modes, of a plan with `weft.Distribution.columns` or `sphere`, in the order of its
        array: the numbers of the first mode of each, one per axis, and how many modes it has along axis 0. Along c2c
        axes the numbers of first modes are from -(n // 2) to (n - 1) // 2; those behind them go on, and may be larger:
        `wavenumbers` has those of all. The boxes of such a side count the modes of all ranks.

        >>> plan = weft.Plan(None, (8, 8), output=weft.Distribution.sphere(1))
        >>> first, count = plan.columns
        >>> first.tolist(), count.tolist()
        ([[0, -1], [-1, 0], [0, 1]], [1, 3, 1])
        >>> plan.forward(np.ones((8, 8), complex)).real
        array([ 0.,  0., 64.,  0.,  0.])
        """
        first, count = self._core.columns
        return np.array(first, int).reshape(len(count), len(self._shape)), np.array(count, int)

    @property
    def between_box(self) -> Box:
        """What of the modes, or points, between two transforms this rank's operator gets."""
        return Box(*self._core.between_box)

    @property
    def input_dtype(self) -> np.dtype:
        """The dtype of arrays before forward."""
        return self._input.dtype

    @property
    def output_dtype(self) -> np.dtype:
        """The dtype of arrays after forward."""
        return self._output.dtype

    @property
    def scale_factor(self) -> float:
        """N, the product of the logical lengths of the transformed axes."""
        return self._core.scale_factor

    @property
    def in_place(self) -> bool:
        """Whether input and output are one memory."""
        return self._in_place

    @property
    def buffer_bytes(self) -> int:
        """Bytes of memory that serves in place: the larger of input and output."""
        return self._core.buffer_bytes

    @property
    def workspace_bytes(self) -> int:
        """Bytes that the plan needs on this rank beside your arrays, and owns unless option workspace is "user"."""
        return self._core.workspace_bytes

    @property
    def device(self) -> int | None:
        """The GPU whose memory this rank's arrays lie in; None: memory of the host."""
        return self._place.device if self._place.device >= 0 else None

    def empty_workspace(self, xp: Any = None) -> Any:
        """Memory for plans with option workspace="user": `workspace_bytes` bytes. One execution at a time
        uses it. After one that failed in the middle it is lost: other ranks may still use it. `xp`: as of
        `empty_input`.

        >>> plan = weft.Plan(None, (4, 6), workspace="user")
        >>> complex(plan.forward(np.ones((4, 6), complex), workspace=plan.empty_workspace())[0, 0])
        (24+0j)
        """
        return self._place.empty_bytes(self._core.workspace_bytes, xp)

    def free(self) -> None:
        """Frees the plan's memory now; every later use is a `weft.Error`. Local."""
        self._core.free()
        self._result = None

    def __enter__(self) -> Plan:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.free()

    def __str__(self) -> str:
        return str(self._core)

    def __repr__(self) -> str:
        names = ", ".join(self._transforms)
        return f"<weft.Plan {'x'.join(map(str, self._shape))} {self._input.dtype} ({names})>"

    def __reduce__(self):
        raise TypeError(
            "a weft.Plan cannot be pickled or copied: it holds memory, threads and communicators of this process. "
            "Make one from its arguments where it is needed"
        )


def take_options(arguments: _core.PlanArguments, options: dict[str, str | int | float | bool]) -> None:
    """Those of a plan, as C++ takes them."""
    for name, value in options.items():
        arguments.set_option(name, {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value))


def refuse_planning(ranks: _core.Comm, wrong: Exception) -> None:
    """Lets the ranks that are making a plan, and wait for this one, raise what is wrong here."""
    if not isinstance(wrong, Error):
        wrong = Error("plan", f"a wrong argument: {wrong}", "")
    with contextlib.suppress(Error):  # the caller raises
        _core.refuse_plan(ranks, wrong.operation, wrong.got, wrong.expected)


def names_of(given: str | Sequence[str | None], ndim: int) -> list[str]:
    """One name per axis."""
    if isinstance(given, str):
        return ["c2c"] * (ndim - 1) + ["r2c"] if given == "r2c" else [given] * ndim
    names = ["none" if name is None else name for name in given]
    if len(names) != ndim:
        raise Error("plan: transforms", f"{len(names)} transforms", f"one per axis, {ndim}")
    return names


def _lengths(what: str, given: Sequence[int | None], whole: Sequence[int]) -> tuple[int, ...]:
    """Those of one side; none if they are those of the whole."""
    if len(given) not in (0, len(whole)):
        raise Error(f"plan: {what}", f"{len(given)} lengths", f"one per axis, {len(whole)}, or none")
    return tuple(n if m is None else operator.index(m) for m, n in zip(given, whole, strict=False))


def dtypes_of(transforms: list[str], dtype: DTypeLike | None) -> tuple[np.dtype, np.dtype]:
    """The dtypes of input and output."""
    cosines = any(t.startswith("d") for t in transforms)
    real = "r2c" in transforms or (cosines and "c2c" not in transforms)
    source = np.dtype(dtype if dtype is not None else float if real else complex)
    if source.char not in PRECISION or not source.isnative:
        raise Error(
            "plan: dtype", str(source), "float32, float64, complex64 or complex128, in the machine's byte order"
        )
    if source.kind == "f" and "r2c" in transforms:
        return source, np.dtype(source.char.upper())
    return source, source


__all__ = ["Box", "Distribution", "Explanation", "Plan"]
