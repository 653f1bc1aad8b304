"""`weft wisdom`: shows, merges and prunes files of what planning has found out."""

from __future__ import annotations

import argparse
import os
from typing import Any

import weft
from weft import _core
from weft.cli import _wisdom_file
from weft.cli._errors import UsageError
from weft.cli._main import Report, add_command
from weft.cli._ranks import speaks
from weft.cli._screen import Screen, milliseconds
from weft.cli.tune import options_text

_EXAMPLES = """Examples:
  weft wisdom show fft.json
  weft wisdom show fft.json --problem 256x256x256 --json
  weft wisdom merge node1.json node2.json --into all.json
      of two entries for one problem the faster one is kept
  weft wisdom prune fft.json --other-machines --dry-run
      what would go, if only this machine's entries were kept
  weft wisdom prune fft.json --problem 64x64x64 --local-ffts
"""


def add(commands: Any) -> None:
    about = "shows, merges and prunes wisdom files"
    parser = commands.add_parser(
        "wisdom", help=about, description="Shows, merges and prunes wisdom files.", epilog=_EXAMPLES
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    show = add_command(actions, "show", "lists what a file knows", _EXAMPLES, _show, "FILE ")
    merge = add_command(actions, "merge", "puts several files into one", _EXAMPLES, _merge, "FILE ... --into FILE ")
    prune = add_command(actions, "prune", "removes entries", _EXAMPLES, _prune, "FILE ")
    for action in (show, prune):
        action.add_argument("file", metavar="FILE")
        action.add_argument("--problem", default="", metavar="TEXT", help="only problems whose names contain it")
        action.add_argument("--machine", default="", metavar="TEXT", help="only machines whose names contain it")
    prune.add_argument("--unfinished", action="store_true", help="only entries whose search did not come to its end")
    prune.add_argument("--other-machines", action="store_true", help="only entries of other hardware than this one's")
    prune.add_argument("--local-ffts", action="store_true", help="also what FFT libraries keep, of these machines")
    prune.add_argument("--dry-run", action="store_true", help="says what would go, and changes nothing")
    merge.add_argument("files", nargs="+", metavar="FILE")
    merge.add_argument("--into", required=True, metavar="FILE", help="need not exist; what it knows stays")


def _show(arguments: argparse.Namespace) -> Report:
    wisdom = _wisdom_file.read(arguments.file)
    entries = [e for e in wisdom.entries() if arguments.problem in e["problem"] and arguments.machine in e["machine"]]
    data = {
        "file": arguments.file,
        "this_machine": _core.hardware(),
        "entries": entries,
        "constants": wisdom.part("constants"),
        "descriptions": sorted(wisdom.part("descriptions")),
        "local_ffts": {name: len(lines) for name, lines in wisdom.part("local_ffts").items()},
    }

    def show(screen: Screen) -> None:
        for machine in dict.fromkeys(e["machine"] for e in entries):
            screen.title(machine + (" (this one)" if machine.startswith(_core.hardware() + ",") else ""))
            rows = [
                [brief(e["problem"]), milliseconds(e["seconds"]), e["trials"], options_text(e["options"])]
                for e in entries
                if e["machine"] == machine
            ]
            screen.table(("problem", "there and back", "trials", "options"), rows)
            screen.text()
        for machine, constants in data["constants"].items():
            screen.text(f"measured of {machine}: " + ", ".join(f"{n} {v:g}" for n, v in constants.items()))
        for machine in data["descriptions"]:
            screen.text(f"described: {machine}")
        for library, lines in data["local_ffts"].items():
            screen.text(f"wisdom of an FFT library, {lines} lines: {library}")
        if not entries:
            screen.text(f"{arguments.file}: no entries" + (" that match" if wisdom.entries() else ""))

    return Report(data, show)


def brief(problem: str) -> str:
    """A problem's name without what is as usual: option grid auto, in place no."""
    usual = ("auto", "no", "none", "on", "0")
    parts = [part for part in problem.split("; ") if part.split(" ")[-1] not in usual]
    named = ("batch 1", "option threads 1", "option workspace plan", "backward scale full")
    return "; ".join(part for part in parts if part not in named and not part.startswith("boxes "))


def _merge(arguments: argparse.Namespace) -> Report:
    for file in arguments.files:
        _wisdom_file.read(file)  # says what is wrong with it
    data: dict[str, Any] = {"files": arguments.files, "into": arguments.into}
    if speaks():  # one process is enough, and two would do it twice
        data["entries"] = _merged(arguments.files, arguments.into)

    def show(screen: Screen) -> None:
        screen.good(f"{arguments.into}: {data['entries']} entries, with those of {', '.join(arguments.files)}")

    return Report(data, show)


def _merged(files: list[str], into: str) -> int:
    """Merges by the library's rules; this process forgets what else it knew."""
    weft.forget_wisdom()
    try:
        for file in files:
            if not weft.import_wisdom(file):
                raise UsageError(f"{file}: not read; see above")
        if not weft.export_wisdom(into):
            raise UsageError(f"{into}: not written; see above")
    finally:
        weft.forget_wisdom()
    return len(_wisdom_file.read(into).entries())


def _prune(arguments: argparse.Namespace) -> Report:
    asked = (arguments.problem, arguments.machine, arguments.unfinished, arguments.other_machines, arguments.local_ffts)
    if not any(asked):
        raise UsageError(
            "wisdom prune: everything would go; expected --problem, --machine, --unfinished, --other-machines or "
            f"--local-ffts. To begin afresh, delete {arguments.file}"
        )
    narrow = any(asked[:4])
    here = _core.hardware() + ","

    def of_machine(machine: str) -> bool:
        return arguments.machine in machine and not (arguments.other_machines and machine.startswith(here))

    def goes(entry: dict[str, Any]) -> bool:
        if not narrow or (arguments.unfinished and not entry["unfinished"]):
            return False
        return arguments.problem in entry["problem"] and of_machine(entry["machine"])

    by_machine = bool(arguments.machine or arguments.other_machines) and not (arguments.problem or arguments.unfinished)
    gone = {"entries": [], "machines": [], "local_ffts": []}
    if speaks():
        choice = _wisdom_file.Choice(
            goes,
            of_machine if by_machine else lambda _: False,
            of_machine if arguments.local_ffts or by_machine else lambda _: False,
        )
        gone = _wisdom_file.prune(arguments.file, choice, dry_run=arguments.dry_run)
    data = {"file": os.fspath(arguments.file), "dry_run": arguments.dry_run, "removed": gone}

    def show(screen: Screen) -> None:
        word = "would go" if arguments.dry_run else "removed"
        for entry in gone["entries"]:
            screen.text(f"{word}: {brief(entry['problem'])} on {entry['machine']}")
        for key, what in (("machines", "constants and descriptions of"), ("local_ffts", "wisdom of an FFT library:")):
            for name in gone[key]:
                screen.text(f"{word}: {what} {name}")
        screen.good(f"{arguments.file}: {len(gone['entries'])} entries {word}")

    return Report(data, show)
