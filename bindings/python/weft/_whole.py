"""Transforms of whole arrays: the ranks are threads of this process, and plans are kept for the next such array.

Each rank reads its box where it lies in the array and writes its box of the result where that belongs. Nothing is
copied before or after, unless the array has steps that a plan does not take (negative, zero, overlapping or not
aligned ones).
"""

from __future__ import annotations

import atexit
import collections
import dataclasses
import math
import os
import threading
from typing import Any

import numpy as np

from weft import _core, _memory
from weft._core import Distribution
from weft._error import Error
from weft._foreign import aligned, copied, device_of, dtype_of, made_like, strides_of
from weft._forking import planning
from weft._modules import stream_of
from weft._plan import SCALES
from weft._scipy_arguments import devices_of, workers_of
from weft._views import device_memory, host_view, module_of, separate

MAX_AXES = 8  # of a plan
MOST_WORKERS = 128
# Below so many points a second thread costs more than it helps.
_POINTS_PER_RANK = 1 << 14
_MOST_PLANS = 64  # that are kept


@dataclasses.dataclass(frozen=True)
class Ranks:
    """Who transforms an array: so many threads of the host, or a thread for each of these GPUs."""

    workers: int
    devices: tuple[int, ...] = ()

    @staticmethod
    def of(workers: int | None, devices: Any) -> Ranks:
        """From the arguments of users."""
        return Ranks(workers_of(workers), devices_of(devices, workers))


@dataclasses.dataclass(frozen=True)
class Request:
    """What identifies a plan. Strides are in elements."""

    shape: tuple[int, ...]  # of the real array for r2c
    transforms: tuple[str, ...]
    input_dtype: np.dtype
    output_dtype: np.dtype
    input_strides: tuple[int, ...]
    output_strides: tuple[int, ...]
    norm: str
    workers: int
    devices: tuple[int, ...] = ()  # a rank on each; (): on the host
    home: int = -1  # the rank in whose memory the whole arrays lie; -1: memory of the host

    def cuts(self) -> tuple[int, int] | None:
        """The axes that the ranks' boxes are cut along, before and after; None: one rank.

        Where an axis is not transformed, both are cut along it, and ranks exchange nothing. Else the output is cut
        along another axis than the input, which takes one exchange.
        """
        points = math.prod(self.shape)
        axes = range(len(self.shape))
        if self.workers == 1 or len(self.shape) < 2 or points < 2 * _POINTS_PER_RANK:
            return None
        free = [a for a in axes if self.transforms[a] == "none" and self.shape[a] >= self.workers]
        if free:
            slowest = max(free, key=lambda a: self.input_strides[a])
            return slowest, slowest
        whole = [a for a in axes if self.transforms[a] != "r2c"]
        before = max(whole, key=lambda a: (self.shape[a] >= self.workers, self.input_strides[a]))
        others = [a for a in axes if a != before]
        after = max(others, key=lambda a: (self.shape[a] >= self.workers, self.output_strides[a]))
        return before, after

    def slabs(self) -> tuple[int, int]:
        """The same where there is one rank: any axis."""
        return self.cuts() or (0, 0)

    def held(self, spectrum: bool = False) -> Distribution:
        """All of the array, or of its transform, on one rank."""
        halved = [
            n // 2 + 1 if spectrum and kind == "r2c" else n for n, kind in zip(self.shape, self.transforms, strict=True)
        ]
        none = [0] * len(halved)
        return Distribution.boxes([(none, halved if rank == self.home else none) for rank in range(len(self.devices))])


class _Team:
    """The threads of one number of workers, and the lock that lets one caller at a time use them."""

    def __init__(self, workers: int) -> None:
        self.lock = threading.Lock()
        self.threads = _core.ThreadTeam(workers) if workers > 1 else None


