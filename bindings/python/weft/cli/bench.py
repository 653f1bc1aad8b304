"""`weft bench`: how fast a plan is."""

from __future__ import annotations

import argparse
from typing import Any

from weft.cli import _measure, _problem
from weft.cli._errors import UsageError
from weft.cli._main import Report, add_command
from weft.cli._ranks import ranks_of
from weft.cli._screen import Screen, bytes_text, milliseconds

_EXAMPLES = """Examples:
  weft bench --shape 256,256,256 --comm threads:2
      c2c of 256 x 256 x 256 points by two threads
  weft bench --shape 256,256,256 --transform r2c --comm threads:2 --peers scipy,numpy
      in turns with scipy.fft, with as many workers, and numpy.fft
  weft bench --shape 192,192,192 --transform r2c --modes 128,128,65 --between points --comm threads:2
      the 3/2 rule: from modes to points and back to modes, in one execution
  mpirun -n 4 weft bench --line 67108864 --output transposed
      one transform of 2^26 points, in natural order on both sides; with --transform r2c of real ones
  mpirun -n 4 weft bench --shape 256,256,256 --output natural --json > natural.json
      on four ranks of MPI; weft compare shows two such files beside each other
"""


def add(commands: Any) -> None:
    about = "times forward and backward; the slowest rank counts"
    parser = add_command(commands, "bench", about, _EXAMPLES, run)
    _problem.add(parser)
    group = parser.add_argument_group("measurement")
    group.add_argument("--direction", choices=("forward", "backward", "both"), default="both", help="(both)")
    group.add_argument("--repeat", type=_problem.positive, default=20, help="timed repetitions (20)")
    group.add_argument(
        "--peers",
        default="",
        help="scipy, numpy, whole (weft.fftn): the same array by others, in one process, in turn with the plan",
    )


def run(arguments: argparse.Namespace) -> Report:
    case = _problem.case_of(arguments)
    names = [name for name in arguments.peers.split(",") if name]
    for name in names:
        if name not in _measure.PEERS:
            raise UsageError(f'--peers: "{name}"; expected some of {", ".join(_measure.PEERS)}')
    ranks = ranks_of(case.comm)
    directions = directions_of(arguments.direction)
    peers = [_measure.Peer(name, ranks, case) for name in names]
    plan = _measure.Weft("weft", ranks, case)
    error = plan.error()
    times = _measure.in_turns([plan, *peers], directions, arguments.repeat)
    results = {name: result_of(of_one) for name, of_one in times.items()}
    mine = results.pop("weft")
    data = {
        "problem": {**case.to_json(), "direction": arguments.direction, "repeat": arguments.repeat},
        "ranks": _problem.ranks_json(ranks),
        **mine,
        "gflops": len(directions) * case.flops() / mine["median_s"] / 1e9,
        "error_l2": error,
        "planning_s": plan.planning_s,
        "workspace_bytes": plan.workspace_bytes,
        "peers": results,
        "plan": plan.text(),
    }
    plan.free()
    return Report(data, lambda screen: _show(screen, data))


def directions_of(name: str) -> tuple[str, ...]:
    return _measure.DIRECTIONS if name == "both" else (name,)


def result_of(times: dict[str, list]) -> dict[str, Any]:
    """The summary of all directions together, and of each."""
    together = [sum(of_one) for of_one in zip(*times.values(), strict=True)]
    return {**_measure.summary(together), "directions": {d: _measure.summary(t) for d, t in times.items()}}


def _show(screen: Screen, data: dict[str, Any]) -> None:
    screen.text(data["plan"].rstrip())
    screen.text()
    everybody = {"weft": data, **data["peers"]}
    rows = [
        [
            name,
            direction,
            *(milliseconds(s) for s in (of["median_s"], *of["quartiles_s"], of["min_s"])),
            f"{of['median_s'] / data['directions'][direction]['median_s']:.2f}",
        ]
        for name, result in everybody.items()
        for direction, of in result["directions"].items()
    ]
    screen.title(f"{data['problem']['repeat']} repetitions in turns, slowest of {data['ranks']['number']} ranks")
    screen.table(("who", "direction", "median", "quartile", "quartile", "fastest", "of weft's"), rows)
    screen.text(
        f"{data['gflops']:.2f} Gflop/s; relative error of there and back {data['error_l2']:.2e}; planning "
        f"{milliseconds(data['planning_s'])}; workspace {bytes_text(data['workspace_bytes'])} per rank at most"
    )
