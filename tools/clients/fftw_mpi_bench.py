#!/usr/bin/env python3
"""FFTW's own test program of its MPI library, mpi-bench, with libweft_fftw3_mpi in that library's place.

Its source comes from Debian's source package fftw3 (apt-get source) and is kept in the folder --work, outside the
tree's sources. mpi-bench is compiled as it is, against weft/fftw3/fftw3-mpi.h, and verifies transforms of 2 and 3
dimensions that are drawn from a seed: complex, real, DCTs and DSTs, transposes; in place and out of place, transposed
input and output, several numbers a point; all of it in double and in single precision. What mpi-bench finds wrong, and
what it cannot plan, is a failure.

    tools/clients/fftw_mpi_bench.py                          verifies on 1, 2, 3 and 4 ranks
    tools/clients/fftw_mpi_bench.py --speed FILE.json        times it beside FFTW's own library, alternating

Of another MPI than Open MPI: MPICC=mpicc.mpich, --mpirun mpirun.mpich, and --build of a build of Weft with it.
Needs what `make build` needs, and the Debian package dpkg-dev; --speed also libfftw3-mpi-dev.
"""

import argparse
import datetime
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
from typing import NamedTuple

import debian_source

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
KINDS = ["e00", "e01", "e10", "e11", "o00", "o01", "o10", "o11"]
# What mpi-bench says of a problem that it has verified: the problem and three errors.
VERIFIED = re.compile(r"^(\S+) [0-9.eE+-]+ [0-9.eE+-]+ [0-9.eE+-]+$", re.MULTILINE)
ABOUT_HOOKS = "void install_hook(void) {}\nvoid uninstall_hook(void) {}\n"


def command(words, **rest):
    """Runs a command; what it printed. Ends the program if it fails."""
    done = subprocess.run([str(w) for w in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **rest)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout[-4000:]}\nfailed: {done.returncode}")
    return done.stdout


class Precision(NamedTuple):
    """What FFTW's libraries of a precision end with, and how FFTW is configured for it."""

    suffix: str
    options: list[str]


PRECISIONS = {"double": Precision("", []), "float": Precision("f", ["--enable-float"])}


def fetched_source(work):
    """The folder with FFTW's source."""
    release = re.search(r"^VERSION_CODENAME=(\w+)", pathlib.Path("/etc/os-release").read_text(), re.MULTILINE)
    try:
        return debian_source.fetch("fftw3", release[1] if release else "trixie", "", work)
    except debian_source.NotThere as reason:
        sys.exit(f"{reason}")


def configured(source, work, precision):
    """The folder in which FFTW is configured for a precision, with its library of benchmarks."""
    folder = work / f"fftw-{precision}-{compiler()}"
    if not (folder / "config.h").exists():
        folder.mkdir(exist_ok=True)
        options = ["--enable-mpi", "--enable-shared", "--disable-static", "--disable-fortran", "--disable-doc"]
        options += PRECISIONS[precision].options
        command([source / "configure", *options, f"MPICC={compiler()}"], cwd=folder)
    command(["make", "-C", "libbench2", "-j2"], cwd=folder)
    return folder


def compiler():
    return os.environ.get("MPICC", "mpicc.openmpi")


def build_programs(source, work, build, precision, theirs):
    """mpi-bench over Weft and, if `theirs`, over FFTW's MPI library."""
    here = configured(source, work, precision)
    folder = here / "mpi-bench"
    folder.mkdir(exist_ok=True)
    suffix = PRECISIONS[precision].suffix
    # Beside FFTW's own header, mpi-bench.c would include that one.
    (folder / "mpi-bench.c").write_text((source / "mpi/mpi-bench.c").read_text())
    # hook.c looks into FFTW's planner, as option paranoid asks for, and needs all of FFTW's internal headers.
    (folder / "hook.c").write_text(ABOUT_HOOKS)
    library = build / "bindings/fftw3-mpi"
    if not (library / "libweft_fftw3_mpi.so").exists():
        sys.exit(f"there is no {library}/libweft_fftw3_mpi.so: make build, or name the folder of a build in --build")
    compile_all = [
        compiler(),
        "-O2",
        "-w",
        "-DHAVE_CONFIG_H",
        f"-I{here}",
        f"-I{source}",
        f"-I{TOP / 'include/weft/fftw3'}",
    ]
    compile_all += [folder / "mpi-bench.c", source / "tests/fftw-bench.c", folder / "hook.c"]
    compile_all.append(here / "libbench2/libbench2.a")
    serial = [f"-lfftw3{suffix}", "-lm"]
    command([*compile_all, f"-L{library}", f"-Wl,-rpath,{library}", "-lweft_fftw3_mpi", *serial, "-o", folder / "weft"])
    if theirs:
        command([*compile_all, f"-lfftw3{suffix}_mpi", *serial, "-o", folder / "fftw"])
    return folder


def lengths(draw, dimensions):
    return [
        draw.choice([1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17, 20, 24, 31][dimensions - 2 :])
        for _ in range(dimensions)
    ]


