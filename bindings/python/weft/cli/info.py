"""`weft info`: what this Weft has, and where it runs."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from typing import Any

import weft
from weft import _core
from weft.cli._main import Report, add_command
from weft.cli._ranks import cores, launched
from weft.cli._screen import Screen

_EXAMPLES = """Examples:
  weft info
  weft info --json > about-this-machine.json
  mpirun -n 2 weft info
      also says whether mpi4py and Weft use the same MPI, without starting it
"""

# In a process of its own: MPI is not initialised here, nor loaded where it does not match.
_PROBE = """
import json, mpi4py
mpi4py.rc.initialize = False
from mpi4py import MPI
from weft import _ranks
from weft._error import Error
theirs = MPI.Get_library_version()
try:
    _ranks.check_mpi(theirs)
    wrong = ""
except Error as error:
    wrong = str(error)
print(json.dumps({"library": _ranks._first_line(theirs), "problem": wrong}))
"""


def add(commands: Any) -> None:
    about = "versions, libraries, MPI, GPU, options and variables"
    add_command(commands, "info", about, _EXAMPLES, run)


def run(arguments: argparse.Namespace) -> Report:
    gpu = _core.gpu()
    data = {
        "version": weft.__version__,
        "python": platform.python_version(),
        "package": os.path.dirname(weft.__file__),
        "versions": {name: version_of(name) for name in ("numpy", "scipy", "mpi4py", "rich")},
        "built_with": weft.built_with(),
        "mpi": mpi(),
        "fft_libraries": [
            {"name": row.name, "version": row.version, "missing": row.missing, "on_gpus": row.on_gpus}
            for row in _core.fft_libraries()
        ],
        "hardware": _core.hardware(),
        "numa_nodes": _core.numa_nodes(),
        "cores": cores(),
        "gpu": {"name": gpu.name, "missing": gpu.missing},
        "wisdom": wisdom(),
        "options": weft.options(),
        "variables": [{"name": v.name, "value": v.value, "meaning": v.meaning} for v in _core.environment_variables()],
    }
    return Report(data, lambda screen: _show(screen, data))


def version_of(package: str) -> str | None:
    """None if it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def mpi() -> dict[str, Any]:
    """What Weft was built for, what mpi4py has, and what is wrong between them."""
    found: dict[str, Any] = {"built_for": None, "library": None, "mpi4py": None, "problem": "", "launched": None}
    found["launched"] = None if launched() is None else dict(zip(("rank", "size"), launched() or (), strict=True))
    if not weft.built_with()["mpi"]:
        found["problem"] = "this Weft was built without MPI: ranks are threads"
        return found
    found["built_for"] = _core.mpi_built_for()
    found["library"] = " ".join(_core.mpi_library_version().split(",")[0].split())
    if version_of("mpi4py") is None:
        found["problem"] = "ranks of MPI need mpi4py: pip install mpi4py"
        return found
    folder = os.path.dirname(os.path.dirname(weft.__file__))
    path = os.pathsep.join([folder, *filter(None, [os.environ.get("PYTHONPATH")])])
    probe = subprocess.run(
        [sys.executable, "-c", _PROBE],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )
    try:
        answer = json.loads(probe.stdout)
    except ValueError:
        said = probe.stderr.strip().splitlines() or [f"exit status {probe.returncode}"]
        found["problem"] = f"mpi4py cannot load its MPI: {said[-1]}"
        return found
    return {**found, "mpi4py": answer["library"], "problem": answer["problem"]}


def wisdom() -> dict[str, Any]:
    """The file that plans of this environment use, if there is one."""
    file = weft.options()["wisdom"]
    return {"file": file or None, "exists": bool(file) and os.path.exists(file)}


def _show(screen: Screen, data: dict[str, Any]) -> None:
    versions = [f"{name} {version}" for name, version in data["versions"].items() if version]
    built = [name for name, there in data["built_with"].items() if there]
    mpi, gpu, wisdom = data["mpi"], data["gpu"], data["wisdom"]
    screen.title(f"weft {data['version']}, in {data['package']}")
    started = mpi["launched"]
    rows = [
        ["python", f"{data['python']} with {', '.join(versions)}"],
        ["built with", ", ".join(built) or "nothing else"],
        ["MPI", f"built for {mpi['built_for']}, runs with {mpi['library']}" if mpi["built_for"] else "none"],
        ["mpi4py", f"{mpi['mpi4py']}: the same MPI" if mpi["mpi4py"] and not mpi["problem"] else mpi["problem"]],
        ["started by", f"mpirun, {started['size']} ranks" if started else "hand: ranks are threads"],
        *([f"FFT: {row['name']}", (row["version"] or f"not here: {row['missing']}")] for row in data["fft_libraries"]),
        ["processor", f"{data['hardware']}; this process may use {data['cores']} cores"],
        ["NUMA", data["numa_nodes"]],
        ["GPU", gpu["name"] or f"none: {gpu['missing']}"],
        ["wisdom", (wisdom["file"] + ("" if wisdom["exists"] else ", not there yet")) if wisdom["file"] else "no file"],
    ]
    screen.table(("", ""), [[name, " ".join(str(text).split())] for name, text in rows])
    screen.text()
    screen.title("options (docs/options.md), as variables and defaults leave them")
    screen.table(("option", "value"), [[name, value or "by rule"] for name, value in data["options"].items()])
    screen.text()
    screen.title("environment variables")
    screen.table(("variable", "value", "meaning"), [[v["name"], v["value"], v["meaning"]] for v in data["variables"]])
