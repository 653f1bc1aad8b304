"""Times of executions, in turns of all that take part, so that a machine that gets slower is slow for all of them.

A time is that of the slowest rank. Before each timed execution there are untimed ones, for some ten milliseconds, so
that each finds caches and clock rates as in a loop of its own.
"""

from __future__ import annotations

import functools
import math
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

import weft
from weft._core import Comm
from weft.cli._errors import UsageError
from weft.cli._problem import Case
from weft.cli._ranks import Ranks

DIRECTIONS = ("forward", "backward")
_WARM_UP = 2  # repetitions that do not count


class Contender(Protocol):
    name: str

    def run(self, direction: str) -> float:
        """Executes once and returns the seconds. All processes call it."""
        ...


class Weft:
    """A plan on all ranks, with its arrays."""

    def __init__(self, name: str, ranks: Ranks, case: Case, **options: Any) -> None:
        self.name = name
        self._ranks, self._case = ranks, case
        self._of: dict[int, _Rank] = {}

        def make(comm: Comm) -> tuple[float, int]:
            begin = time.perf_counter()
            plan = case.plan(comm, **options)
            seconds = time.perf_counter() - begin
            self._of[comm.rank] = _Rank(plan, comm.rank)
            return seconds, plan.workspace_bytes

        made = ranks.run(make)
        self.planning_s = max(seconds for seconds, _ in made)
        self.workspace_bytes = max(workspace for _, workspace in made)
        self._last = 1.0

    def text(self) -> str:
        """The printed plan, of rank 0."""
        return self._ranks.run(lambda comm: str(self._of[comm.rank].plan))[0]

    def run(self, direction: str) -> float:
        untimed = int(min(20, max(1, 0.01 / max(self._last, 1e-9))))

        def execute(comm: Comm) -> float:
            mine = self._of[comm.rank]
            for _ in range(untimed):
                mine.execute(direction)
            comm.barrier()
            begin = time.perf_counter()
            mine.execute(direction)
            return time.perf_counter() - begin

        self._last = max(self._ranks.run(execute))
        return self._last

    def execute_once(self, comm: Comm) -> None:
        """Forward and backward, untimed, on the rank that calls."""
        comm.barrier()
        for direction in DIRECTIONS:
            self._of[comm.rank].execute(direction)

    def error(self) -> float:
        """The relative error in the 2-norm of forward and backward together, over all ranks."""
        lines = _lines(self._case)
        sums = self._ranks.run(lambda comm: self._of[comm.rank].error(*lines))
        whole = sum(norm for _, norm in sums)
        return float(np.sqrt(sum(difference for difference, _ in sums) / whole)) if whole > 0 else 0.0

    def free(self) -> None:
        self._ranks.run(lambda comm: self._of[comm.rank].plan.free())


Lines = list[np.ndarray]


class _Rank:
    """The plan and the arrays of one rank."""

    def __init__(self, plan: weft.Plan, rank: int) -> None:
        self.plan = plan
        self._x, self._back = plan.empty_input(), plan.empty_input()
        self._y = plan.empty_output()
        _fill(self._x, rank)
        self._y[...] = 0

    def execute(self, direction: str) -> None:
        if direction == "forward":
            self.plan.forward(self._x, self._y)
        else:
            self.plan.backward(self._y, self._back)

    def error(self, given: Lines, expected: Lines) -> tuple[float, float]:
        """The squares of the error and of the result of forward and backward, of arrays that are products of lines."""
        self._x[...] = self._product(given)
        self.execute("forward")
        self.execute("backward")
        exact = self._product(expected)
        every = self._x.size // max(1, exact.size)  # of a batch all are alike
        return float(np.linalg.norm(self._back - exact) ** 2), float(every * np.linalg.norm(exact) ** 2)

    def _product(self, lines: Lines) -> np.ndarray:
        """This rank's part of an array with the input's elements."""
        parts = [line[mine] for line, mine in zip(lines, self.plan.input_box.slices, strict=True)]
        product = functools.reduce(np.multiply, np.meshgrid(*parts, sparse=True, indexing="ij"))
        return product if self._x.dtype.kind == "c" else product.real


