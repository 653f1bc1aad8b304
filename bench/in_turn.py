"""Several ways to do one thing, timed in turn in the same MPI processes."""

import json
import time

from mpi4py import MPI


def times_of(ways, repeat):
    """The slowest rank's seconds of `repeat` runs of each way, by name, after two that are not timed. Collective."""
    times = {name: [] for name in ways}
    for number in range(repeat + 2):
        for name, way in ways.items():
            MPI.COMM_WORLD.Barrier()
            begin = time.perf_counter()
            way.run()
            seconds = MPI.COMM_WORLD.allreduce(time.perf_counter() - begin, MPI.MAX)
            if number >= 2:
                times[name].append(seconds)
    return times


def add_arguments(parser, repeat):
    """What all such programs are told."""
    parser.add_argument("--repeat", type=int, default=repeat, help="timed runs of each (%(default)s)")
    parser.add_argument("--json", help="file for the results")
    parser.add_argument("--option", action="append", default=[], help="of Weft's plans: threads=1")


def options_of(given):
    """The options of plans, from the command line."""
    return dict(option.split("=", 1) for option in given.option)


def write(name, results):
    """The results as JSON, on rank 0, if there is to be a file."""
    if name and MPI.COMM_WORLD.rank == 0:
        with open(name, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
            file.write("\n")