class _Kept:
    """A plan with the team that executes it."""

    def __init__(self, request: Request, team: _Team) -> None:
        self.team = team
        arguments = _core.PlanArguments()
        arguments.shape = request.shape
        arguments.transforms = request.transforms
        arguments.precision = "float32" if request.input_dtype.char in "fF" else "float64"
        arguments.element = "complex" if request.input_dtype.kind == "c" else "real"
        arguments.forward_scale, arguments.backward_scale = SCALES[request.norm]
        devices = list(request.devices)
        arguments.device = devices[0] if devices else -1
        strides = request.input_strides, request.output_strides
        self.home = request.home
        if devices and self.home < 0:
            orders = [sorted(range(len(steps)), key=lambda a: -steps[a]) for steps in strides]
            sides = [
                Distribution.slab(axis).with_order(order) for axis, order in zip(request.slabs(), orders, strict=True)
            ]
            self.plan = _core.SpreadPlan(team.threads, arguments, *sides, *strides, devices)
        else:
            parts = (
                [request.held(), request.held(spectrum=True)] if devices else map(Distribution.slab, request.slabs())
            )
            sides = [part.with_strides(steps) for part, steps in zip(parts, strides, strict=True)]
            self.plan = _core.WholePlan(team.threads, arguments, *sides, devices)
        self.bytes = self.plan.workspace_bytes

    def execute(self, direction: _core.Direction, x: Any, out: Any) -> None:
        reals = [2 if dtype_of(a).kind == "c" else 1 for a in (x, out)]
        with self.team.lock:
            if self.home >= 0:
                stream = stream_of(module_of(x), device_of(x))
                given = [_given(a, stream) for a in (x, out)]
                self.plan.execute(direction, *given, *reals, self.home, stream)
            elif isinstance(self.plan, _core.SpreadPlan):
                forward = direction == _core.Direction.forward
                self.plan.execute(
                    direction, host_view("x", x), host_view("x", out), *(reals if forward else reals[::-1])
                )
                self.bytes = self.plan.workspace_bytes
            else:
                self.plan.execute(direction, host_view("x", x), host_view("x", out), *reals)


def _given(a: Any, stream: int) -> _core.Address:
    memory = device_memory("x", a, stream)
    assert memory is not None  # as its device was asked for
    return memory.given()


class _Store:
    """The plans that are kept, the least recently used first, and the teams."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.plans: collections.OrderedDict[Request, _Kept] = collections.OrderedDict()
        self.teams: dict[int, _Team] = {}

    def get(self, request: Request) -> _Kept:
        with self.lock:
            kept = self.plans.get(request)
            if kept is not None:
                self.plans.move_to_end(request)
                return kept
            # A plan for one rank needs no other thread, so that each may be used beside the others.
            team = _Team(1) if request.cuts() is None else self.teams.get(request.workers)
            if team is None:
                team = self.teams[request.workers] = _Team(request.workers)
        with planning, team.lock:
            kept = _Kept(request, team)
        with self.lock:
            self.plans[request] = kept
            self.shrink(1)
        return kept

    def shrink(self, least: int) -> None:
        """Forgets the plans that are too many, or own too much, but for the `least` used last."""
        while len(self.plans) > least and (
            len(self.plans) > _MOST_PLANS or sum(k.bytes for k in self.plans.values()) > _memory.limit
        ):
            self.plans.popitem(last=False)

    def clear(self) -> None:
        with self.lock:
            self.plans.clear()
            self.teams.clear()


_store = _Store()


def clear_cache() -> None:
    """Frees what Weft keeps for the next call: plans and threads of `weft.fftn` and its like, memory of results."""
    _store.clear()
    _core.free_idle_memory()


def limit_cache(nbytes: int = 1 << 30) -> None:
    """Limits what Weft keeps for the next call: `nbytes` of workspace of plans, and as many of memory of past results.

    At first both are 1 GiB. A plan that owns more is kept until the next one is made, a result that had more is freed.
    0: nothing but that one plan is kept.

    >>> import weft
    >>> weft.limit_cache(2**28)
    >>> weft.limit_cache()  # 1 GiB, as at first
    """
    _memory.set_limit(nbytes)
    with _store.lock:
        _store.shrink(0)


def _forget() -> None:
    """In a child of fork: the parent's threads are not there, and a lock may be held for ever."""
    global _store
    _store = _Store()
    _core.free_idle_memory()


