"""The command line on the ranks of MPI: rank 0 prints, and only it."""

import json
import os

import pytest
import weft
import weft.cli
from mpi4py import MPI

WORLD = MPI.COMM_WORLD


def run(capsys, *arguments, status=0):
    """What rank 0 says, on all ranks."""
    ended = weft.cli.main(list(arguments))
    out, err = capsys.readouterr()
    if WORLD.rank == 0:
        assert ended == status, err
    else:
        assert (ended, out, err) == (0, "", "")
    return WORLD.bcast(err if status == 2 else out)


@pytest.fixture
def folder(tmp_path):
    """That of rank 0, for all."""
    return WORLD.bcast(tmp_path)


def test_explain(capsys):
    data = json.loads(run(capsys, "explain", "--shape", "8,8,4", "--json"))
    assert data["ranks"] == {"number": WORLD.size, "medium": "mpi"}
    boxes = data["boxes"]["input"]
    assert len(boxes) == WORLD.size and boxes[-1]["hi"] == [8, 8, 4]


def test_bench_and_compare(capsys):
    case = ["--shape", "8,8,4", "--repeat", "2"]
    data = json.loads(run(capsys, "bench", *case, "--peers", "numpy", "--json"))
    assert data["error_l2"] < 1e-14 and "numpy" in data["peers"]
    assert "second/first" in run(capsys, "compare", *case, "--first", "exchange=p2p")
    for between in ("none", "modes", "points"):
        cut = ["--transform", "r2c", "--modes", "5,6,2", "--points", "7,5,4", "--between", between]
        assert json.loads(run(capsys, "bench", *case, *cut, "--json"))["error_l2"] < 1e-14


def test_tune(capsys, folder):
    file = folder / "fft.json"
    case = ["tune", "--shape", "8,8,4", "--trials", "2", "--budget", "2", "--wisdom", str(file), "--quiet", "--json"]
    weft.forget_wisdom()
    trials = json.loads(run(capsys, *case))["trials"]
    assert len(trials) >= 2 or (WORLD.size == 1 and not trials)  # one rank has nothing to choose
    assert file.exists()
    shown = json.loads(run(capsys, "wisdom", "show", str(file), "--json"))
    assert bool(shown["entries"]) == (WORLD.size > 1)
    weft.forget_wisdom()


def test_trace(capsys, folder):
    page = folder / "page.html"
    data = json.loads(run(capsys, "trace", "--shape", "8,8,4", "--to", str(page), "--json"))
    assert data["lanes"] == WORLD.size
    assert page.exists() and [file.name for file in folder.iterdir()] == ["page.html"]


def test_errors(capsys):
    assert "expected one of auto" in run(capsys, "bench", "--exchange", "post", status=2)
    assert "unknown argument --shap" in run(capsys, "bench", "--shap", "8", status=2)
    assert "No such file" in run(capsys, "wisdom", "show", "/no-such-folder", status=2)


def test_what_fails_on_one_rank_fails_on_all():
    from weft.cli._errors import UsageError
    from weft.cli._ranks import Mpi

    def body(comm):
        if comm.rank == comm.size - 1:
            raise UsageError("the last rank")
        return comm.rank

    ranks = Mpi()
    with pytest.raises(UsageError, match="the last rank"):
        ranks.run(body)
    assert ranks.run(lambda comm: comm.rank) == list(range(WORLD.size))
    with pytest.raises(OSError):
        ranks.alone(lambda: os.stat("/no-such-folder/file"))
    assert ranks.alone(lambda: "alone") == "alone"
