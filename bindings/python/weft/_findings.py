"""What a plan tells about itself: why it is as it is, how long its operations took, what its codecs did."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft import _core
from weft._arrays import Side
from weft._core import Accuracy, Explanation, OperationTime
from weft._error import Error
from weft._places import Place
from weft._views import host_view


class Findings:
    """The part of `weft.Plan` that is about the plan, not about arrays."""

    _core: Any
    _input: Side
    _output: Side
    _place: Place

    def explain(self) -> Explanation:
        """Why the plan is as it is: what else was looked at, what bounds it, what would help. `print` it. Local."""
        return self._core.explain()

    def program(self, direction: str = "forward") -> str:
        """The operations of this rank in one direction, "forward" or "backward", one per line. Local.

        >>> print(weft.Plan(None, (4, 6), fft="fftw").program())  # doctest: +ELLIPSIS
        0 fft axes 0,1 of 4x6 ...
        <BLANKLINE>
        """
        return self._core.program(direction_of("program", direction))

    def record_times(self, on: bool = True) -> None:
        """Whether executions record the time of every operation; off at first. Costs two readings of the clock for
        each. Local."""
        self._core.record_times(bool(on))

    def operation_times(self) -> list[OperationTime]:
        """The operations of the last recorded execution, in the order in which this rank did them. Times are seconds
        since the execution began. Local.

        >>> plan = weft.Plan(None, (4, 6))
        >>> plan.record_times()
        >>> y = plan.forward(np.ones((4, 6), complex))
        >>> [o.kind for o in plan.operation_times() if o.kind == "fft" and o.end >= o.begin >= 0][:1]
        ['fft']
        """
        return self._core.operation_times()

    def measured_error(self, x: np.ndarray, direction: str = "forward") -> Accuracy:
        """The error that codecs (options tolerance and codec) make in `forward(x)`, or in `backward(x)`. Collective;
        all ranks return the same.

        An exact plan is made, and the results are compared in all points, so that for the time of the call there are
        two more arrays and the exact plan's workspace. `x` is left as it was, also in place. `l2` is the 2-norm of the
        difference over that of the exact result, `maximum` the same for the largest elements, `bound` what `l2` is at
        most. Zeros for a plan without codecs. For plans of arrays on the host.

        >>> plan = weft.Plan(None, (4, 6), tolerance=1e-6)  # one rank sends nothing
        >>> plan.measured_error(np.ones((4, 6), complex)).l2
        0.0
        """
        which = direction_of("measured_error", direction)
        if self._place.device >= 0:
            raise Error("measured error", "a plan of device memory", "a plan of arrays on the host")
        source = self._input if which is _core.Direction.forward else self._output
        try:
            seen = x if type(x) is np.ndarray else host_view("x", x)
            source.check("x", seen)
        except Error:
            self._core.refuse_measurement(which)
            raise
        return self._core.measured_error(which, seen)


def direction_of(operation: str, name: str) -> _core.Direction:
    """The direction of that name."""
    if name not in ("forward", "backward"):
        raise Error(operation, repr(name), '"forward" or "backward"')
    return _core.Direction.forward if name == "forward" else _core.Direction.backward
