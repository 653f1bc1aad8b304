"""The page of a timeline: trace.html with the timeline in it."""

from __future__ import annotations

import importlib.resources
import json
from typing import Any

from weft.cli._timeline import Timeline

_HOLE = "/*TIMELINE*/null"


def page_of(timeline: Timeline, totals: dict[str, Any]) -> str:
    """One HTML file that loads nothing. Operations are lists in the order of `columns`, as there may be many."""
    columns = ["name", "kind", "begin", "duration", "stage", "reshape", "tile", "peer", "bytes", "memory_read"]
    columns.append("memory_written")
    names: dict[str, int] = {}
    lanes = []
    for lane in timeline.lanes:
        spans = [*lane.executions, *lane.operations]
        lanes.append(
            {
                "plan": lane.plan,
                "name": lane.name,
                "executions": len(lane.executions),
                "spans": [
                    [
                        names.setdefault(span["name"], len(names)),
                        names.setdefault(span["kind"], len(names)),
                        *(span.get(column) for column in columns[2:]),
                    ]
                    for span in spans
                ],
            }
        )
    data = {
        "columns": columns,
        "names": list(names),
        "lanes": lanes,
        "plans": {str(number): plan for number, plan in timeline.plans.items()},
        "end": timeline.end,
        "totals": totals,
    }
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    template = importlib.resources.files("weft.cli").joinpath("trace.html").read_text(encoding="utf-8")
    head, tail = template.split(_HOLE)
    return head + text.replace("<", "\\u003c") + tail
