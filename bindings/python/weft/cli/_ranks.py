"""The ranks of a command: threads of this process, or those that mpirun has started.

Commands are written as what one process does, with steps that all ranks do together: `ranks.run(body)`. Thread ranks
go through `body` each in a thread of its own; each rank of MPI goes through the whole command, and meets the others in
`run`, so that all of them take the same way through it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, Protocol

from weft._core import Comm, ThreadTeam
from weft._error import Error
from weft.cli._errors import UsageError

# Rank and number of ranks, as launchers say it to processes before MPI is initialised.
_LAUNCHERS = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("PALS_RANKID", "PALS_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
)

Body = Callable[[Comm], Any]


def launched() -> tuple[int, int] | None:
    """The rank of this process and how many there are, if a launcher of MPI started it."""
    for rank, size in _LAUNCHERS:
        if rank in os.environ and size in os.environ:
            return int(os.environ[rank]), int(os.environ[size])
    return None


def speaks() -> bool:
    """Whether this process is the one that prints."""
    return (launched() or (0, 1))[0] == 0


class Ranks(Protocol):
    """Those that take part. All processes call the same functions in the same order."""

    size: int
    medium: str

    def run(self, body: Body) -> list[Any]:
        """Calls body(comm) on every rank; the results in rank order, on all processes."""
        ...

    def alone(self, function: Callable[[], Any]) -> Any:
        """Calls function() in one process while the other ranks sleep; the result, on all processes."""
        ...


class Threads:
    """Threads of this process."""

    medium = "threads"

    def __init__(self, size: int) -> None:
        self.size = size
        self._team = ThreadTeam(size)

    def run(self, body: Body) -> list[Any]:
        return list(self._team.run(body))  # type: ignore[call-overload]

    def alone(self, function: Callable[[], Any]) -> Any:
        return function()


class Mpi:
    """The ranks of MPI.COMM_WORLD. What `body` returns is pickled."""

    medium = "mpi"

    def __init__(self) -> None:
        try:
            from mpi4py import MPI
        except ImportError as error:
            raise UsageError(f"ranks of MPI need mpi4py ({error}): pip install mpi4py") from None
        from weft._ranks import resolve

        self._world = MPI.COMM_WORLD
        self._comm = resolve(self._world)
        self.size = self._world.size

    def run(self, body: Body) -> list[Any]:
        """If `body` raises on some ranks, all raise what the first of these did."""
        result, error = None, None
        try:
            result = body(self._comm)
        except (UsageError, Error, OSError, MemoryError) as raised:
            error = raised
        answers = self._world.allgather((result, error))
        for _, error in answers:
            if error is not None:
                raise error
        return [result for result, _ in answers]

    def alone(self, function: Callable[[], Any]) -> Any:
        result, error = None, None
        try:
            result = function() if self._world.rank == 0 else None
        except (UsageError, OSError, MemoryError) as raised:
            error = raised
        arrived = self._world.Ibarrier()
        while not arrived.Test():  # MPI libraries wait at the full speed of a core
            time.sleep(0.0005)
        result, error = self._world.bcast((result, error))
        if error is not None:
            raise error
        return result


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check(comm: str) -> None:
    """Raises `UsageError` unless `comm` is auto, mpi or threads:P."""
    if comm not in ("auto", "mpi") and _threads(comm) is None:
        raise UsageError(f'--comm: "{comm}"; expected auto, mpi, or threads:P with P >= 1')


def _threads(comm: str) -> int | None:
    word, _, number = comm.partition(":")
    return int(number) if word == "threads" and number.isdecimal() and int(number) >= 1 else None


def ranks_of(comm: str) -> Ranks:
    """The ranks that `--comm` names; auto: those of mpirun, else a thread for each core."""
    check(comm)
    threads = _threads(comm)
    if comm == "mpi" or (comm == "auto" and launched() is not None):
        return Mpi()
    return Threads(threads or cores())
