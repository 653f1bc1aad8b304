"""`weft compare`: two results beside each other, or two sets of options in turns."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from weft.cli import _measure, _problem
from weft.cli._errors import UsageError
from weft.cli._files import read_json
from weft.cli._main import Report, add_command
from weft.cli._ranks import ranks_of
from weft.cli._screen import Screen, milliseconds
from weft.cli._timeline import Timeline
from weft.cli.bench import directions_of

_EXAMPLES = """Examples:
  weft compare old.json new.json
      two results of weft bench --json, weft-bench --json or weft trace --json, or two traces (WEFT_TRACE)
  weft compare --first exchange=direct --second exchange=copy --shape 128,128,128 --comm threads:2
      two plans of one problem, in turns
  mpirun -n 4 weft compare --first pipeline=sequential --second pipeline=planes --second tile=4 --allowed 1.1
      exit status 1 if the second one takes more than 1.1 times as long as the first
"""

_PROBLEM = ("shape", "transform", "precision", "input", "output", "batch", "modes", "points", "line", "between")


def add(commands: Any) -> None:
    about = "compares two results, or two plans in turns: the ratio of medians"
    parser = add_command(commands, "compare", about, _EXAMPLES, run, "[FILE FILE] ")
    parser.add_argument("files", nargs="*", metavar="FILE", help="two JSON files: the first one is what counts as 1")
    _problem.add(parser)
    group = parser.add_argument_group("comparison")
    for which in ("first", "second"):
        group.add_argument(
            f"--{which}", action="append", default=[], metavar="NAME=VALUE", help=f"an option of the {which} plan"
        )
    group.add_argument("--direction", choices=("forward", "backward", "both"), default="both", help="(both)")
    group.add_argument("--repeat", type=_problem.positive, default=20, help="timed repetitions of each plan (20)")
    group.add_argument("--allowed", type=float, metavar="RATIO", help="exit status 1 if a ratio is larger")


def run(arguments: argparse.Namespace) -> Report:
    if len(arguments.files) not in (0, 2):
        raise UsageError(f"compare: {len(arguments.files)} files; expected two, or none with --first and --second")
    if arguments.files and (arguments.first or arguments.second):
        raise UsageError("compare: files and options; expected two files, or --first and --second")
    if not arguments.files and not (arguments.first or arguments.second):
        raise UsageError("compare: nothing to compare; expected two files, or options by --first and --second")
    data = _of_files(*arguments.files) if arguments.files else _in_turns(arguments)
    slower = [row["what"] for row in data["rows"] if arguments.allowed and (row["ratio"] or 0) > arguments.allowed]
    data["allowed"], data["slower"] = arguments.allowed, slower
    return Report(data, lambda screen: _show(screen, data), 1 if slower else 0)


def _in_turns(arguments: argparse.Namespace) -> dict[str, Any]:
    case = _problem.case_of(arguments)
    plans = {which: _pairs(which, getattr(arguments, which)) for which in ("first", "second")}
    ranks = ranks_of(case.comm)
    cases = [dataclasses.replace(case, options={**case.options, **options}) for options in plans.values()]
    contenders = [_measure.Weft(which, ranks, one) for which, one in zip(plans, cases, strict=True)]
    times = _measure.in_turns(contenders, directions_of(arguments.direction), arguments.repeat)
    for contender in contenders:
        contender.free()
    first, second = ({d: _measure.summary(t) for d, t in times[which].items()} for which in plans)
    return {
        "kind": "plans",
        "problem": case.to_json(),
        "ranks": _problem.ranks_json(ranks),
        "options": plans,
        "first": {"directions": first},
        "second": {"directions": second},
        "rows": [_row(d, first[d]["median_s"], second[d]["median_s"]) for d in first],
        "notes": [],
    }


def _pairs(which: str, given: list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    for name, equals, _ in pairs:
        if not equals or not name:
            raise UsageError(f'--{which}: "{name}"; expected NAME=VALUE, such as exchange=copy')
    return {name: value for name, _, value in pairs}


def _of_files(first: str, second: str) -> dict[str, Any]:
    results = [(name, read_json(name)) for name in (first, second)]
    kinds = [_kind(name, result) for name, result in results]
    if kinds[0] != kinds[1]:
        raise UsageError(f"compare: a {kinds[0]} and a {kinds[1]}; expected two of a kind")
    seconds = [(_bench_seconds if kinds[0] == "benchmark" else _trace_seconds)(result) for _, result in results]
    names = [*seconds[0], *(name for name in seconds[1] if name not in seconds[0])]
    return {
        "kind": kinds[0],
        "first": {"file": first},
        "second": {"file": second},
        "rows": [_row(name, seconds[0].get(name), seconds[1].get(name)) for name in names],
        "notes": _differences(*(result for _, result in results)),
    }


def _kind(name: str, result: Any) -> str:
    if isinstance(result, dict) and "median_s" in result:
        return "benchmark"
    if isinstance(result, dict) and ("traceEvents" in result or "operations" in result):
        return "trace"
    raise UsageError(f"{name}: expected the JSON of weft bench, weft-bench or weft trace, or a trace (WEFT_TRACE)")


def _bench_seconds(result: dict[str, Any]) -> dict[str, float]:
    """Medians by direction; weft-bench has one for all."""
    directions = result.get("directions") or {result.get("problem", {}).get("direction", "total"): result}
    return {name: of["median_s"] for name, of in directions.items()}


def _trace_seconds(result: dict[str, Any]) -> dict[str, float]:
    """Seconds of an execution on the slowest rank, and of all operations of a name."""
    totals = Timeline(result).totals() if "traceEvents" in result else result
    seconds = {f"{e['direction']}, slowest": e["median_s"] for e in totals["executions"]}
    return {**seconds, **{o["name"]: o["seconds"] for o in totals["operations"]}}


def _differences(first: dict[str, Any], second: dict[str, Any]) -> list[str]:
    """What makes two results hard to compare."""
    notes = []
    for part, keys in (("problem", _PROBLEM), ("ranks", None)):
        one, other = first.get(part), second.get(part)
        if not isinstance(one, dict) or not isinstance(other, dict):
            continue
        for key in keys or sorted({*one, *other}):
            # weft-bench writes shapes as text.
            a, b = (",".join(map(str, v)) if isinstance(v, list) else v for v in (one.get(key), other.get(key)))
            if a != b:
                notes.append(f"{part} {key}: {a} and {b}")
    return notes


def _row(what: str, first: float | None, second: float | None) -> dict[str, Any]:
    ratio = second / first if first and second else None
    return {"what": what, "first_s": first, "second_s": second, "ratio": ratio}


def _show(screen: Screen, data: dict[str, Any]) -> None:
    if data["kind"] == "plans":
        for which, options in data["options"].items():
            screen.text(f"{which}: " + (", ".join(f"{n} {v}" for n, v in options.items()) or "as the rules choose"))
    else:
        for which in ("first", "second"):
            screen.text(f"{which}: {data[which]['file']}")
    for note in data["notes"]:
        screen.bad(f"not alike: {note}")
    rows = [
        [
            row["what"],
            milliseconds(row["first_s"]),
            milliseconds(row["second_s"]),
            "-" if row["ratio"] is None else f"{row['ratio']:.3f}",
        ]
        for row in data["rows"]
    ]
    screen.table(("", "first", "second", "second/first"), rows)
    if data["slower"]:
        screen.bad(f"more than {data['allowed']} times: {', '.join(data['slower'])}")
