#!/usr/bin/env python3
"""One problem under each MPI and each of its settings: which exchange wins where (docs/tuning.md).

  bench/mpis.py
      the MPIs that are found, four problems, 2 and 4 ranks; in ten minutes
  bench/mpis.py --mpi openmpi=build/release/bin/weft-bench:mpirun.openmpi \\
      --mpi mpich=build/bench-mpich/bin/weft-bench:mpirun.mpich
      these builds of weft-bench, each started by the launcher of its MPI
  bench/mpis.py --only openmpi --ranks 4 --shape 128,128,128 --exchanges p2p,alltoallv --json openmpi.json
      one of them, one problem, two exchanges
  bench/mpis.py --settings
      the settings that would be tried, and those that the installed MPIs do not know
  bench/mpis.py --draw
      writes the tables and the picture of docs/performance.md from what is stored

All that is compared runs in turn. A first round runs everything, a second what is at most twice as slow as the best of
its MPI, later ones what is at most 1.3 times as slow, until there have been --rounds of them or --minutes are over. The
result of each is the median of its runs, and a run gives the median of its executions on the slowest rank. Exchanges
have pipeline sequential, so that nothing else differs; exchange auto is a plan as it comes. A setting that an MPI
refuses, or that crashes, stays in the results with what was said. Nothing else may run meanwhile.
"""

import argparse
import itertools
import json
import os
import pathlib
import re
import statistics
import sys
import time
from typing import NamedTuple

import mpi_libraries
import mpi_settings
import mpi_tables
import runs

TOP = pathlib.Path(__file__).resolve().parent.parent
RESULTS = TOP / "bench" / "results" / "mpis.json"
EXCHANGES = ["direct", "p2p", "p2pw", "pairwise", "alltoall", "alltoallv", "alltoallw", "ialltoallv", "ring", "auto"]
# What is no slower than the best of its MPI times this is run again: in the second round also what may have been
# disturbed in the first.
CLOSE_AT_FIRST, CLOSE = 2, 1.3


