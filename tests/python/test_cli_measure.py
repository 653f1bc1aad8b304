"""The commands that execute plans: bench, compare, tune."""

import io
import json
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
import weft
from command_line import fail, run, run_json
from weft.cli import _measure, tune
from weft.cli._problem import Case
from weft.cli._ranks import Threads

SMALL = ["--shape", "12,10,8", "--comm", "threads:2", "--repeat", "3"]


@pytest.mark.parametrize("transform", ["c2c", "r2c", "dct2", "c2c,none,r2c"])
def test_bench(transform, capsys):
    data = run_json(capsys, "bench", *SMALL, "--transform", transform, "--precision", "float", "--batch", "2")
    assert list(data["directions"]) == ["forward", "backward"]
    for direction in data["directions"].values():
        assert len(direction["times_s"]) == 3
        low, high = direction["quartiles_s"]
        assert 0 < direction["min_s"] <= low <= direction["median_s"] <= high
    assert 0 < data["error_l2"] < 1e-5
    assert data["gflops"] > 0 and data["planning_s"] > 0 and data["workspace_bytes"] > 0
    assert data["problem"]["transform"] == transform


@pytest.mark.parametrize("between", ["none", "modes", "points"])
@pytest.mark.parametrize(
    ("transform", "modes"),
    [("c2c", "8,7,5"), ("r2c", "7,8,4"), ("r2c", ""), ("dct2", "5,4,3"), ("c2c,none,r2c", "6,10,3")],
)
@pytest.mark.parametrize("points", ["", "9,10,5"])
def test_bench_of_cut_transforms(transform, modes, points, between, capsys):
    arguments = [text for name, value in (("--modes", modes), ("--points", points)) if value for text in (name, value)]
    for ranks in (1, 3):
        case = ["--shape", "12,10,8", "--comm", f"threads:{ranks}", "--repeat", "1", "--batch", "2"]
        data = run_json(capsys, "bench", *case, "--transform", transform, "--between", between, *arguments)
        assert 0 < data["error_l2"] < 1e-14
        problem = data["problem"]
        assert problem.get("modes") == ([int(n) for n in modes.split(",")] if modes else None)
        assert problem.get("points") == ([int(n) for n in points.split(",")] if points else None)
        assert problem.get("between", "none") == between


def test_the_error_of_cut_transforms_is_found(capsys, monkeypatch):
    execute = _measure._Rank.execute

    def wrong(self, direction):
        execute(self, direction)
        if direction == "forward":
            self._y[...] *= 1.001

    monkeypatch.setattr(_measure._Rank, "execute", wrong)
    case = [*SMALL, "--transform", "r2c", "--modes", "7,8,4", "--points", "9,10,5"]
    assert run_json(capsys, "bench", *case)["error_l2"] == pytest.approx(1e-3)


def test_other_commands_of_cut_transforms(capsys):
    case = ["--shape", "12,10,8", "--comm", "threads:2", "--modes", "8,7,5", "--between", "points"]
    data = run_json(capsys, "explain", *case)
    assert data["boxes"]["input"][1]["hi"] == [8, 7, 5]
    data = run_json(capsys, "compare", *case, "--repeat", "1", "--first", "exchange=copy")
    assert data["problem"]["modes"] == [8, 7, 5]


@pytest.mark.parametrize(
    ("case", "shape", "line"),
    [
        ("--line 96", [8, 12], [0, 1]),
        ("--line 96 --transform r2c --output transposed", [8, 12], [0, 1]),  # the modes 0 to 48
        ("--line 45 --transform r2c", [5, 9], [0, 1]),
        ("--line 96 --transform r2c,c2c", [8, 12], [0, 1]),  # those of half of the columns
        ("--shape 8,6 --line 1,0 --input brick", [8, 6], [1, 0]),
        ("--shape 5,6,10 --line 1,2", [5, 6, 10], [1, 2]),
        ("--shape 5,6,10 --line 0,2 --transform r2c,c2c,c2c", [5, 6, 10], [0, 2]),
        ("--shape 5,6,10 --line 1,2 --transform dct2,c2c,r2c", [5, 6, 10], [1, 2]),
        ("--shape 12,6,10 --line 1,2 --modes 8,6,10", [12, 6, 10], [1, 2]),
    ],
)
def test_bench_of_lines(case, shape, line, capsys):
    for ranks in (1, 3):
        data = run_json(capsys, "bench", *case.split(), "--comm", f"threads:{ranks}", "--repeat", "1", "--batch", "2")
        assert 0 < data["error_l2"] < 1e-14
        assert (data["problem"]["shape"], data["problem"]["line"]) == (shape, line)
        assert f"axes {line[0]} and {line[1]} one line" in data["plan"]


