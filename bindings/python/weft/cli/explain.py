"""`weft explain`: what a plan does and why, without executing it."""

from __future__ import annotations

import argparse
import math
import re
from typing import Any

import weft
from weft._core import Comm
from weft.cli import _problem
from weft.cli._boxes import Drawing
from weft.cli._main import Report, add_command
from weft.cli._ranks import ranks_of
from weft.cli._screen import Screen, bytes_text, milliseconds

_EXAMPLES = """Examples:
  weft explain --shape 256,256,256 --comm threads:4
      who holds what, which stages there are, and what each sends
  weft explain --shape 128,128,128 --transform r2c --input brick --output pencil0 --comm threads:8
  mpirun -n 4 weft explain --shape 256,256,256 --machine machine.json
      on four ranks of MPI, with predictions for the machine that weft-bench --measure-machine described
  weft-model choose --machine cluster.json --ranks 1024 --shape 1024,1024,1024
      (another program) for ranks that are not here
"""
_SENT = re.compile(r"at most (\d+) messages, (\d+) points sent per rank")


def add(commands: Any) -> None:
    about = "draws the boxes of a plan, lists its stages and bytes, and says why it is as it is"
    parser = add_command(commands, "explain", about, _EXAMPLES, run, "--shape N,N,N | --line N ")
    _problem.add(parser, required=True)


def run(arguments: argparse.Namespace) -> Report:
    case = _problem.case_of(arguments)
    ranks = ranks_of(case.comm)

    def look(comm: Comm) -> dict[str, Any]:
        with case.plan(comm) as plan:
            return _of_rank(plan, comm.rank)

    parts = ranks.run(look)
    data = {
        "problem": case.to_json(),
        "ranks": _problem.ranks_json(ranks),
        "boxes": {side: [{"rank": r, **part[side]} for r, part in enumerate(parts)] for side in ("input", "output")},
        "workspace_bytes": [part["workspace_bytes"] for part in parts],
        "stages": stages_of(parts[0]["plan"], 8 if case.precision == "double" else 4, case.batch),
        "plan": parts[0]["plan"],
        "explanation": parts[0]["explanation"],
    }
    return Report(data, lambda screen: _show(screen, data, parts[0]["text"]))


def _of_rank(plan: weft.Plan, rank: int) -> dict[str, Any]:
    sides = {
        "input": (plan.input_box, plan.input_order, plan.input_dtype, plan.input_shape),
        "output": (plan.output_box, plan.output_order, plan.output_dtype, plan.output_shape),
    }
    part: dict[str, Any] = {
        side: {
            "lo": list(box.lo),
            "hi": list(box.hi),
            "order": list(order),
            "points": box.size,
            "bytes": math.prod(shape) * dtype.itemsize,
            "dtype": str(dtype),
        }
        for side, (box, order, dtype, shape) in sides.items()
    }
    part["workspace_bytes"] = plan.workspace_bytes
    if rank == 0:
        explanation = plan.explain()
        part |= {"plan": str(plan), "explanation": explanation_json(explanation), "text": str(explanation)}
    return part


def explanation_json(explanation: weft.Explanation) -> dict[str, Any]:
    """As `explanation` of weft-bench; zeros are what is not known."""
    names = ("options", "summary", "predicted_s", "measured_s", "why")
    candidates = [{name: getattr(c, name) for name in names} for c in explanation.candidates]
    names = ("chosen", "predicted_s", "compute_s", "wire_s", "hangs_on", "bound", "advice")
    return {**{name: getattr(explanation, name) for name in names}, "candidates": candidates}


def stages_of(plan: str, real_bytes: int, batch: int) -> list[dict[str, Any]]:
    """The stages that a printed plan lists, with what each rank sends at most, before codecs."""
    stages = []
    for line in plan.splitlines():
        found = re.fullmatch(r"  (\d+) (\w+) +(.*)", line)
        if found is None:
            continue
        stage: dict[str, Any] = {"number": int(found[1]), "kind": found[2], "text": found[3]}
        sent = _SENT.search(line)
        if sent is not None:
            element = real_bytes * (2 if " complex," in line else 1)
            stage |= {"messages": int(sent[1]), "sent_bytes": int(sent[2]) * element * batch}
        stages.append(stage)
    return stages


def _show(screen: Screen, data: dict[str, Any], explanation: str) -> None:
    for side, boxes in data["boxes"].items():
        most = max(box["bytes"] for box in boxes)
        screen.title(f"{side}: {boxes[0]['dtype']}, {bytes_text(most)} per rank at most")
        screen.text(Drawing([(box["lo"], box["hi"]) for box in boxes]).text())
    screen.title("stages of forward; backward takes them in reverse")
    rows = [
        [
            stage["number"],
            stage["kind"],
            stage["text"].split("; at most")[0],
            stage.get("messages"),
            bytes_text(stage["sent_bytes"]) if "sent_bytes" in stage else "",
        ]
        for stage in data["stages"]
    ]
    screen.table(("", "stage", "", "messages", "sent per rank"), rows)
    sent = sum(stage.get("sent_bytes", 0) for stage in data["stages"])
    screen.text(f"at most {bytes_text(sent)} sent and {bytes_text(max(data['workspace_bytes']))} of workspace per rank")
    screen.text()
    screen.title("plan")
    screen.text(data["plan"].rstrip())
    screen.text()
    predicted = data["explanation"]["predicted_s"]
    screen.title("why" + (f"; predicted {milliseconds(predicted)} forward and backward" if predicted else ""))
    screen.text(explanation.rstrip())
