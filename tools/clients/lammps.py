#!/usr/bin/env python3
"""LAMMPS, which does molecular dynamics, with each FFT that it can be built with: its own distributed FFT over KISS FFT
and over FFTW, heFFTe, and heFFTe's interface over Weft. Its sources are Debian's, unchanged.

  tools/clients/lammps.py --weft PREFIX                   all examples on 2 and 4 ranks; `make clients-lammps` does this
  tools/clients/lammps.py --weft PREFIX --heffte PREFIX   with an installed heFFTe as well
  tools/clients/lammps.py --weft PREFIX --only rhodo --ranks 4 --fft fftw3 --fft weft

What is compared are its PPPM examples: the energies of all builds agree to rounding, and each run tells the time of its
mesh part (Kspace) and, measured by LAMMPS itself after the steps (`kspace_modify fftbench yes`), of the FFTs in it.
PREFIX is where a library is installed. Sources and builds are in build/clients; nothing of them gets into this tree.
Results go into bench/results/clients.json; what is there of other cases stays. Nothing else may run meanwhile.
docs/clients.md says what came out.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
from typing import NamedTuple

import debian_source

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
RESULTS = TOP / "bench" / "results" / "clients.json"
SUITE = "trixie"  # the first release of Debian whose LAMMPS can use heFFTe
# Energies of two builds differ by rounding, which some tens of steps of a chaotic motion amplify.
AGREE = 1e-8


# By number of ranks: how LAMMPS itself spreads the lines of a mesh for FFTs, whose x axis every rank holds whole.
GRIDS = {1: "1 1 1", 2: "1 1 2", 4: "1 2 2 map xyz"}


class Failed(Exception):
    """Says why, in a line."""


class Build(NamedTuple):
    """`environment` is of its runs; a build that differs from an earlier one in that alone shares its folder."""

    name: str
    meaning: str
    options: list[str]
    folder: str
    environment: dict[str, str]


class Case(NamedTuple):
    """An example of LAMMPS, with the accuracy that PPPM is asked for, which decides the mesh, and a number of steps."""

    name: str
    example: str
    accuracy: str
    steps: int


CASES = [
    Case("rhodo", "bench/in.rhodo", "1e-4", 20),
    Case("rhodo fine", "bench/in.rhodo", "1e-6", 10),
    Case("peptide", "examples/peptide/in.peptide", "1e-4", 50),
]


def builds(weft: pathlib.Path, heffte: pathlib.Path | None, folder: pathlib.Path) -> list[Build]:
    """`weft`, `heffte`: prefixes under which they are installed; without the latter there is no build with it."""
    # Trials are made in the first run of a case, and found in wisdom by the others.
    patient = {"WEFT_EFFORT": "patient", "WEFT_BUDGET": "20s", "WEFT_WISDOM": str(folder / "wisdom.json")}

    def through_heffte(folder: pathlib.Path) -> list[str]:
        # Disconnected: where LAMMPS finds no heFFTe it would fetch one, and that would be measured as something else.
        return ["-DFFT=FFTW3", "-DFFT_USE_HEFFTE=ON", f"-DHeffte_DIR={folder}", "-DFETCHCONTENT_FULLY_DISCONNECTED=ON"]

    made = [
        Build("kiss", "LAMMPS' own, KISS FFT", ["-DFFT=KISS"], "lammps-kiss", {}),
        Build("fftw3", "LAMMPS' own, FFTW", ["-DFFT=FFTW3"], "lammps-fftw3", {}),
    ]
    if heffte:
        made.append(Build("heffte", "heFFTe, FFTW", through_heffte(package_in(heffte, "Heffte")), "lammps-heffte", {}))
    over_weft = through_heffte(package_in(weft, "weft/heffte"))
    made.append(Build("weft", "Weft", over_weft, "lammps-weft", {}))
    lines = {"WEFT_FFT_EFFORT": "measure"}
    made.append(Build("weft fft", "Weft, FFTW measuring", over_weft, "lammps-weft", lines))
    made.append(Build("weft patient", "Weft, effort patient", over_weft, "lammps-weft", patient))
    return made


def package_in(prefix: pathlib.Path, package: str) -> pathlib.Path:
    for folder in sorted(prefix.glob(f"lib*/**/cmake/{package}")):
        if (folder / "HeffteConfig.cmake").exists():
            return folder.resolve()
    raise Failed(f"{prefix} has no lib/cmake/{package}/HeffteConfig.cmake: is it the prefix of an installation?")


def compile_one(build: Build, sources: pathlib.Path, folder: pathlib.Path, jobs: int) -> None:
    """LAMMPS with this FFT. All builds are C++20, which Weft's package asks for: they differ in nothing else, and a
    compiler cache serves."""
    where = folder / build.folder
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O2", "-DCMAKE_CXX_STANDARD=20"]
    options += [f"-DPKG_{package}=ON" for package in ("KSPACE", "MOLECULE", "RIGID")]
    options += ["-DBUILD_MPI=ON", "-DMPI_CXX_COMPILER=mpicxx.openmpi"]
    options += ["-DBUILD_OMP=OFF", "-DFFT_FFTW_THREADS=OFF"]
    options += ["-DWITH_PNG=OFF", "-DWITH_JPEG=OFF", "-DWITH_GZIP=OFF"]
    print(f"building LAMMPS with {build.meaning}", flush=True)
    with open(folder / f"{build.folder}.log", "w") as log:
        for command in (
            ["cmake", "-G", "Ninja", "-S", str(sources / "cmake"), "-B", str(where), *options, *build.options],
            ["cmake", "--build", str(where), "--parallel", str(jobs), "--target", "lmp"],
        ):
            if subprocess.run(command, stdout=log, stderr=log, check=False).returncode != 0:
                raise Failed(f"LAMMPS with {build.meaning} was not built: see {log.name}")
    cache = (where / "CMakeCache.txt").read_text()
    for option in build.options:
        name, value = option[2:].split("=")
        if not re.search(rf"^{name}:\w+={re.escape(value)}$", cache, flags=re.MULTILINE):
            raise Failed(f"LAMMPS with {build.meaning} was built without {option}: see {where}/CMakeCache.txt")


def input_of(case: Case, ranks: int, sources: pathlib.Path) -> str:
    """The example with FFTs timed, energies in all their digits, so many steps, and the grid of ranks that gives each
    rank the same part of the mesh for its atoms and for FFTs. Otherwise LAMMPS' forces are wrong with heFFTe, as with
    Weft: it calls backward as if that led from inbox to outbox."""
    text = (sources / case.example).read_text()
    for line, instead in (
        (r"^units.*$", rf"\g<0>\nprocessors {GRIDS[ranks]}"),
        (r"^kspace_style.*$", f"kspace_style pppm {case.accuracy}\nkspace_modify fftbench yes"),
        (r"^thermo_style.*$", "thermo_style custom step pe etotal elong\nthermo_modify format float %.15g"),
        (r"^thermo\s+\d+$", "thermo 5"),
        (r"^run.*$", f"run {case.steps}"),
    ):
        text, found = re.subn(line, instead, text, flags=re.MULTILINE)
        if found != 1:
            raise Failed(f"{case.example} has {found} lines like {line}, not one: another version of LAMMPS?")
    return text


def read(log: str, case: Case) -> dict:
    """What LAMMPS says of a run: times in seconds per step, and the rows of energies."""

    def number(pattern: str) -> float:
        found = re.search(pattern, log, flags=re.MULTILINE)
        if not found:
            raise Failed(f"LAMMPS' log has no line like {pattern}")
        return float(found[1])

    # Between the rows of the table fix shake tells of its own.
    table = re.search(r"^ *Step +PotEng .*\n((?:.*\n)+?)Loop time", log, flags=re.MULTILINE)
    rows = re.findall(r"^ *\d+(?: +-?\d[-+.\de]*){3} *$", table[1] if table else "", flags=re.MULTILINE)
    if not rows:
        raise Failed("LAMMPS' log has no table of energies")
    return {
        "grid": [int(length) for length in re.search(r"^ *grid = (\d+) (\d+) (\d+)", log, flags=re.MULTILINE).groups()],
        "fft": number(r"^FFT time \(% of Kspce\) = (\S+)") / case.steps,
        "kspace": number(r"^Kspace *\|[^|]*\| *(\S+)") / case.steps,
        "step": number(r"^Loop time of (\S+)") / case.steps,
        "energies": [[float(word) for word in row.split()] for row in rows],
    }


def run(build: Build, case: Case, ranks: int, sources: pathlib.Path, folder: pathlib.Path) -> dict:
    """One run of a build that was compiled in `folder`; what LAMMPS says of it."""
    where = folder / "run"
    where.mkdir(exist_ok=True)
    (where / "in").write_text(input_of(case, ranks, sources))
    command = [str(TOP / "tools" / "mpirun"), "mpirun.openmpi", str(ranks), str(folder / build.folder / "lmp")]
    command += ["-in", str(where / "in"), "-log", str(where / "log"), "-screen", "none"]
    done = subprocess.run(
        command,
        cwd=(sources / case.example).parent,
        env={**os.environ, **build.environment},
        capture_output=True,
        text=True,
        check=False,
    )
    log = (where / "log").read_text()
    if done.returncode != 0:
        said = [line for line in (done.stderr + log).splitlines() if "weft" in line or "ERROR" in line]
        raise Failed(f"LAMMPS with {build.meaning}, {case.name} on {ranks} ranks: {(said or ['no reason given'])[0]}")
    return read(log, case)


def furthest(energies: list, others: list) -> float:
    """The largest relative difference of two runs' energies, of all steps that are told."""
    if [row[0] for row in energies] != [row[0] for row in others]:
        return float("inf")
    pairs = [pair for row, other in zip(energies, others, strict=True) for pair in zip(row, other, strict=True)]
    return max(abs(a - b) / max(abs(a), abs(b), 1e-300) for a, b in pairs)