def test_a_line_beside_others(capsys):
    for transform in ("c2c", "r2c", "r2c,c2c"):
        case = ["--line", "96", "--comm", "threads:2", "--transform", transform, "--repeat", "1", "--batch", "3"]
        data = run_json(capsys, "bench", *case, "--peers", "scipy,numpy,whole")
        assert list(data["peers"]) == ["scipy", "numpy", "whole"]
    line = Case((8, 12), "r2c", line=(0, 1))
    x = np.random.default_rng(0).standard_normal(96)
    for name in ("scipy", "numpy", "whole"):
        functions = _measure._peer_functions(name, line, 1)
        modes = functions["forward"](x)
        np.testing.assert_allclose(modes, np.fft.rfft(x), atol=1e-12)
        np.testing.assert_allclose(functions["backward"](modes), x, atol=1e-14)


def test_other_commands_of_lines(capsys, tmp_path):
    case = ["--line", "96", "--transform", "r2c", "--output", "transposed", "--comm", "threads:2"]
    data = run_json(capsys, "explain", *case)
    assert [box["hi"] for box in data["boxes"]["output"]] == [[8, 4], [8, 7]]  # 49 modes, and 7 that fill the row
    assert [stage["kind"] for stage in data["stages"]][-1] == "join"
    data = run_json(capsys, "compare", *case, "--repeat", "1", "--first", "exchange=copy")
    assert data["problem"]["line"] == [0, 1]
    data = run_json(capsys, "trace", *case, "--to", str(tmp_path / "page.html"))
    names = {o["name"] for o in data["operations"]}  # the halves of its modes are no axis of the user's
    assert {"fft axis 0", "fft axis 1", "join halves", "split halves"} <= names and not any("2" in n for n in names)
    data = run_json(capsys, "tune", *case, "--trials", "1", "--quiet", "--wisdom", str(tmp_path / "fft.json"))
    assert data["problem"]["shape"] == [8, 12] and "one line" in data["plan"]


def test_bench_beside_others(capsys):
    data = run_json(capsys, "bench", *SMALL, "--transform", "r2c", "--peers", "scipy,numpy,whole")
    assert list(data["peers"]) == ["scipy", "numpy", "whole"]
    text = run(capsys, "bench", *SMALL, "--peers", "scipy", "--direction", "backward")
    assert "scipy" in text and "weft plan: 12x10x8" in text and " forward " not in text.split("repetitions")[1]


def test_outputs_by_name(capsys):
    for output in ("natural", "transposed", "slab1", "pencil", "brick", "fastest", "pencil2"):
        data = run_json(capsys, "explain", *SMALL[:4], "--output", output)
        boxes = data["boxes"]["output"]
        if output == "natural":
            assert boxes[1]["lo"] == [6, 0, 0]
        if output == "transposed":
            assert boxes[1]["lo"] == [0, 5, 0] and boxes[0]["order"] == [1, 0, 2]


def test_the_slowest_rank_counts():
    class Rank:
        def __init__(self, seconds):
            self.seconds = seconds

        def execute(self, direction):
            time.sleep(self.seconds)

    plan = _measure.Weft("weft", Threads(2), Case((8, 8)))
    plan._of = {0: Rank(0), 1: Rank(0.02)}
    assert plan.run("forward") >= 0.02


def test_contenders_take_turns():
    order = []

    class Contender:
        def __init__(self, name):
            self.name = name

        def run(self, direction):
            order.append(self.name + direction[0])
            return 1.0

    times = _measure.in_turns([Contender("a"), Contender("b")], ("forward", "backward"), 2)
    assert times["a"] == {"forward": [1.0, 1.0], "backward": [1.0, 1.0]}
    assert order[:8] == ["af", "ab", "bf", "bb", "bf", "bb", "af", "ab"]


def test_compare_two_plans(capsys):
    case = ["compare", *SMALL, "--first", "exchange=copy", "--second", "exchange=direct"]
    data = run_json(capsys, *case)
    assert data["kind"] == "plans" and data["options"]["first"] == {"exchange": "copy"}
    for row in data["rows"]:
        assert row["ratio"] == pytest.approx(row["second_s"] / row["first_s"])
    assert run_json(capsys, *case, "--allowed", "1e-6", status=1)["slower"] == ["forward", "backward"]
    assert "second/first" in run(capsys, *case)


