#!/usr/bin/env python3
"""Runs clang-tidy: tools/tidy.py BUILD_DIRECTORY [--all], with compile_commands.json in that directory.

Without --all, on the files that have changed since clang-tidy found nothing in them: in their text, in that of a header
of this project that they include, directly or not, or in what they are compiled and checked with. Each run leaves
tools/tidy.txt: the version of clang-tidy, then for each clean file a digest of all that. It is committed, so that a
fresh clone knows it too. Where it is missing or of another version of clang-tidy, all files are checked.
"""

import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
RECORD = TOP / "tools/tidy.txt"
# Without the program for heFFTe, which is compiled where Weft is installed only, and what a build with CUDA has not.
LEFT_OUT = [":!tests/install/heffte_consumer.cpp", ":!src/device/hip/*"]
SOURCES = ["src/*.cpp", "bindings/*.cpp", "examples/*.cpp", "tests/*.cpp", *LEFT_OUT]
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
FOLDERS = ["src", "include", "tests", "bench", "examples"]
NOISE = re.compile(r"warnings? generated|^Suppressed|Use -header-filter")


@functools.cache
def includes(file: pathlib.Path) -> frozenset:
    """The project's headers that a file names, whatever conditions stand around."""
    found = set()
    for name in INCLUDE.findall(file.read_text()):
        candidates = [file.parent / name] + [TOP / folder / name for folder in FOLDERS]
        found.update(c.resolve() for c in candidates if c.is_file())
    return frozenset(found)


def with_headers(file: pathlib.Path) -> set:
    reached, new = set(), {file}
    while new:
        reached |= new
        new = set().union(*(includes(f) for f in new)) - reached
    return reached


def settings(file: pathlib.Path) -> list:
    """The settings of clang-tidy that hold for a file: those of its folder and of the folders around it."""
    around = [folder / ".clang-tidy" for folder in file.parents if folder.is_relative_to(TOP)]
    return [s for s in around if s.is_file()]


def digest(file: pathlib.Path, flags: str) -> str:
    text = hashlib.sha256(flags.encode())
    for part in sorted(with_headers(file)) + settings(file):
        text.update(f"\n{part.relative_to(TOP)}\n".encode() + part.read_bytes())
    return text.hexdigest()[:32]


def digests(build: str) -> dict:
    flags = {}
    for entry in json.loads((pathlib.Path(build) / "compile_commands.json").read_text()):
        command = [a for a in shlex.split(entry["command"]) if a.startswith(("-D", "-std="))]
        flags[entry["file"]] = " ".join(command).replace(str(TOP), "")
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *SOURCES]
    names = subprocess.run(listed, cwd=TOP, check=True, capture_output=True, text=True).stdout.split()
    files = [n for n in sorted(set(names)) if (TOP / n).is_file()]
    return {n: digest(TOP / n, flags.get(str(TOP / n), "")) for n in files}


def recorded(version: str) -> dict:
    if not RECORD.is_file():
        return {}
    first, *lines = RECORD.read_text().splitlines()
    return dict(reversed(line.split(" ", 1)) for line in lines) if first == version else {}


def is_clean(build: str, name: str) -> bool:
    command = ["clang-tidy", "-p", build, "--quiet", "--warnings-as-errors=*"]
    command += ["--extra-arg=-Wno-unknown-warning-option", str(TOP / name)]
    run = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in (run.stdout + run.stderr).splitlines() if not NOISE.search(line)]
    if run.returncode != 0:
        print("\n".join(lines), flush=True)
    return run.returncode == 0


def main() -> int:
    build, everything = sys.argv[1], "--all" in sys.argv[2:]
    version = subprocess.run(["clang-tidy", "--version"], check=True, capture_output=True, text=True).stdout
    version = "clang-tidy " + re.search(r"version ([0-9.]+)", version).group(1)
    now, before = digests(build), recorded(version)
    changed = [n for n in now if everything or before.get(n) != now[n]]
    print(f"lint: clang-tidy of {len(changed)} of {len(now)} files", flush=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        good = dict(zip(changed, pool.map(functools.partial(is_clean, build), changed), strict=True))
    clean = {n: now[n] for n in now if good.get(n, True)}
    if clean != before:
        RECORD.write_text("".join([f"{version}\n"] + [f"{d} {n}\n" for n, d in clean.items()]))
        print("lint: tools/tidy.txt records what is clean now; commit it")
    return 0 if all(good.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
