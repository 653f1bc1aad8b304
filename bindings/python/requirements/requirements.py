"""What the package needs at run time, as its build tells pip: NumPy, and Intel MKL where it is built without FFTW.

A provider of dynamic metadata, called by scikit-build-core. What is found is decided by the CMake code that the build
itself uses, in a project of one file.
"""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
ALWAYS = ["numpy>=1.25"]
MKL = "mkl; sys_platform == 'linux' and platform_machine == 'x86_64'"


class Requirements:
    """One build's answer."""

    def __init__(self) -> None:
        self.state = "wheel"

    def build_state(self, state: str) -> None:
        self.state = state

    def dynamic_wheel(self, settings: Mapping[str, Any]) -> dict[str, bool]:
        """A source distribution does not know yet where it will be built."""
        return {"dependencies": True}

    def dynamic_metadata(self, settings: Mapping[str, Any], project: Mapping[str, Any]) -> dict[str, list[str]]:
        there = self.state == "sdist" or fftw_is_there()
        return {"dependencies": ALWAYS if there else [*ALWAYS, MKL]}


def fftw_is_there() -> bool:
    """Whether CMake finds FFTW in double and single precision with threads. Without a C compiler it is an error."""
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["cmake", *generator, "-S", str(HERE), "-B", folder], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"CMake cannot look for FFTW:\n{done.stdout}{done.stderr}")
        return (pathlib.Path(folder) / "fftw_found").read_text().strip() in ("TRUE", "1")
