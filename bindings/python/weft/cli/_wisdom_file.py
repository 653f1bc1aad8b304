"""Wisdom files as JSON (src/tune/wisdom.cpp has the format), read to be shown, and written where entries are removed.

Merging is the library's work. Writing goes as the library does it: under the lock FILE.lock, and in one step.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from weft.cli._errors import UsageError
from weft.cli._files import read_json

_VERSION = 1


class WisdomFile:
    """The parts of a file."""

    def __init__(self, json: dict[str, Any]) -> None:
        self.json = json

    def part(self, name: str) -> dict[str, Any]:
        return self.json.get(name, {})

    def entries(self) -> list[dict[str, Any]]:
        """All problems of all machines: what each name says, and whether the search did not come to its end."""
        return [
            {
                "machine": machine,
                "problem": problem,
                "options": entry["options"],
                "seconds": entry["seconds"],
                "trials": entry["trials"],
                "unfinished": "budget" in entry or "unfinished" in problem,
            }
            for machine, problems in self.part("problems").items()
            for problem, entry in problems.items()
        ]


@dataclass
class Choice:
    """What is to go: entries; machines with constants and description; wisdom of FFT libraries, by their names."""

    entry: Callable[[dict[str, Any]], bool]
    machine: Callable[[str], bool]
    library: Callable[[str], bool]


def read(name: str) -> WisdomFile:
    """Raises `UsageError` for what is no wisdom, or of a later Weft."""
    json = read_json(name)
    version = json.get("weft_wisdom") if isinstance(json, dict) else None
    if version is None:
        raise UsageError(f'{name}: no wisdom: it has no "weft_wisdom"')
    if version != _VERSION:
        raise UsageError(f"{name}: wisdom of version {version}; this Weft reads version {_VERSION}")
    wisdom = WisdomFile(json)
    try:
        wisdom.entries()
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{name}: damaged wisdom ({error!r})") from None
    return wisdom


def prune(name: str, choice: Choice, *, dry_run: bool) -> dict[str, Any]:
    """Removes what was chosen and returns it: entries, names of machines, names of libraries."""
    name = os.path.realpath(name)
    read(name)  # before a lock file is made beside something else
    with contextlib.nullcontext() if dry_run else _locked(name):
        wisdom = read(name)
        gone: dict[str, Any] = {
            "entries": [e for e in wisdom.entries() if choice.entry(e)],
            "machines": sorted({m for p in ("constants", "descriptions") for m in wisdom.part(p) if choice.machine(m)}),
            "local_ffts": [library for library in wisdom.part("local_ffts") if choice.library(library)],
        }
        if dry_run or not any(gone.values()):
            return gone
        for entry in gone["entries"]:
            problems = wisdom.json["problems"]
            del problems[entry["machine"]][entry["problem"]]
            if not problems[entry["machine"]]:
                del problems[entry["machine"]]
        for machine in gone["machines"]:
            for part in ("constants", "descriptions"):
                wisdom.part(part).pop(machine, None)
        for library in gone["local_ffts"]:
            del wisdom.json["local_ffts"][library]
        _replace(name, json.dumps(wisdom.json, indent=2, ensure_ascii=False) + "\n")
    return gone


@contextlib.contextmanager
def _locked(name: str) -> Iterator[None]:
    try:
        with open(f"{name}.lock", "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
    except OSError as error:
        raise UsageError(f"{name}: cannot be locked: {error.strerror}") from None


def _replace(name: str, text: str) -> None:
    mode = os.stat(name).st_mode & 0o777
    made = ""
    try:
        with tempfile.NamedTemporaryFile("w", dir=os.path.dirname(name), delete=False, encoding="utf-8") as file:
            made = file.name
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(made, mode)
        os.replace(made, name)
    except OSError as error:
        if made:
            with contextlib.suppress(OSError):
                os.unlink(made)
        raise UsageError(f"{name}: {error.strerror}") from None