def compare_one(case: Case, ranks: int, made: list[Build], sources: pathlib.Path, settings) -> dict:
    """All builds in turn, `settings.repeat` times, each round begun by another one."""
    names = [build.name for build in made]
    results = {name: [] for name in names}
    for repeat in range(settings.repeat):
        first = repeat % len(names)
        for build in made[first:] + made[:first]:
            results[build.name].append(run(build, case, ranks, sources, settings.folder))
    one = results[names[0]][0]
    kept = {"grid": one["grid"], "ranks": ranks, "steps": case.steps, "accuracy": case.accuracy, "builds": {}}
    for name in names:
        times = {what: [result[what] for result in results[name]] for what in ("fft", "kspace", "step")}
        differs = max(furthest(one["energies"], result["energies"]) for result in results[name])
        if not differs < AGREE:
            raise Failed(
                f"{case.name} on {ranks} ranks: energies with {name} differ from {names[0]}'s by {differs:.1e}"
            )
        medians = {what: statistics.median(values) for what, values in times.items()}
        kept["builds"][name] = {**medians, "runs": times, "energies_differ": differs}
    return kept


def show(title: str, result: dict, meanings: dict) -> None:
    mesh = " x ".join(str(length) for length in result["grid"])
    print(f"\n{title}: mesh {mesh}, median of {len(next(iter(result['builds'].values()))['runs']['fft'])}, ms per step")
    print(f"  {'':28} {'FFTs':>8} {'Kspace':>8} {'step':>8}   FFTs over")
    for name, times in result["builds"].items():
        over = [
            f"{other} {times['fft'] / result['builds'][other]['fft']:.2f}"
            for other in result["builds"]
            if other != name
        ]
        figures = " ".join(f"{times[what] * 1e3:8.3f}" for what in ("fft", "kspace", "step"))
        print(f"  {meanings[name]:28} {figures}   {', '.join(over)}", flush=True)


