"""Runs of weft-bench, for the scripts beside this one."""

import json
import pathlib
import re
import subprocess
import tempfile


class RunFailed(Exception):
    """Says why, in a line."""


class TookTooLong(RunFailed):
    """It had not ended when its time was over."""


def reason(said: str, status: int) -> str:
    """Of what a failed run says, the line that tells most: Weft's own, else the first, with the last if that is only a
    heading. MPI libraries frame messages in lines of dashes, ORTE_ERROR_LOG is about Open MPI's own messages, and the
    number of MPICH's Abort differs from run to run."""
    lines = [text.strip() for text in said.splitlines() if re.search("[A-Za-z]", text) and "ORTE_ERROR_LOG" not in text]
    own = [text for text in lines if text.startswith("weft")]
    first = re.sub(r"^Abort\(\d+\)", "Abort", (own or lines or [f"exit status {status}"])[0])
    return f"{first} {lines[-1]}" if first.endswith(":") and len(lines) > 1 else first


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
            raise TookTooLong(f"no end after {limit:g} s")
        if done.returncode != 0:
            raise RunFailed(reason(done.stderr, done.returncode))
        result = json.loads(pathlib.Path(file.name).read_text())
    result["machine"]["host"] = host
    return result


def describe(command: list[str]) -> None:
    """A run of weft-bench --measure-machine."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RunFailed(done.stderr.strip() or f"exit status {done.returncode}")
