"""`weft tune`: finds the fastest plan by trials, and keeps it in a wisdom file."""

from __future__ import annotations

import argparse
import concurrent.futures
import math
import shutil
import sys
import time
from collections.abc import Callable
from typing import Any

import weft
from weft import _core
from weft._core import Comm
from weft.cli import _problem
from weft.cli._main import Report, add_command
from weft.cli._ranks import Ranks, ranks_of
from weft.cli._screen import Screen, is_terminal, milliseconds
from weft.cli.explain import explanation_json

_EXAMPLES = """Examples:
  weft tune --shape 256,256,256 --comm threads:4 --wisdom fft.json
      ten seconds of trials; later plans find what is in fft.json (option wisdom, or WEFT_WISDOM=fft.json)
  mpirun -n 4 weft tune --shape 256,256,256 --effort patient --budget 60s
      also searches the parameters of pipelines, for a minute; writes weft-wisdom.json
  weft wisdom show weft-wisdom.json
"""
_DEFAULT_FILE = "weft-wisdom.json"


def add(commands: Any) -> None:
    about = "times what plans could be, and writes the fastest into a wisdom file"
    parser = add_command(commands, "tune", about, _EXAMPLES, run, "--shape N,N,N | --line N ")
    _problem.add(parser, required=True)
    group = parser.add_argument_group("progress")
    group.add_argument("--quiet", action="store_true", help="says nothing on standard error while trials go on")


def run(arguments: argparse.Namespace) -> Report:
    case = _problem.case_of(arguments)
    effort = case.options.get("effort", "measure")
    file = case.options.get("wisdom") or weft.options()["wisdom"] or _DEFAULT_FILE
    ranks = ranks_of(case.comm)
    progress = Progress(None if arguments.quiet else sys.stderr)

    def tune(comm: Comm) -> dict[str, Any]:
        with case.plan(comm, effort=effort, wisdom=file) as plan:
            explanation = plan.explain()
            return {"plan": str(plan), "explanation": explanation_json(explanation)}

    begin = time.perf_counter()
    _core.report_trials_to(progress.told)
    try:
        found = _run_interruptibly(ranks, tune)[0]
    finally:
        _core.report_trials_to(None)
        progress.end()
    data = {
        "problem": case.to_json(),
        "ranks": _problem.ranks_json(ranks),
        "effort": effort,
        "wisdom": file,
        "seconds": time.perf_counter() - begin,
        "trials": progress.trials,
        **progress.result(),
        **found,
    }
    return Report(data, lambda screen: _show(screen, data))


def _run_interruptibly(ranks: Ranks, body: Callable[[Comm], Any]) -> list[Any]:
    """As ranks.run(body), but Ctrl-C ends the trials of thread ranks too: the main thread, which alone sees it, waits
    in Python."""
    if ranks.medium != "threads":
        return ranks.run(body)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        running = pool.submit(ranks.run, body)
        try:
            return running.result()
        except KeyboardInterrupt:
            _core.interrupt_trials(True)
            concurrent.futures.wait([running])
            raise
        finally:
            _core.interrupt_trials(False)


class Progress:
    """Shows each trial on a stream: on a terminal on one line, elsewhere a line each; on none, nothing."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._one_line = stream is not None and is_terminal(stream)
        self.trials: list[dict[str, Any]] = []

    def told(self, p: _core.TrialProgress) -> None:
        self.trials.append({"round": p.round, "trial": p.trial, "options": p.options, "seconds": p.seconds})
        if self._stream is None:
            return
        took = milliseconds(p.seconds) if math.isfinite(p.seconds) else "impossible"
        best = (
            "the best so far" if p.is_best else f"best {milliseconds(p.best_seconds)}: {options_text(p.best_options)}"
        )
        what = f"trial {p.trial} of {p.most_trials}" if p.round in ("candidate", "point") else p.round
        line = f"{what}: {options_text(p.options)}: {took}; {best}; {p.seconds_left:.1f} s left"
        self._stream.write(f"\r\x1b[K{line[: _width()]}" if self._one_line else f"{line}\n")
        self._stream.flush()

    def end(self) -> None:
        if self._one_line and self.trials:
            self._stream.write("\r\x1b[K")

    def result(self) -> dict[str, Any]:
        """Of whole executions: the fastest of the last round, which decides, and the rules' choice, both as the last
        round that has timed both has it."""
        rounds: dict[str, dict[tuple, dict[str, Any]]] = {}
        for trial in self.trials:
            if trial["round"] != "point":
                rounds.setdefault(trial["round"], {})[tuple(sorted(trial["options"].items()))] = trial
        if not rounds:
            return {"rules_s": None, "best_s": None, "best_options": None}
        best, options = min((trial["seconds"], options) for options, trial in list(rounds.values())[-1].items())
        rules = None
        for timed in rounds.values():
            if () in timed:
                rules = timed[()]["seconds"]
                if options in timed:
                    best = timed[options]["seconds"]
        return {"rules_s": rules, "best_s": best, "best_options": dict(options)}


def _width() -> int:
    return shutil.get_terminal_size().columns - 1


def options_text(options: dict[str, str]) -> str:
    """ "exchange p2p, tile 8" """
    return ", ".join(f"{name} {value}" for name, value in options.items()) or "as the rules choose"


def _show(screen: Screen, data: dict[str, Any]) -> None:
    rows = [
        [options_text(c["options"]), c["summary"], milliseconds(c["predicted_s"]), milliseconds(c["measured_s"])]
        for c in data["explanation"]["candidates"]
    ]
    if rows:
        screen.title("forward and backward, slowest rank; the chosen one first")
        screen.table(("options", "which make", "predicted", "measured"), rows)
    if not data["trials"]:
        screen.text(f"no trials: {data['explanation']['chosen']}")
    else:
        screen.good(f"{len(data['trials'])} timings in {data['seconds']:.1f} s, {data['explanation']['chosen']}")
    if data["best_s"] and data["rules_s"]:
        screen.text(
            f"the fastest took {milliseconds(data['best_s'])}, the rules' choice {milliseconds(data['rules_s'])}: "
            f"{data['rules_s'] / data['best_s']:.2f} times as long"
        )
    screen.text(f"plans find it with option wisdom={data['wisdom']}, or WEFT_WISDOM={data['wisdom']}")
