"""Gradients: the derivatives along all axes, each by a transform along its own axis."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from weft import _core, _modules
from weft._arrays import Side
from weft._distributions import Where, distribution
from weft._forking import planning
from weft._places import Given, place_of
from weft._plan import PRECISION, dtypes_of, names_of, refuse_planning, take_options
from weft._ranks import resolve
from weft._sides import Sides


class Gradient(Sides):
    """The derivatives of fields along all axes that are transformed, ready to be executed.

    Each derivative is taken by a plan of its own, which transforms lines along that axis, multiplies them by i k and
    transforms them back: half of the lines that go through one transform along all axes and one back for each
    derivative. Along an axis that no rank shares with others nothing is exchanged. Collective over `comm`, as a plan.

    Parameters
    ----------
    comm, shape, dtype, effort, device, options : as of `weft.Plan`.
    transforms : "c2c" of complex points, "r2c" of real ones: along all axes; or one per axis, None where no derivative
        is wanted. Which axes are c2c and which r2c makes no difference beside real points.
    input, output : who holds which points of the fields and of each derivative, as of `weft.Plan`, but boxes of points
        on both sides. Output None: as the input, with its memory order, strides and halo.
    lengths : the period of each axis of `shape`, in your unit; None: 2 pi each.
    batch : number of fields. Arrays then have one more axis, the first.
    input_distance, output_distance : elements from one field, or derivative, to the next; 0: one follows the other.

    Examples
    --------
    >>> import numpy as np, weft
    >>> gradient = weft.Gradient(None, (8, 16), "r2c", lengths=(1, 1))
    >>> x, y = np.meshgrid(np.arange(8) / 8, np.arange(16) / 16, indexing="ij")
    >>> slope = gradient(np.sin(2 * np.pi * (x + 3 * y)))
    >>> slope.shape, bool(np.allclose(slope[1], 6 * np.pi * np.cos(2 * np.pi * (x + 3 * y))))
    ((2, 8, 16), True)

    One thread at a time executes it, in the same order with plans of the communicator on all ranks.
    """

    def __init__(
        self,
        comm: Any,
        shape: Sequence[int],
        transforms: str | Sequence[str | None] = "c2c",
        dtype: DTypeLike | None = None,
        input: Where = "slab0",
        output: Where | None = None,
        lengths: Sequence[float] | None = None,
        effort: str | None = None,
        *,
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
            kind, _ = dtypes_of(self._transforms, dtype)
            arguments = _core.PlanArguments()
            arguments.shape = self._shape
            arguments.transforms = self._transforms
            arguments.precision = PRECISION[kind.char]
            arguments.element = "real" if kind.kind == "f" else "complex"
            arguments.forward_scale, arguments.backward_scale = "none", "full"
            arguments.batch = operator.index(batch)
            arguments.input_distance = operator.index(input_distance)
            arguments.output_distance = operator.index(output_distance)
            if effort is not None:
                options["effort"] = effort
            take_options(arguments, options)
            before = distribution("input", input)
            after = before if output is None else distribution("output", output)
            periods = [] if lengths is None else [float(length) for length in lengths]
            self._place = place_of(device)
            arguments.device = self._place.device
        except Exception as wrong:
            refuse_planning(ranks, wrong)
            raise
        with planning if ranks.size == 1 else contextlib.nullcontext():
            self._core = _core.Gradient(ranks, arguments, before, after, periods)
        self._input = Side("input", self._core.input, kind, batch, before.halo)
        results = batch * len(self._core.axes)
        self._output = Side("output", self._core.output, kind, results, after.halo)

    def __call__(self, x: Any, out: Any = None, *, stream: Any = None) -> Any:
        """The derivatives of this rank's fields: of m fields and n transformed axes an array of m n, those of the first
        field first, in the order of the axes; of one field along one axis an array without that axis. Collective.

        `x` is read where it lies and left as it was; `out` is written where it lies, a new array if it is None. Both
        look as `empty_input()` and `empty_output()` make them. `stream`: as of `Plan.forward`.
        """
        try:
            used, out = self._place.arrays(self._core, (self._input, self._output), Given(x, out, None, stream))
        except Exception:
            self._core.refuse()
            raise
        self._core.execute(used[0], used[1])
        _modules.note_written(out)
        return out

    @property
    def shape(self) -> tuple[int, ...]:
        """Global lengths."""
        return self._shape

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes along which derivatives are taken."""
        return tuple(self._core.axes)

    @property
    def dtype(self) -> np.dtype:
        """The dtype of both arrays."""
        return self._input.dtype

    @property
    def workspace_bytes(self) -> int:
        """Bytes that the plans need on this rank beside your arrays, and own."""
        return self._core.workspace_bytes

    def free(self) -> None:
        """Frees the memory of all plans now; every later use is a `weft.Error`. Local."""
        self._core.free()

    def __enter__(self) -> Gradient:
        return self

    def __exit__(self, *_: object) -> None:
        self.free()

    def __str__(self) -> str:
        return str(self._core)

    def __repr__(self) -> str:
        names = ", ".join(self._transforms)
        return f"<weft.Gradient {'x'.join(map(str, self._shape))} {self._input.dtype} ({names})>"

    def __reduce__(self):
        raise TypeError("a weft.Gradient cannot be pickled or copied, as a weft.Plan cannot")