def problems(seed, shapes):
    """Problems in mpi-bench's notation: for each of so many shapes, every kind in and out of place."""
    draw = random.Random(seed)
    listed = []
    for shape in range(shapes):
        dimensions = 2 + shape % 2
        n = lengths(draw, dimensions)
        size = "x".join(map(str, n))
        vector = draw.choice(["", "", "v2", "v3", "v5"])
        for place in "io":
            destroy = draw.choice(["", "d"])
            for direction in "fb":
                scrambled = draw.choice(["", "[", "]", "[]"])
                listed.append(f"{destroy}{place}c{direction}{scrambled}{size}{vector}")
                half = draw.choice(["", "]" if direction == "f" else "["])
                listed.append(f"{destroy}{place}r{direction}{half}{size}{vector}")
            kinds = [draw.choice(KINDS) for _ in n]
            # Of length 1 there is no e00, and what mpi-bench expects of o01 is wrong by 2, over FFTW's library as well.
            kinds = ["e10" if k in ("e00", "o01") and length == 1 else k for k, length in zip(kinds, n, strict=True)]
            sized = "x".join(f"{length}{kind}" for length, kind in zip(n, kinds, strict=True))
            listed.append(f"{destroy}{place}k{draw.choice(['', '[', ']', '[]'])}{sized}{vector}")
        nx, ny, vl = n[0] + 1, n[1] + 1, draw.choice([1, 2, 3])
        transpose = f"1v{nx}:{ny * vl}:{vl}x{ny}:{vl}:{nx * vl}x{vl}:1:1"
        listed += [f"{place}k{transpose}" for place in "io"]
    return listed


def verify(launch, program, asked, options):
    """The problems that mpi-bench verified, those that it did not, and what it said of these."""
    passed, failed = 0, []
    for first in range(0, len(asked), 40):
        part = asked[first : first + 40]
        words = [w for p in part for w in ("--verify", p)]
        done = subprocess.run([*launch, program, *options, *words], text=True, capture_output=True)
        verified = len(VERIFIED.findall(done.stdout))
        if done.returncode == 0 and verified == len(part):
            passed += verified
            continue
        for problem in part:  # which one it is
            done = subprocess.run([*launch, program, *options, "--verify", problem], text=True, capture_output=True)
            if done.returncode == 0 and len(VERIFIED.findall(done.stdout)) == 1:
                passed += 1
            else:
                failed.append((problem, (done.stdout + done.stderr)[:600]))
    return passed, failed


def run_verification(arguments, launch_of, folder, precision):
    bad = 0
    options = ["--verbose=1"] + (["-oestimate"] if arguments.effort == "estimate" else [])
    for ranks in arguments.ranks:
        asked = problems(arguments.seed + ranks, arguments.shapes)
        passed, failed = verify(launch_of(ranks), folder / "weft", asked, options)
        print(f"{precision}, {ranks} ranks: {passed} of {len(asked)} problems verified", flush=True)
        for problem, said in failed:
            print(f"  FAILED {problem}\n{said}")
        bad += len(failed)
    return bad


def seconds(launch, program, problem, options):
    """One transform's time: the shortest that mpi-bench measured, as it says by itself."""
    told = command([*launch, program, *options, "--report-time", "-s", problem])
    return float(re.search(r"^\(([0-9.eE+-]+) ", told, re.MULTILINE)[1])  # minimum, average, maximum and median


def run_timing(arguments, launch_of, folder):
    """Both programs in turn, several rounds; medians over rounds."""
    results = []
    options = ["-oestimate"] if arguments.effort == "estimate" else []
    for ranks in arguments.ranks:
        for problem in arguments.problems:
            rounds = {"weft": [], "fftw": []}
            for _ in range(arguments.rounds):
                for name, times in rounds.items():
                    times.append(seconds(launch_of(ranks), folder / name, problem, options))
            medians = {name: statistics.median(times) for name, times in rounds.items()}
            results.append(
                {"ranks": ranks, "effort": arguments.effort, "problem": problem, "seconds": rounds, "median": medians}
            )
            ratio = medians["weft"] / medians["fftw"]
            print(
                f"{ranks} ranks {problem}: weft {medians['weft']:.5f} s, fftw {medians['fftw']:.5f} s, {ratio:.2f}",
                flush=True,
            )
    written = {
        "what": "mpi-bench -s over Weft and over FFTW's own MPI library, alternating; seconds of one transform",
        "cores": os.cpu_count(),
        "date": datetime.date.today().isoformat(),
        "results": results,
    }
    arguments.speed.write_text(json.dumps(written, indent=1) + "\n")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=TOP / "build/release", help="folder of a build of Weft")
    parser.add_argument("--work", type=pathlib.Path, default=TOP / "build/clients", help="where FFTW's source is kept")
    parser.add_argument("--mpirun", default="mpirun.openmpi")
    parser.add_argument("--ranks", type=lambda t: [int(r) for r in t.split(",")], default=[1, 2, 3, 4])
    parser.add_argument("--precision", choices=list(PRECISIONS), help="else both, and double with --speed")
    parser.add_argument("--shapes", type=int, default=24, help="12 problems each, for every number of ranks")
    parser.add_argument("--seed", type=int, default=4711)
    parser.add_argument("--effort", choices=["estimate", "measure"], default="estimate")
    parser.add_argument("--speed", type=pathlib.Path, help="times instead, and writes this file")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--problems", type=lambda t: t.split(","), default=["ocf128x128x128", "icf128x128x128", "ocf256x256x256"]
    )
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    source, build = fetched_source(work), arguments.build.resolve()

    def launch_of(ranks):
        return [str(TOP / "tools/mpirun"), arguments.mpirun, str(ranks)]

    if arguments.speed:
        return run_timing(
            arguments, launch_of, build_programs(source, work, build, arguments.precision or "double", True)
        )
    bad = 0
    for precision in [arguments.precision] if arguments.precision else PRECISIONS:
        bad += run_verification(arguments, launch_of, build_programs(source, work, build, precision, False), precision)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
