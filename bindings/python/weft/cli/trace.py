"""`weft trace`: what all ranks did when, as one page that opens without a network."""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
from typing import Any

from weft.cli import _measure, _problem
from weft.cli._errors import UsageError
from weft.cli._files import check_writable, read_json, write
from weft.cli._main import Report, add_command
from weft.cli._page import page_of
from weft.cli._ranks import ranks_of, speaks
from weft.cli._screen import Screen, bytes_text, milliseconds
from weft.cli._timeline import Timeline

_EXAMPLES = """Examples:
  WEFT_TRACE=timeline.json mpirun -n 4 python3 program.py
  weft trace timeline.json
      writes timeline.html: lanes by rank and stream, zoom by the wheel, tooltips, totals
  weft trace --shape 128,128,128 --comm threads:4 --to trace.html
      runs a transform forward and backward, and traces it
  mpirun -n 4 weft trace --shape 256,256,256 --pipeline windowed --trace timeline.json
      the same on ranks of MPI; keeps the trace itself too, for Perfetto
"""


def add(commands: Any) -> None:
    about = "makes a page of a trace, or of a problem that it runs"
    parser = add_command(commands, "trace", about, _EXAMPLES, run, "[FILE] ")
    parser.add_argument(
        "file", nargs="?", metavar="FILE", help="a trace: of WEFT_TRACE, option trace, weft-bench --trace"
    )
    _problem.add(parser)
    group = parser.add_argument_group("page")
    group.add_argument("--to", metavar="FILE", help="the page (FILE.html; weft-trace.html without a FILE)")
    group.add_argument("--repeat", type=_problem.positive, default=3, help="executions that are traced, up to 10 (3)")


def run(arguments: argparse.Namespace) -> Report:
    page = arguments.to or (
        str(pathlib.Path(arguments.file).with_suffix(".html")) if arguments.file else "weft-trace.html"
    )
    if arguments.file and os.path.abspath(page) == os.path.abspath(arguments.file):
        raise UsageError(f"--to: {page}, which is the trace itself; expected another file")
    if not arguments.file and speaks():
        check_writable(page)
    trace = read_json(arguments.file) if arguments.file else _traced(arguments, page)
    if trace is None:  # not the process that prints
        return Report({}, lambda screen: None)
    timeline = Timeline(trace, arguments.file or "trace")
    totals = timeline.totals()
    data = {"page": page, "trace": arguments.file or arguments.option_trace, **totals}
    if speaks():
        write(page, page_of(timeline, totals))
    return Report(data, lambda screen: _show(screen, data))


def _traced(arguments: argparse.Namespace, page: str) -> Any:
    """The trace of executions that all ranks make now; None in other processes than that of rank 0."""
    case = _problem.case_of(arguments)
    ranks = ranks_of(case.comm)
    kept = case.options.get("trace")
    file = kept or os.path.abspath(f"{page}.{os.getpid()}.json")  # beside the page: other machines may see it there
    file = ranks.run(lambda comm: file)[0]  # that of rank 0, for all
    try:
        plan = _measure.Weft("weft", ranks, case, trace=file)
        for _ in range(min(arguments.repeat, 10)):
            ranks.run(plan.execute_once)
        plan.free()  # each rank adds its part to the file
        trace: list[Any] = []  # in one process alone, as it may be large
        ranks.alone(lambda: trace.append(read_json(file)))
    finally:
        if speaks() and not kept:
            with contextlib.suppress(OSError):
                os.unlink(file)
    return trace[0] if trace else None


def _show(screen: Screen, data: dict[str, Any]) -> None:
    for e in data["executions"]:
        screen.text(
            f"{e['direction']}: {e['count']} executions, median {milliseconds(e['median_s'])} on the slowest rank"
        )
    whole = sum(o["seconds"] for o in data["operations"]) or 1.0
    rows = [
        [
            o["name"],
            o["count"],
            milliseconds(o["seconds"]),
            f"{100 * o['seconds'] / whole:.1f}%",
            bytes_text(o["bytes"]),
        ]
        for o in data["operations"]
    ]
    screen.title(f"operations on {data['lanes']} lanes, all ranks together")
    screen.table(("operation", "number", "time", "share", "bytes"), rows)
    screen.good(f"{data['page']}: open it in a browser")