atexit.register(clear_cache)
os.register_at_fork(after_in_child=_forget)


def transform(
    x: Any,
    shape: tuple[int, ...],
    transforms: dict[int, str],
    result: np.dtype,
    *,
    backward: bool,
    norm: str,
    ranks: Ranks,
    out: Any = None,
) -> Any:
    """Transforms the axes that `transforms` names, and returns `out`, or a new array in C order, of the module of x and
    in its memory.

    `shape`: that of the real array for r2c, else that of x. Backward starts from what forward would return.
    """
    out_shape = list(shape)
    if not backward:
        for axis, kind in transforms.items():
            if kind == "r2c":
                out_shape[axis] = shape[axis] // 2 + 1
    if out is None:
        out = made_like(x, out_shape, result)
    if math.prod(out_shape) == 0:
        return out
    if not plannable(x):
        x = copied(x)  # in C order and aligned
    sides = (out, x) if backward else (x, out)
    request = _placed(_collapsed(shape, transforms, sides, norm, ranks.workers), ranks.devices, device_of(x))
    direction = _core.Direction.backward if backward else _core.Direction.forward
    _store.get(request).execute(direction, x, out)
    return out


def _placed(request: Request, devices: tuple[int, ...], home: int) -> Request:
    """The request on these GPUs, of an array in memory of `home`, or of the host (-1)."""
    if home < 0 and not devices:
        return request
    if home >= 0 and devices and home not in devices:
        raise Error(
            "transform: devices", f"{list(devices)} for an array on GPU {home}", "devices with that one among them"
        )
    request = dataclasses.replace(request, workers=len(devices) or 1, devices=devices or (home,))
    if request.cuts() is None:  # too small to be shared
        request = dataclasses.replace(request, workers=1, devices=(home if home >= 0 else devices[0],))
    return request if home < 0 else dataclasses.replace(request, home=request.devices.index(home))


def plannable(x: Any) -> bool:
    """Whether a plan can read the array where it lies."""
    return aligned(x) and separate(x.shape, strides_of(x), dtype_of(x).itemsize)


def _collapsed(
    shape: tuple[int, ...], transforms: dict[int, str], sides: tuple[Any, Any], norm: str, workers: int
) -> Request:
    """The request with as few axes as possible: without those of one point, and with neighbours that nothing is done to
    as one axis where they follow each other in memory on both sides."""
    axes: list[tuple[int, str, int, int]] = []  # length, transform, strides of both sides
    dtypes = [dtype_of(a) for a in sides]
    steps = [[s // dtype.itemsize for s in strides_of(a)] for a, dtype in zip(sides, dtypes, strict=True)]
    for axis, n in enumerate(shape):
        kind = transforms.get(axis, "none")
        if n == 1 and kind in ("none", "c2c"):
            continue
        strides = steps[0][axis], steps[1][axis]
        if axes and kind == "none" == axes[-1][1] and axes[-1][2:] == (n * strides[0], n * strides[1]):
            n *= axes.pop()[0]
        axes.append((n, kind, *strides))
    if not axes:
        axes.append((1, "c2c", 1, 1))
    if len(axes) > MAX_AXES:
        raise Error("transform", f"an array of {len(axes)} axes that cannot be joined", f"at most {MAX_AXES}")
    lengths, kinds, before, after = zip(*axes, strict=True)
    source, target = dtypes
    ends = [n // 2 + 1 if kind == "r2c" else n for n, kind in zip(lengths, kinds, strict=True)]
    return Request(
        lengths,
        kinds,
        source,
        target,
        _regular(lengths, before),
        _regular(ends, after),
        norm,
        min(workers, MOST_WORKERS),
    )


def _regular(lengths: tuple[int, ...] | list[int], strides: tuple[int, ...]) -> tuple[int, ...]:
    """The strides, and for axes of one point, along which no step is made, some that a plan accepts."""
    beyond = 1 + sum((n - 1) * s for n, s in zip(lengths, strides, strict=True) if n > 1)
    return tuple(s if n > 1 else beyond for n, s in zip(lengths, strides, strict=True))
