"""From arguments to a command, and from what it found to text or JSON."""

from __future__ import annotations

import argparse
import difflib
import json
import math
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import weft
from weft.cli._errors import UsageError
from weft.cli._ranks import launched, speaks
from weft.cli._screen import Screen


@dataclass
class Report:
    """What a command found: for programs, and for people. `status`: the exit status."""

    data: dict[str, Any]
    show: Callable[[Screen], None]
    status: int = 0


class Parser(argparse.ArgumentParser):
    """Says what is wrong on one line, on rank 0 alone."""

    def __init__(self, **arguments: Any) -> None:
        arguments.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(allow_abbrev=False, **arguments)

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {message} (see {self.prog} --help)")

    def _print_message(self, message: str, file: Any = None) -> None:
        if speaks():
            super()._print_message(message, file)


def parser() -> Parser:
    """The whole command line."""
    from weft.cli import bench, compare, explain, info, trace, tune, wisdom

    top = Parser(
        prog="weft",
        description="Weft's command line: what there is here, what a plan does, how fast it is, and why.",
        epilog="Examples:\n"
        "  weft info                                        what this Weft has and where it runs\n"
        "  weft explain --shape 256,256,256 --comm threads:4\n"
        "  mpirun -n 4 weft bench --shape 256,256,256 --transform r2c\n"
        "  weft COMMAND --help                              each command has its own examples\n",
    )
    top.add_argument("--version", action="version", version=f"weft {weft.__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in (info, explain, bench, tune, wisdom, trace, compare):
        command.add(commands)
    return top


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Raises `UsageError`, for an argument that does not exist with the nearest one that does."""
    top = parser()
    arguments, unknown = top.parse_known_args(argv)
    if unknown:
        of = arguments.parser
        near = difflib.get_close_matches(unknown[0].split("=")[0], of._option_string_actions, n=1)
        hint = f"; the nearest is {near[0]}" if near else ""
        of.error(f"unknown argument {unknown[0]}{hint}")
    return arguments


def add_command(commands: Any, name: str, about: str, examples: str, run: Callable, usage: str = "") -> Parser:
    """A command, or an action of one, with examples in its help and the flag --json."""
    parser = commands.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.", epilog=examples)
    parser.usage = f"{parser.prog} {usage}[OPTION ...]"
    parser.add_argument("--json", action="store_true", help="prints JSON on standard output in the place of text")
    parser.set_defaults(run=run, parser=parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command and returns the exit status: 0; 1 if what was found is not allowed; 2 for wrong use."""
    try:
        status = _run(argv)
        sys.stdout.flush()  # a reader that has gone is noticed here, not when the process ends
        return status
    except (UsageError, weft.Error) as error:
        return _fail(str(error), 2)
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except BrokenPipeError:  # head has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception:
        if (launched() or (0, 1))[1] > 1 and "mpi4py.MPI" in sys.modules:  # other ranks would wait for ever
            traceback.print_exc()
            sys.stderr.flush()
            sys.modules["mpi4py.MPI"].COMM_WORLD.Abort(1)
        raise


def _run(argv: Sequence[str] | None) -> int:
    try:
        arguments = parse(argv)
        report = arguments.run(arguments)
    except SystemExit as end:  # of --help and --version
        return int(end.code or 0)
    if not speaks():
        return 0
    _print(report, arguments)
    return report.status


def _print(report: Report, arguments: argparse.Namespace) -> None:
    if not arguments.json:
        report.show(Screen())
        return
    data = {"command": arguments.command, "weft": weft.__version__, **report.data}
    print(json.dumps(finite(data), indent=2, allow_nan=False))


def finite(value: Any) -> Any:
    """The same without numbers that JSON does not have: null in their place."""
    if isinstance(value, dict):
        return {key: finite(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _fail(message: str, status: int) -> int:
    """On rank 0. Others end as if nothing were wrong: mpirun ends all ranks when one has failed, and rank 0 may not
    have spoken yet."""
    if not speaks():
        return 0
    line = " ".join(message.split())
    print(line if line.startswith("weft") else f"weft: {line}", file=sys.stderr)
    return status