def test_compare_results(capsys, tmp_path):
    mine = run_json(capsys, "bench", *SMALL)
    other = json.loads(json.dumps(mine))
    other["problem"]["shape"] = [12, 10, 4]
    for direction in other["directions"].values():
        direction["median_s"] *= 2
    # As the C++ program writes it.
    of_bench = {"median_s": 0.5, "problem": {"shape": "12,10,8", "direction": "forward"}}
    files = []
    for name, result in (("mine", mine), ("other", other), ("bench", of_bench)):
        files.append(str(tmp_path / f"{name}.json"))
        (tmp_path / f"{name}.json").write_text(json.dumps(result))
    data = run_json(capsys, "compare", *files[:2])
    assert [row["ratio"] for row in data["rows"]] == pytest.approx([2, 2])
    assert data["notes"] == ["problem shape: 12,10,8 and 12,10,4"]
    other["problem"] |= {"shape": [12, 10, 8], "modes": [12, 10, 4]}
    (tmp_path / "cut.json").write_text(json.dumps(other))
    notes = run_json(capsys, "compare", files[0], str(tmp_path / "cut.json"))["notes"]
    assert notes == ["problem modes: None and 12,10,4"]
    data = run_json(capsys, "compare", files[0], files[2])
    assert [row["what"] for row in data["rows"]] == ["forward", "backward"]
    assert data["rows"][0]["second_s"] == 0.5 and data["rows"][1]["ratio"] is None
    assert "not alike: problem shape" in run(capsys, "compare", *files[:2])
    (tmp_path / "trace.json").write_text('{"traceEvents": []}')
    assert "a benchmark and a trace" in fail(capsys, "compare", files[0], str(tmp_path / "trace.json"))
    assert "expected two files, or" in fail(capsys, "compare", *files[:2], "--first", "tile=2")


def test_tune(capsys, tmp_path):
    file = tmp_path / "fft.json"
    case = ["tune", "--shape", "8,8,8", "--comm", "threads:2", "--trials", "3", "--budget", "3", "--wisdom", str(file)]
    weft.forget_wisdom()
    assert weft.cli.main([*case, "--json"]) == 0
    said = capsys.readouterr()
    data = json.loads(said.out)
    assert said.err.startswith("trial 1 of 3: as the rules choose: ") and " s left\n" in said.err
    assert said.err.count("\n") == len(data["trials"]) >= 3
    assert 0 < data["best_s"] <= data["rules_s"]
    assert json.loads(file.read_text())["weft_wisdom"] == 1
    assert data["best_options"] == data["explanation"]["candidates"][0]["options"]
    weft.forget_wisdom()
    text = run(capsys, *case, "--quiet")
    assert "no trials: as wisdom has it" in text and f"WEFT_WISDOM={file}" in text


def test_progress_on_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    class Told:
        round, trial, most_trials, options, seconds = "candidate", 2, 9, {"tile": "8"}, 0.002
        best_options, best_seconds, is_best, seconds_left = {}, 0.001, False, 3.25

    monkeypatch.setattr("weft.cli._screen.launched", lambda: None)
    terminal = Terminal()
    progress = tune.Progress(terminal)
    progress.told(Told())
    progress.end()
    line = "trial 2 of 9: tile 8: 2 ms; best 1 ms: as the rules choose; 3.2 s left"
    assert terminal.getvalue() == f"\r\x1b[K{line[: tune._width()]}\r\x1b[K"


def test_the_last_round_decides():
    """Times of an earlier round, in which the machine was faster, do not."""
    progress = tune.Progress(None)
    rounds = [
        ("candidate", {}, 0.010),
        ("candidate", {"exchange": "copy"}, 0.009),
        ("candidate", {"tile": "8"}, 0.0095),
        ("play-off", {"exchange": "copy"}, 0.012),
        ("play-off", {"tile": "8"}, 0.013),
        ("point", {"exchange": "copy", "tile": "4"}, 0.001),
    ]
    for name, tried, took in rounds:
        progress.told(SimpleNamespace(round=name, trial=1, options=tried, seconds=took))
    assert progress.result() == {"rules_s": 0.010, "best_s": 0.009, "best_options": {"exchange": "copy"}}
    progress.told(SimpleNamespace(round="final", trial=1, options={"tile": "4"}, seconds=0.011))
    assert progress.result() == {"rules_s": 0.010, "best_s": 0.011, "best_options": {"tile": "4"}}


def test_tune_is_interrupted(tmp_path):
    """Ctrl-C ends trials on thread ranks, and what they have found stays."""
    file = tmp_path / "fft.json"
    case = ["--shape", "32,32,32", "--comm", "threads:2", "--effort", "patient", "--trials", "100000", "--budget", "60"]
    command = [sys.executable, "-m", "weft", "tune", *case, "--wisdom", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        for _ in range(2):
            assert process.stderr.readline().startswith("trial ")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, ""), err
    assert err.splitlines()[-1] == "weft: interrupted"
    assert json.loads(file.read_text())["problems"]


def test_interrupted(monkeypatch, capsys):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("weft.cli._measure.in_turns", interrupted)
    assert weft.cli.main(["bench", *SMALL]) == 130
    assert capsys.readouterr().err == "weft: interrupted\n"
