"""What the command line does when something is missing or goes wrong, and whether its examples are calls that exist."""

import fcntl
import json
import os
import pathlib
import re
import shlex
import sys
import types

import pytest
import weft
import weft.cli
from command_line import COMMANDS, fail, run_json
from weft.cli import _main, _ranks

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/command-line.md"


def calls_in(text: str) -> list[str]:
    """The arguments of indented lines that call weft, alone or under mpirun, without what the shell does."""
    found = re.findall(r"^ +(?:\$ )?(?:mpirun -n \d+ )?weft ([a-z]+ .*|info)$", text, re.MULTILINE)
    return [call.split("  ")[0].split(" > ")[0].rstrip() for call in found]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_examples_of_help(command, capsys):
    weft.cli.main([*command, "--help"])
    calls = calls_in(capsys.readouterr().out.split("Examples:")[1])
    assert calls
    for call in calls:
        _main.parse(shlex.split(call))


def test_calls_on_the_page():
    calls = calls_in(PAGE.read_text())
    assert {call.split()[0] for call in calls} == {command[0] for command in COMMANDS}
    for call in calls:
        _main.parse(shlex.split(call))


def test_keys_on_the_page(capsys, tmp_path):
    """What JSON has is documented."""
    rows = [
        line.split("|")[1:-1] for line in PAGE.read_text().split("## JSON")[1].splitlines() if line.startswith("| ")
    ]
    documented = {name.strip().strip("`"): keys for name, keys in rows}
    common = documented["all"] + documented["those with a problem"]
    small = ["--shape", "6,6", "--comm", "threads:2"]
    file = str(tmp_path / "fft.json")
    (tmp_path / "fft.json").write_text('{"weft_wisdom": 1}')
    for name, arguments in {
        "info": [],
        "explain": small,
        "bench": [*small, "--repeat", "1"],
        "tune": [*small, "--trials", "1", "--quiet", "--wisdom", file],
        "wisdom show": [file],
        "wisdom merge": [file, "--into", file],
        "wisdom prune": [file, "--unfinished"],
        "trace": [*small, "--to", str(tmp_path / "page.html")],
        "compare": [*small, "--repeat", "1", "--first", "layout=strided"],
    }.items():
        for key in run_json(capsys, *name.split(), *arguments):
            assert f"`{key}`" in common + documented[name], (name, key)


def test_the_unforeseen_ends_all_ranks(monkeypatch, capsys):
    aborted = []
    world = types.SimpleNamespace(Abort=aborted.append)

    def broken(arguments):
        raise RuntimeError("unforeseen")

    monkeypatch.setattr("weft.cli.info.mpi", broken)
    monkeypatch.setattr("weft.cli.info.version_of", broken)
    with pytest.raises(RuntimeError):
        weft.cli.main(["info"])
    assert not aborted
    monkeypatch.setattr("weft.cli._main.launched", lambda: (0, 2))
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", types.SimpleNamespace(COMM_WORLD=world))
    with pytest.raises(RuntimeError):
        weft.cli.main(["info"])
    assert aborted == [1] and "unforeseen" in capsys.readouterr().err


def test_without_mpi4py(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    assert "pip install mpi4py" in fail(capsys, "explain", "--shape", "4,4", "--comm", "mpi")
    monkeypatch.setattr("weft.cli.info.version_of", lambda package: None)
    mpi = run_json(capsys, "info")["mpi"]
    assert "pip install mpi4py" in mpi["problem"] or not mpi["built_for"]
    monkeypatch.setattr("weft.built_with", lambda: {"mpi": False, "fftw": True, "mkl": False})
    data = run_json(capsys, "info")
    assert data["mpi"]["built_for"] is None and "built without MPI" in data["mpi"]["problem"]


def test_without_scipy(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "scipy.fft", None)
    monkeypatch.setitem(sys.modules, "scipy", None)
    assert "pip install scipy" in fail(capsys, "bench", "--shape", "4,4", "--comm", "threads:1", "--peers", "scipy")


@pytest.mark.parametrize("broken", [(os, "replace"), (fcntl, "flock")], ids=lambda what: what[1])
def test_wisdom_that_cannot_be_replaced(broken, monkeypatch, capsys, tmp_path):
    file = tmp_path / "fft.json"
    entry = {"options": {}, "seconds": 1.0, "trials": 1}
    text = json.dumps({"weft_wisdom": 1, "problems": {"m": {"p; effort unfinished": entry}}})
    file.write_text(text)

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(*broken, full)
    assert "No space left on device" in fail(capsys, "wisdom", "prune", str(file), "--unfinished")
    assert file.read_text() == text
    assert {f.name for f in tmp_path.iterdir()} == {"fft.json", "fft.json.lock"}


def test_pages_that_cannot_be_written(monkeypatch, capsys, tmp_path):
    trace = tmp_path / "trace.json"
    trace.write_text('{"traceEvents": []}')
    assert "No such file" in fail(capsys, "trace", str(trace), "--to", str(tmp_path / "no/page.html"))
    monkeypatch.setattr("os.access", lambda *arguments: False)
    assert "may not write it" in fail(capsys, "trace", "--to", str(tmp_path / "page.html"))


def test_numbers_that_json_does_not_have():
    assert _main.finite({"a": [1.5, float("inf"), (float("nan"), "b")]}) == {"a": [1.5, None, [None, "b"]]}


def test_cores(monkeypatch):
    assert _ranks.cores() >= 1
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert _ranks.cores() == (os.cpu_count() or 1)
