#!/usr/bin/env python3
"""How much of the Python package its tests execute: python_coverage.py BUILD [--least 98] [--launcher mpirun.openmpi]
[--also FILE...].

The tests run on this process with its threads, and under the launcher on 1, 2 and 4 ranks, with child processes.
For each of these and for all together it prints how many percent of lines and branches ran; then those that never
did. Fails if tests fail, or if all together are below the least. It needs `coverage` (pip install coverage).

What needs a GPU runs where there is one: there this command leaves BUILD/coverage/data-together, and `--also FILE`
counts here what was executed there, of the same sources. So it is with modules that are in another environment only.
"""

import argparse
import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[1]
TESTS = TOP / "tests/python"
SETTINGS = """[run]
branch = true
parallel = true
source_pkgs = weft
patch = subprocess
core = {core}
data_file = {data}
[paths]
package =
    {top}/bindings/python/weft
    */bindings/python/weft
[report]
skip_covered = true
show_missing = true
precision = 1
exclude_also =
    if TYPE_CHECKING:
"""


class Coverage:
    """Runs of the tests of the package in one build."""

    def __init__(self, build: pathlib.Path, launcher: str) -> None:
        self.folder = build.resolve() / "coverage"
        self.folder.mkdir(exist_ok=True)
        for old in self.folder.glob("data*"):
            old.unlink()
        self.launcher = launcher
        self.environment = os.environ | {
            "PYTHONPATH": str(build.resolve() / "python"),
            "MPI4PY_MPIABI": "mpich" if "mpich" in launcher else "openmpi",
        }

    def settings(self, name: str) -> str:
        file = self.folder / f"{name}.rc"
        core = "sysmon" if sys.version_info >= (3, 14) else "ctrace"
        file.write_text(SETTINGS.format(core=core, top=TOP, data=self.folder / f"data-{name}"))
        return f"--rcfile={file}"

    def coverage(self, *arguments: str, **more) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "coverage", *arguments]
        return subprocess.run(command, env=self.environment, check=True, **more)

    def run(self, name: str, ranks: int | None, tests: list[str]) -> None:
        """The tests on ranks of MPI, or on this process alone."""
        started = [] if ranks is None else [str(TOP / "tools/mpirun"), self.launcher, str(ranks)]
        pytest = ["-m", "pytest", "-q", "--color=no", "-p", "no:cacheprovider", *tests]
        command = [*started, sys.executable, "-B", "-m", "coverage", "run", self.settings(name), *pytest]
        with (self.folder / f"{name}.log").open("w") as log:
            done = subprocess.run(command, env=self.environment, stdout=log, stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            sys.exit(f"the tests failed ({name}): see {log.name}")

    def combined(self, name: str, runs: list[str], also: list[pathlib.Path] = ()) -> float:
        """Percent of lines and branches that these runs executed, here and elsewhere; their data become one file."""
        parts = [str(file) for run in runs for file in self.folder.glob(f"data-{run}.*")] + [str(file) for file in also]
        settings = self.settings(name)
        self.coverage("combine", "--quiet", "--keep", settings, *parts)
        total = self.coverage("report", settings, "--format=total", capture_output=True, text=True)
        return float(total.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path, help="a build with WEFT_PYTHON=ON")
    parser.add_argument("--launcher", default="mpirun.openmpi", help="that of its MPI; none: without MPI")
    parser.add_argument("--least", type=float, default=98, help="percent; fewer are a failure")
    parser.add_argument("--also", nargs="*", default=[], type=pathlib.Path, help="data-together of other machines")
    options = parser.parse_args()
    coverage = Coverage(options.build, options.launcher)
    here = [f"--ignore={TESTS / 'mpi'}", f"--ignore={TESTS / 'install_test.py'}", str(TESTS)]
    plan = {"alone": (None, here)}
    if options.launcher != "none":
        plan |= {f"ranks{n}": (n, [str(TESTS / "mpi")]) for n in (1, 2, 4)}
    for name, (ranks, tests) in plan.items():
        coverage.run(name, ranks, tests)
        print(f"{name}: {coverage.combined('all-of-' + name, [name]):.1f}%", flush=True)
    total = coverage.combined("together", list(plan), [file.resolve(strict=True) for file in options.also])
    coverage.coverage("report", coverage.settings("together"))
    print(f"together: {total:.1f}% of lines and branches, at least {options.least:g}% wanted")
    return 0 if total >= options.least else 1


if __name__ == "__main__":
    sys.exit(main())