def _lines(case: Case) -> tuple[Lines, Lines]:
    """Arrays along each axis, whose product is an input, and what they are after forward and backward. Points are
    random."""
    random = np.random.default_rng(0)
    given, expected = [], []
    for axis, (n, kind) in enumerate(zip(case.shape, case.transforms, strict=True)):
        real = kind == "r2c" or (kind != "c2c" and case.dtype.kind == "f")
        if axis in case.line:  # all of its modes are there, and nothing is between
            x = random.standard_normal(n)
            given.append(x)
            expected.append(x)
            continue
        cut = {name: lengths[axis : axis + 1] for name, lengths in (("modes", case.modes), ("points", case.points))}
        with weft.Plan(None, (n,), kind, "d" if real else "D", **cut) as plan:
            x = plan.empty_input()
            x[...] = random.standard_normal(x.shape)
            steps = [plan.forward, plan.backward]
            if case.between == "points":
                x = plan.forward(x)
                steps.reverse()
            y = x
            for step in steps if case.between == "none" else 2 * steps:
                y = step(y)
        given.append(x)
        expected.append(y)
    return given, expected


def _fill(x: np.ndarray, seed: int) -> None:
    random = np.random.default_rng(seed)
    x[...] = random.standard_normal(x.shape)
    if x.dtype.kind == "c":
        x.imag = random.standard_normal(x.shape)


class Peer:
    """The same problem by a library for whole arrays, in one process, with as many threads as there are ranks."""

    def __init__(self, name: str, ranks: Ranks, case: Case) -> None:
        self.name = name
        self._ranks = ranks
        self._functions = _peer_functions(name, case, ranks.size)
        self._arrays: dict[str, np.ndarray] = {}
        self._case = case

    def run(self, direction: str) -> float:
        return self._ranks.alone(lambda: self._once(direction))

    def _once(self, direction: str) -> float:
        if not self._arrays:  # here, so that only one process has them
            shape = _shape_for_peers(self._case)
            x = np.empty((self._case.batch, *shape) if self._case.batch > 1 else shape, self._case.dtype)
            _fill(x, 0)
            self._arrays = {"forward": x, "backward": self._functions["forward"](x)}
        function, x = self._functions[direction], self._arrays[direction]
        function(x)
        begin = time.perf_counter()
        function(x)
        return time.perf_counter() - begin


PEERS = ("scipy", "numpy", "whole")


def _shape_for_peers(case: Case) -> tuple[int, ...]:
    return (math.prod(case.shape),) if case.is_one_line() else case.shape


def _peer_functions(name: str, case: Case, workers: int) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """Forward and backward. Raises `UsageError` for what the library is not there for."""
    kinds = set(case.transforms)
    real = "r2c" in kinds
    if case.modes or case.points or case.between != "none":
        raise UsageError(f"--peers: {name} with --modes, --points or --between; expected none of these")
    if case.line and not case.is_one_line():
        axes = ",".join(map(str, case.line))
        raise UsageError(
            f"--peers: {name} with --line {axes} of {len(case.shape)} axes; expected a line of all points in C order: "
            "--line N, or 0,1 of two axes"
        )
    one_real_line = case.is_one_line() and sorted(case.transforms) == ["c2c", "r2c"]
    if not (kinds == {"c2c"} or one_real_line or case.transforms == ["c2c"] * (len(case.shape) - 1) + ["r2c"]):
        raise UsageError(f"--peers: {name} with {case.transform}; expected c2c, or r2c along the last axis")
    shape = _shape_for_peers(case)
    along = tuple(range(-len(shape), 0))
    names = ("rfftn", "irfftn") if real else ("fftn", "ifftn")
    more: dict[str, Any] = {"axes": along, "workers": workers}
    library: Any = weft
    if name == "scipy":
        try:
            import scipy.fft as library
        except ImportError:
            raise UsageError("--peers: scipy, which is not installed: pip install scipy") from None
    elif name == "numpy":
        library = np.fft
        del more["workers"]
    forward, backward = (getattr(library, function) for function in names)
    s = {"s": shape} if real else {}
    return {"forward": lambda x: forward(x, **more), "backward": lambda y: backward(y, **s, **more)}


def in_turns(contenders: Sequence[Contender], directions: Sequence[str], repeat: int) -> dict[str, dict[str, list]]:
    """Seconds by name and direction. Who comes first changes, as a machine may get warmer."""
    times: dict[str, dict[str, list]] = {c.name: {d: [] for d in directions} for c in contenders}
    for turn in range(repeat + _WARM_UP):
        for contender in contenders if turn % 2 == 0 else reversed(contenders):
            for direction in directions:
                seconds = contender.run(direction)
                if turn >= _WARM_UP:
                    times[contender.name][direction].append(seconds)
    return times


def summary(times: Sequence[float]) -> dict[str, Any]:
    """With the keys of weft-bench."""
    quartiles = statistics.quantiles(times, n=4, method="inclusive") if len(times) > 1 else [times[0]] * 3
    return {
        "median_s": statistics.median(times),
        "min_s": min(times),
        "quartiles_s": [quartiles[0], quartiles[2]],
        "times_s": list(times),
    }