def keep(found: dict, file: pathlib.Path) -> None:
    """Adds results to a file."""
    kept = json.loads(file.read_text()) if file.exists() else {}
    kept.setdefault("lammps", {}).update(found)
    file.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")


def compare(settings: argparse.Namespace) -> None:
    """Builds and runs all that is asked for; each result is shown and kept when it is there."""
    if settings.source:
        sources, version = settings.source, "given"
    else:
        sources = debian_source.fetch("lammps", SUITE, settings.mirror, settings.folder)
        version = debian_source.version("lammps", SUITE, settings.folder)
    made = [
        build
        for build in builds(settings.weft, settings.heffte, settings.folder)
        if not settings.fft or build.name in settings.fft
    ]
    for folder in dict.fromkeys(build.folder for build in made):
        compile_one(next(build for build in made if build.folder == folder), sources, settings.folder, settings.jobs)
    told = {"version": version, "host": settings.host, "date": datetime.date.today().isoformat()}
    for case in CASES:
        for ranks in settings.ranks:
            title = f"{case.name}, {ranks} ranks"
            if settings.repeat > 0 and (not settings.only or case.name in settings.only):
                result = {**told, **compare_one(case, ranks, made, sources, settings)}
                keep({title: result}, settings.json)
                show(title, result, {build.name: build.meaning for build in made})


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    path, add = pathlib.Path, arguments.add_argument
    add("--weft", type=path, required=True, help="prefix of an installed Weft, built with Open MPI")
    add("--heffte", type=path, help="prefix of an installed heFFTe with FFTW, built with Open MPI")
    add("--only", action="append", choices=[case.name for case in CASES], help="this case (may be repeated); all")
    add("--fft", action="append", help="kiss, fftw3, heffte, weft, 'weft fft', 'weft patient' (may be repeated); all")
    add("--ranks", type=int, action="append", choices=GRIDS, help="so many MPI ranks (may be repeated); 2 and 4")
    add("--repeat", type=int, default=5, help="runs of each; 5. With 0 all is built and nothing run")
    add("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="of builds")
    add("--folder", type=path, default=TOP / "build" / "clients", help="for sources and builds")
    add("--source", type=path, help="unpacked sources of LAMMPS, which then are not fetched")
    add("--mirror", default="", help="of Debian; this machine's")
    add("--json", type=path, default=RESULTS, help="for the results")
    add("--host", default="this machine", help="what the results call the machine")
    settings = arguments.parse_args()
    settings.ranks = settings.ranks or [2, 4]
    settings.folder = settings.folder.resolve()
    settings.folder.mkdir(parents=True, exist_ok=True)
    try:
        compare(settings)
    except (debian_source.NotThere, Failed) as error:
        print(f"clients: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
