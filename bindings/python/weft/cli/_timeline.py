"""A trace as Weft writes it (WEFT_TRACE, weft-bench --trace), by lanes, executions and operations."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import Any

from weft.cli._errors import UsageError

_ARGUMENTS = ("stage", "reshape", "tile", "peer", "bytes", "memory_read", "memory_written")


@dataclass
class Lane:
    """What one stream of one rank did for one plan. Times are in microseconds, from the first of the trace."""

    plan: int
    number: int
    name: str = ""
    executions: list[dict[str, Any]] = field(default_factory=list)
    operations: list[dict[str, Any]] = field(default_factory=list)


class Timeline:
    """Raises `UsageError` for what is no trace of Weft."""

    def __init__(self, trace: Any, name: str = "trace") -> None:
        events = trace.get("traceEvents") if isinstance(trace, dict) else None
        if not isinstance(events, list):
            raise UsageError(f'{name}: expected a trace of Weft (WEFT_TRACE), which has "traceEvents"')
        self.plans: dict[int, dict[str, str]] = {}
        lanes: dict[tuple[int, int], Lane] = {}
        try:
            for event in events:
                if event["pid"] != 0:  # the head
                    self._take(event, lanes.setdefault((event["pid"], event["tid"]), Lane(event["pid"], event["tid"])))
        except (KeyError, TypeError) as error:
            raise UsageError(f"{name}: an event that is not as Weft writes it ({error!r})") from None
        self.lanes = sorted(lanes.values(), key=lambda lane: (lane.plan, lane.number))
        self.begin, self.end = self._move_to_zero()

    def _take(self, event: dict[str, Any], lane: Lane) -> None:
        kind, name, given = event["ph"], event["name"], event.get("args", {})
        plan = self.plans.setdefault(event["pid"], {"title": "", "text": ""})
        if kind == "M" and name == "process_name":
            plan["title"] = given["name"]
        elif kind == "M" and name == "thread_name":
            lane.name = given["name"]
        elif kind == "i" and name == "plan":
            plan["text"] = given["text"]
        elif kind == "X":
            span = {"name": name, "kind": event["cat"], "begin": event["ts"], "duration": event["dur"]}
            if event["cat"] == "execution":
                lane.executions.append({**span, "execution": given.get("execution")})
            else:
                lane.operations.append({**span, **{key: given[key] for key in _ARGUMENTS if key in given}})

    def _move_to_zero(self) -> tuple[float, float]:
        spans = [span for lane in self.lanes for span in (*lane.executions, *lane.operations)]
        first = min((span["begin"] for span in spans), default=0.0)
        for span in spans:
            span["begin"] -= first
        return 0.0, max((span["begin"] + span["duration"] for span in spans), default=0.0)

    def totals(self) -> dict[str, Any]:
        """Seconds, numbers and bytes of all operations of a name on all lanes, and the executions, of which the
        slowest rank counts."""
        operations: dict[str, dict[str, Any]] = {}
        for lane in self.lanes:
            for o in lane.operations:
                row = operations.setdefault(
                    o["name"],
                    {"name": o["name"], "kind": o["kind"], "count": 0, "seconds": 0.0, "bytes": 0, "memory_bytes": 0},
                )
                row["count"] += 1
                row["seconds"] += 1e-6 * o["duration"]
                row["bytes"] += o.get("bytes", 0)
                row["memory_bytes"] += o.get("memory_read", 0) + o.get("memory_written", 0)
        slowest: dict[tuple[int, str, int], float] = {}
        for lane in self.lanes:
            for e in lane.executions:
                key = (lane.plan, e["name"], e["execution"])
                slowest[key] = max(slowest.get(key, 0.0), 1e-6 * e["duration"])
        directions = dict.fromkeys(direction for _, direction, _ in slowest)
        by_direction = {d: [s for (_, direction, _), s in slowest.items() if direction == d] for d in directions}
        return {
            "plans": len(self.plans),
            "lanes": len(self.lanes),
            "seconds": 1e-6 * (self.end - self.begin),
            "executions": [
                {"direction": d, "count": len(times), "median_s": statistics.median(times)}
                for d, times in by_direction.items()
            ],
            "operations": sorted(operations.values(), key=lambda row: -row["seconds"]),
        }
