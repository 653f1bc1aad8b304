"""Runs of weft-bench, for the scripts beside this one."""

import json
import pathlib
import subprocess
import tempfile


class RunFailed(Exception):
    """Says why, in a line."""


def run(command: list[str], host: str, limit: float | None = None) -> dict:
    """The JSON of one run, on a machine that is called `host`; `limit`: the seconds that it may take."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [*command, "--json", file.name]
        if limit is not None:
            # mpirun ends its ranks when it is told to stop; a signal that it cannot see would leave them.
            command = ["timeout", "--kill-after=10", str(limit), *command]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError as error:
            raise RunFailed(str(error)) from None
        if limit is not None and done.returncode in (124, 137):
            raise RunFailed(f"no end after {limit} s")
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines()
            said = [text for text in lines if text.startswith("weft")] or lines
            raise RunFailed(said[0] if said else f"exit status {done.returncode}")
        result = json.loads(pathlib.Path(file.name).read_text())
    result["machine"]["host"] = host
    return result


def describe(command: list[str]) -> None:
    """A run of weft-bench --measure-machine."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RunFailed(done.stderr.strip() or f"exit status {done.returncode}")