class Problem(NamedTuple):
    """`brief`: only as installed, and on the first number of ranks."""

    shape: str
    transform: str = "c2c"
    brief: bool = False

    def points(self) -> int:
        points = 1
        for length in self.shape.split(","):
            points *= int(length)
        return points

    def repeat(self, ranks: int) -> int:
        """Executions in a run: as many as take about as long at all sizes, within reason; where ranks share cores, in
        some MPIs each waits for the ends of the others' time slices, whatever the size."""
        most = 40 if ranks <= len(os.sched_getaffinity(0)) else 15
        return max(5, min(most, 15 * 128**3 // self.points()))


# 200^3 is large; in 256^3 lines meet in the same sets of the cache, so that with this pipeline its FFTs take several
# times as long as any exchange.
PROBLEMS = [
    Problem("32,32,32"),
    Problem("128,128,128"),
    Problem("128,128,128", "r2c", brief=True),
    Problem("200,200,200", brief=True),
]


class Case(NamedTuple):
    """What one run measures."""

    problem: Problem
    ranks: int
    mpi: mpi_libraries.Mpi
    setting: mpi_settings.Setting
    exchange: str


def command_of(case: Case) -> list[str]:
    mpi = case.mpi
    command = [str(TOP / "tools" / "mpirun"), mpi.launcher, str(case.ranks)]
    command += mpi_settings.arguments_of(mpi.kind, case.setting)
    command += [mpi.bench, "--shape", case.problem.shape, "--transform", case.problem.transform]
    command += ["--repeat", str(case.problem.repeat(case.ranks)), "--exchange", case.exchange]
    if case.exchange != "auto":
        command += ["--pipeline", "sequential"]
    return ["env", *(f"{name}={value}" for name, value in mpi.environment.items()), *command]


def check_ranks(mpi: mpi_libraries.Mpi, ranks: int, limit: float) -> None:
    """A run that takes no time: whether the launcher starts ranks that know of each other. A ValueError says if not."""
    installed = mpi_settings.Setting(mpi_settings.AS_INSTALLED, "", {})
    command = command_of(Case(Problem("16,16,16"), ranks, mpi, installed, "p2p"))
    try:
        result = runs.run(command, "", limit)
    except runs.RunFailed as why:
        raise ValueError(f"{mpi.name}: {' '.join(command)}: {why}") from None
    if result["machine"]["ranks"] != ranks:
        raise ValueError(
            f"{mpi.name}: {mpi.launcher} started {ranks} programs of which each was alone: {mpi.bench} is built with "
            f"another MPI than {mpi.kind.title}; expected a build with -DMPI_CXX_COMPILER={mpi.kind.compiler}"
        )


def settings_of(mpi: mpi_libraries.Mpi) -> tuple[list[mpi_settings.Setting], dict[str, str]]:
    """Those that this MPI knows, the first of them none at all; and of each of the others what it does not know."""
    there = mpi_settings.listed(mpi.kind, mpi.launcher, {**os.environ, **mpi.environment})
    if there is None:
        print(
            f"{mpi.name}: no {mpi.kind.lists[0]} beside {mpi.launcher}: settings are tried without a check", flush=True
        )
    known, missing = mpi_settings.known_settings(mpi.kind.settings, there)
    return [mpi_settings.Setting(mpi_settings.AS_INSTALLED, "", {}, tuple(EXCHANGES)), *known], missing


def cases_of(
    problem: Problem, ranks: int, mpi: mpi_libraries.Mpi, settings: list, exchanges: list[str], every: bool
) -> list[Case]:
    """Of one MPI, in order: each setting with the exchanges that it concerns, or with every one of them."""
    tried = [s for s in settings if not problem.brief or s.name == mpi_settings.AS_INSTALLED]
    concerned = [
        (s, e) for s in tried for e in exchanges if e in s.exchanges or (every and e not in ("direct", "auto"))
    ]
    return [Case(problem, ranks, mpi, s, e) for s, e in concerned]


def in_turn(lists: list[list[Case]]) -> list[Case]:
    """The first of each list, the second of each, and so on: MPIs alternate."""
    return [case for row in itertools.zip_longest(*lists) for case in row if case is not None]


def row_of(case: Case) -> dict:
    """What is stored of a case; its times come later."""
    return {
        "shape": case.problem.shape,
        "transform": case.problem.transform,
        "ranks": case.ranks,
        "mpi": case.mpi.name,
        "setting": case.setting.name,
        "exchange": case.exchange,
        "seconds": [],
    }


def run_again(rows: list[dict], close: float) -> list[bool]:
    """Which rows may still win: near the best of their MPI, or near the best as installed among those as installed."""
    best = {}
    for row in rows:
        if row["seconds"]:
            for setting in {row["setting"], None}:
                place = (*mpi_tables.cell(row), row["mpi"], setting)
                best[place] = min(best.get(place, float("inf")), statistics.median(row["seconds"]))
    again = []
    for row in rows:
        place = (*mpi_tables.cell(row), row["mpi"])
        rivals = [best.get((*place, None))]
        if row["setting"] == mpi_settings.AS_INSTALLED:
            rivals.append(best.get((*place, row["setting"])))
        runs_well = "failed" not in row and row["seconds"]
        again.append(bool(runs_well) and statistics.median(row["seconds"]) <= close * max(filter(None, rivals)))
    return again


class Measurement:
    """All rounds of some cases; what is known is stored after each run, also if the program is then stopped."""

    def __init__(self, cases: list[Case], given: argparse.Namespace, about: dict):
        self.cases = cases
        self.rows = [row_of(case) for case in cases]
        self.given = given
        self.end = time.monotonic() + 60 * given.minutes
        self.results = {"host": given.host, "mpis": about, "rows": self.rows}
        self.too_long = {}  # what took too long, by MPI, setting and ranks: the same with another exchange does as well

    def failed(self, row: dict, why: str) -> None:
        row["failed"] = why
        print(f"  {mpi_tables.name_of(row)}: {why}", flush=True)

    def measure(self, case: Case, row: dict) -> None:
        """One run; adds its time to the row, or why there is none."""
        like_it = (case.mpi.name, case.setting.name, case.ranks)
        changed = case.setting.name != mpi_settings.AS_INSTALLED
        if changed and self.too_long.get(like_it, case.problem.points() + 1) <= case.problem.points():
            self.failed(row, "not tried, as another exchange took too long")
            return
        limit = self.given.limit * max(1, case.problem.points() / 128**3)
        try:
            result = runs.run(command_of(case), self.given.host, limit)
        except runs.RunFailed as why:
            if isinstance(why, runs.TookTooLong):
                self.too_long[like_it] = min(self.too_long.get(like_it, 1 << 60), case.problem.points())
            self.failed(row, str(why))
            return
        row["seconds"].append(result["median_s"])
        row["median_s"] = statistics.median(row["seconds"])
        row["transport"] = result["transport"]
        self.results["machine"] = {key: result["machine"][key] for key in ("processor", "cores")}

    def round(self, turn: int) -> None:
        close = CLOSE_AT_FIRST if turn == 1 else CLOSE
        again = [True] * len(self.rows) if turn == 0 else run_again(self.rows, close)
        chosen = [(c, r) for c, r, more in zip(self.cases, self.rows, again, strict=True) if more]
        begin = time.monotonic()
        print(f"round {turn + 1}: {len(chosen)} runs", flush=True)
        # Who comes first changes, as the machine may get warmer.
        for case, row in chosen if turn % 2 == 0 else reversed(chosen):
            if turn > 0 and time.monotonic() > self.end:
                break
            self.measure(case, row)
            self.given.json.write_text(json.dumps(self.results, indent=1) + "\n")
        print(f"  {time.monotonic() - begin:.0f} s", flush=True)

    def all_rounds(self) -> dict:
        for turn in range(self.given.rounds):
            self.round(turn)
            if time.monotonic() > self.end:
                print(f"--minutes {self.given.minutes:g} are over", flush=True)
                break
        return self.results


def read_arguments() -> argparse.Namespace:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument(
        "--mpi", action="append", metavar="NAME=BENCH:LAUNCHER", help="an MPI; without it those that are found"
    )
    arguments.add_argument("--only", action="append", metavar="NAME", help="of these MPIs")
    arguments.add_argument("--ranks", default="2,4", help="numbers of ranks (%(default)s)")
    arguments.add_argument("--shape", action="append", help="a problem; without it 32^3, 128^3, 128^3 r2c and 200^3")
    arguments.add_argument("--transform", default="c2c", help="of --shape (%(default)s)")
    arguments.add_argument("--exchanges", default=",".join(EXCHANGES), help="(%(default)s)")
    arguments.add_argument("--every", action="store_true", help="each setting with every exchange that sends messages")
    arguments.add_argument("--rounds", type=int, default=5, help="at most (%(default)s)")
    arguments.add_argument("--minutes", type=float, default=10, help="after these nothing runs again (%(default)g)")
    arguments.add_argument(
        "--limit",
        type=float,
        default=10,
        help="seconds that a run of 128^3 points may take, in proportion if it has more (%(default)g)",
    )
    arguments.add_argument("--host", default="this machine", help="what the results call the machine")
    arguments.add_argument("--json", type=pathlib.Path, default=RESULTS, help="file for the results (%(default)s)")
    arguments.add_argument("--settings", action="store_true", help="only lists settings")
    arguments.add_argument("--draw", action="store_true", help="only writes the tables and the picture")
    given = arguments.parse_args()
    given.exchanges = given.exchanges.split(",")
    for exchange in given.exchanges:
        if exchange not in EXCHANGES:
            arguments.error(f"--exchanges {exchange}: expected some of {','.join(EXCHANGES)}")
    try:
        given.ranks = [int(n) for n in given.ranks.split(",")]
    except ValueError:
        arguments.error(f"--ranks {given.ranks}: expected numbers such as 2,4")
    for shape in given.shape or []:
        if not re.fullmatch(r"[1-9]\d*(,[1-9]\d*)+", shape):
            arguments.error(f"--shape {shape}: expected lengths such as 128,128,128")
    given.problems = [Problem(shape, given.transform) for shape in given.shape] if given.shape else PROBLEMS
    return given


def chosen_mpis(given: argparse.Namespace) -> list[mpi_libraries.Mpi]:
    found = [mpi_libraries.open_mpi(*mpi_libraries.split_mpi(text)) for text in given.mpi or []]
    found = found or mpi_libraries.found_mpis()
    names = [m.name for m in found]
    if len(set(names)) < len(names):
        raise ValueError(f"--mpi: names {', '.join(names)}; expected different ones")
    for name in given.only or []:
        if name not in names:
            raise ValueError(f"--only {name}: expected one of {', '.join(names) or 'none, as no MPI was found'}")
    found = [m for m in found if not given.only or m.name in given.only]
    if not found:
        raise ValueError("no MPI was found; give one: --mpi NAME=BENCH:LAUNCHER")
    return found


def main() -> int | str:
    given = read_arguments()
    if given.draw:
        if not given.json.exists():
            return f"bench/mpis.py: no results in {given.json}; run without --draw first, or name a file with --json"
        mpi_tables.write(json.loads(given.json.read_text()))
        return 0
    try:
        mpis = chosen_mpis(given)
        settings, about = {}, {}
        for mpi in mpis:
            settings[mpi.name], missing = settings_of(mpi)
            print(mpi_tables.settings_text(mpi.name, mpi.kind.title, mpi.version, settings[mpi.name], missing))
            about[mpi.name] = {"library": mpi.kind.title, "version": mpi.version, "unknown": missing}
            about[mpi.name]["settings"] = {s.name: {**s.parameters, **s.beside} for s in settings[mpi.name]}
            if not given.settings:
                check_ranks(mpi, max(given.ranks), given.limit)
    except ValueError as why:
        return f"bench/mpis.py: {why}"
    if given.settings:
        return 0
    cases = []
    for problem in given.problems:
        for ranks in given.ranks[:1] if problem.brief else given.ranks:
            lists = [cases_of(problem, ranks, m, settings[m.name], given.exchanges, given.every) for m in mpis]
            cases += in_turn(lists)
    results = Measurement(cases, given, about).all_rounds()
    print(mpi_tables.text_of(results))
    return 0 if any(row["seconds"] for row in results["rows"]) else "bench/mpis.py: no run succeeded"


if __name__ == "__main__":
    sys.exit(main())
