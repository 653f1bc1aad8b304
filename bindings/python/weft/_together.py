"""What ranks do together beside transforms: exchange small Python objects, and agree on failures."""

from __future__ import annotations

import collections
import itertools
import os
import pickle
import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np

from weft import _core
from weft._core import Comm
from weft._error import Error
from weft._ranks import resolve

T = TypeVar("T")
_MOST_KEPT = 32


class Kept:
    """The values made last, by key. Ranks that ask for the same keys in the same order keep the same values. Threads
    take turns."""

    def __init__(self) -> None:
        self._values: collections.OrderedDict[Hashable, Any] = collections.OrderedDict()
        self._lock = threading.RLock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            else:
                self._values[key] = make()
                if len(self._values) > _MOST_KEPT:
                    self._values.popitem(last=False)
            return self._values[key]


class Ranks:
    """The ranks of a communicator. There is one object of this class for each `weft.Comm`."""

    def __init__(self, given: Any, core: Comm) -> None:
        self.given, self.core = given, core
        self.rank, self.size = core.rank, core.size
        self.layouts, self.broadcasts, self.plans = Kept(), Kept(), Kept()
        self.moving = threading.Lock()  # a plan executes once at a time; all threads share the ranks of comm=None
        self._process = os.getpid()
        if self.size == 1:
            self.allgather: Callable[[Any], list[Any]] = lambda value: [value]
        elif core.medium == "mpi":
            if isinstance(given, Comm):
                raise Error("array: comm", "a weft.Comm made of an mpi4py communicator", "the mpi4py communicator")
            self.allgather = given.allgather
        else:
            self.allgather = _Slots.of(core).allgather(core)

    def agreed(self, do: Callable[[], T]) -> list[T]:
        """What `do` returns on all ranks. Collective. If it fails on some, these raise their exceptions and the others
        that of the first of them; a `weft.Error` names its rank."""
        try:
            mine, failure = do(), None
        except Exception as error:
            mine, failure = None, self._told(error)
        outcomes = self.allgather((mine, failure))
        if failure is not None:
            raise failure
        for _, other in outcomes:
            if other is not None:
                raise other
        return [value for value, _ in outcomes]

    def same(self, operation: str, what: str, do: Callable[[], T]) -> T:
        """What `do` returns, which has to be the same on all ranks; else all raise a `weft.Error`. Collective."""
        everyone = self.agreed(do)
        for rank, value in enumerate(everyone):
            if value != everyone[0]:
                got, first = (f"{what} {v}" for v in (value, everyone[0]))
                raise Error(operation, f"{got}, while rank 0 has {first}", "the same on all ranks", rank)
        return everyone[0]

    def _told(self, error: Exception) -> Exception:
        """The exception as other ranks can have it: with this rank's number, and such that it can be sent."""
        if self.size == 1:
            return error
        if isinstance(error, Error):
            return error if error.rank >= 0 else Error(error.operation, error.got, error.expected, self.rank)
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            return Error("array", f"{type(error).__name__}: {error}", "", self.rank)
        return error

    def is_of_this_process(self) -> bool:
        return self._process == os.getpid()


class _Slots:
    """A place for each of the threads that are ranks of one `weft.Comm`."""

    _known: weakref.WeakValueDictionary[int, _Slots] = weakref.WeakValueDictionary()
    _numbers = itertools.count(1)

    def __init__(self, size: int) -> None:
        self.places: list[list[Any]] = [[None] * size, [None] * size]

    @classmethod
    def of(cls, core: Comm) -> _Slots:
        """The same object on all threads. Rank 0 makes it, and tells the others its number by an exchange of Weft's."""
        arguments = _core.PlanArguments()
        arguments.shape, arguments.transforms = (core.size, core.size), ["none", "none"]
        arguments.precision, arguments.element = "float64", "real"
        arguments.forward_scale = arguments.backward_scale = "none"
        rows, columns = _core.Distribution.slab(0), _core.Distribution.slab(1)
        plan = _core.Plan(core, arguments, rows, columns)
        told, number = np.zeros((1, core.size)), np.empty((core.size, 1))
        if core.rank == 0:
            mine = cls(core.size)
            told[...] = next(cls._numbers)
            cls._known[int(told[0, 0])] = mine
        plan.execute(_core.Direction.forward, told, number, None)
        slots = cls._known[int(number[0, 0])]
        core.barrier()
        return slots

    def allgather(self, core: Comm) -> Callable[[Any], list[Any]]:
        """Places are used in turns: whoever fills one has passed the barrier that all enter after reading it."""
        turn = 0

        def allgather(value: Any) -> list[Any]:
            nonlocal turn
            places, turn = self.places[turn], 1 - turn
            places[core.rank] = value
            core.barrier()
            return list(places)

        return allgather


_alone: Ranks | None = None


def ranks_of(comm: Any) -> Ranks:
    """The ranks of what may be given as a plan's `comm`. Collective the first time."""
    global _alone
    if comm is None:
        if _alone is None or not _alone.is_of_this_process():
            _alone = Ranks(None, resolve(None))
        return _alone
    core = resolve(comm)
    known = vars(core).get("_ranks")
    if known is None:
        known = core._ranks = Ranks(comm, core)
    return known
