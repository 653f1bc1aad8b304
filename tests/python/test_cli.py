"""The command line: what is there, what a plan does, and clear words for wrong calls."""

import doctest
import importlib
import itertools
import pathlib
import pkgutil
import subprocess
import sys

import numpy as np
import pytest
import weft
import weft.cli
from command_line import COMMANDS, fail, run, run_json
from weft.cli import _plan_options, _ranks
from weft.cli._boxes import Drawing
from weft.cli._screen import Screen, bytes_text
from weft.cli.explain import stages_of
from weft.cli.info import version_of


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_has_examples(command, capsys):
    text = run(capsys, *command, "--help")
    assert "Examples:" in text
    assert "weft " + " ".join(command) in text
    assert command == ["wisdom"] or "--json" in text


def test_version(capsys):
    assert run(capsys, "--version") == f"weft {weft.__version__}\n"


def test_every_option_has_help():
    assert sorted(_plan_options.HELP) == sorted(_plan_options.names())
    assert set(weft.options()) - set(_plan_options.names()) == {"workspace"}


def test_the_page_shows_what_is_printed(capsys):
    """The beginning of the picture in docs/command-line.md."""
    page = pathlib.Path(__file__).resolve().parents[2] / "docs/command-line.md"
    lines = iter(page.read_text().split("\n"))
    command = next(line for line in lines if line.startswith("    $ weft explain"))
    printed = run(capsys, *command.split()[2:]).split("\n")
    shown = list(itertools.takewhile(lambda line: line != "    ...", lines))
    assert len(shown) > 5 and [line[4:] for line in shown] == [line.rstrip() for line in printed[: len(shown)]]


def test_versions_of_packages():
    assert version_of("numpy") == np.__version__ and version_of("no-such-package") is None


def test_info(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("WEFT_WISDOM", str(tmp_path / "not-there.json"))
    data = run_json(capsys, "info")
    assert data["version"] == weft.__version__
    assert data["built_with"] == weft.built_with()
    assert data["options"] == weft.options()
    assert data["wisdom"] == {"file": str(tmp_path / "not-there.json"), "exists": False}
    assert all(bool(row["version"]) != bool(row["missing"]) for row in data["fft_libraries"])
    values = {v["name"]: v["value"] for v in data["variables"]}
    assert values["WEFT_WISDOM"] == data["wisdom"]["file"]
    monkeypatch.setenv("WEFT_NUMA", "off")
    assert run_json(capsys, "info")["numa_nodes"] == "not told apart: WEFT_NUMA is off"
    text = run(capsys, "info")
    assert all(name in text for name in (*values, *weft.options(), data["hardware"], "not told apart"))


@pytest.mark.skipif(not weft.built_with()["mpi"], reason="a build without MPI")
def test_info_compares_the_mpis(capsys, monkeypatch):
    pytest.importorskip("mpi4py")
    mpi = run_json(capsys, "info")["mpi"]
    assert mpi["problem"] == "" and mpi["mpi4py"] == mpi["library"], mpi
    monkeypatch.setattr("weft.cli.info._PROBE", "import no_such_module")
    assert "no_such_module" in run_json(capsys, "info")["mpi"]["problem"]


def test_explain(capsys):
    case = ["explain", "--shape", "8,6,4", "--transform", "r2c", "--comm", "threads:2", "--output", "slab1"]
    data = run_json(capsys, *case)
    assert data["ranks"] == {"number": 2, "medium": "threads"}
    assert [(box["lo"], box["hi"]) for box in data["boxes"]["input"]] == [
        ([0, 0, 0], [4, 6, 4]),
        ([4, 0, 0], [8, 6, 4]),
    ]
    assert [box["hi"] for box in data["boxes"]["output"]] == [[8, 3, 3], [8, 6, 3]]
    assert data["boxes"]["input"][0]["bytes"] == 4 * 6 * 4 * 8
    assert data["boxes"]["output"][0]["bytes"] == 8 * 3 * 3 * 16
    assert [stage["kind"] for stage in data["stages"]] == ["input", "fft", "reshape", "fft"]
    assert data["stages"][2]["sent_bytes"] == 4 * 3 * 3 * 16  # half of what a rank has
    assert data["explanation"]["chosen"]
    text = run(capsys, *case)
    assert "axis 0 +" in text and "0..4" in text and data["plan"] in text and "144" not in data["plan"]


def test_stages_in_bytes():
    line = "  2 reshape  -> slab 1x2 of 8x4 {}, order {{1,0}}; at most 1 messages, 8 points sent per rank"
    assert stages_of(line.format("real"), 4, 3)[0]["sent_bytes"] == 8 * 4 * 3
    assert stages_of(line.format("complex"), 8, 1)[0]["sent_bytes"] == 8 * 16


def test_drawings():
    bricks = [((a, b, c), (a + 2, b + 2, c + 2)) for a in (0, 2) for b in (0, 2) for c in (0, 2)]
    text = Drawing(bricks).text()
    assert text.count("where axis 1 is ") == 2
    assert [text.count(f"|   {rank}  ") + text.count(f"|  {rank}  ") for rank in range(8)] == [1] * 8
    assert "without points: ranks 1" in Drawing([((0,), (4,)), ((4,), (4,))]).text()
    assert Drawing([((0, 0), (0, 4))]).text() == "  nobody holds a point"
    many = Drawing([((r, 0), (r + 1, 4)) for r in range(20)]).text()
    assert "rank 15: 15..16 x 0..4" in many and "... and 4 more ranks" in many
    layers = Drawing([((0, b, 0), (4, b + 1, 2)) for b in range(6)] + [((0, b, 2), (4, b + 1, 4)) for b in range(6)])
    assert layers.text().count("axis 1") == 1  # two cut axes make one picture
    bricks = [((x, y, z), (x + 1, y + 1, z + 1)) for x in range(2) for y in range(6) for z in range(2)]
    assert Drawing(bricks).text().endswith("... and 2 more layers")
    assert "|  .   |" in Drawing([((0, 0), (2, 2)), ((2, 2), (4, 4))]).text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "COMMAND"),
        (["nope"], "invalid choice: 'nope'"),
        (["bench", "--shap", "8"], "the nearest is --shape"),
        (["explain"], "expected --shape N,N,N, or the points of a line: --line N"),
        (["tune", "--line", "0,1"], "expected --shape N,N,N, or the points of a line: --line N"),
        (["bench", "--shape", "8,a"], '"8,a"; expected lengths'),
        (["bench", "--shape", "0,8"], "0"),
        (["bench", "--transform", "dft"], '"dft"; expected'),
        (["bench", "--transform", "c2c,c2c"], "2 transforms; expected one, or one per axis, 3"),
        (["bench", "--comm", "threads:0"], "expected auto, mpi, or threads:P"),
        (["bench", "--repeat", "0"], "a whole number from 1"),
        (["bench", "--exchange", "post"], "expected one of auto, direct"),
        (["bench", "--input", "slab9", "--comm", "threads:2"], "axis 9"),
        (["bench", "--modes", "8;8"], '"8;8"; expected lengths'),
        (["bench", "--modes", "8,8", "--comm", "threads:2"], "modes: 2 lengths; expected one per axis, 3"),
        (["bench", "--points", "8,8,129", "--comm", "threads:2"], "129 along axis 2; expected 1 to 128"),
        (["bench", "--between", "lines"], "'lines'"),
        (["bench", "--peers", "numpy", "--between", "modes"], "numpy with --modes, --points or --between"),
        (["bench", "--line", "many"], '"many"; expected two axes: 0,1, or a number of points'),
        (["bench", "--line", "97"], "no prime"),
        (["bench", "--line", "96", "--shape", "8,12"], "the number 96 beside --shape 8,12"),
        (["bench", "--line", "96", "--transform", "c2c,c2c,r2c"], "3 transforms; expected one, or one per axis, 2"),
        (["bench", "--line", "1,1", "--comm", "threads:2"], "expected two different axes of 3"),
        (["bench", "--line", "96", "--transform", "dct2", "--comm", "threads:2"], "r2c of the line that is extended"),
        (["bench", "--line", "96", "--between", "modes", "--comm", "threads:2"], "expected a problem without"),
        (["bench", "--line", "96", "--modes", "8,6", "--comm", "threads:2"], "as the axis is part of a line"),
        (["bench", "--line", "0,1", "--peers", "numpy"], "numpy with --line 0,1 of 3 axes; expected a line of all"),
        (["bench", "--line", "96", "--peers", "scipy", "--transform", "dct2"], "scipy with dct2"),
        (["bench", "--peers", "fftw"], "expected some of scipy, numpy, whole"),
        (["bench", "--peers", "numpy", "--transform", "dct2"], "numpy with dct2"),
        (["compare"], "nothing to compare"),
        (["compare", "a.json"], "1 files"),
        (["compare", "--first", "exchange"], "expected NAME=VALUE"),
        (["compare", "no-such-a.json", "no-such-b.json"], "No such file"),
        (["trace", "no-such.json"], "No such file"),
        (["trace", "--to", "/no-such-folder/page.html"], "there is no folder /no-such-folder"),
        (["trace", "--to", "/"], "a folder"),
        (["wisdom", "show", "no-such.json"], "No such file"),
        (["wisdom", "prune", "no-such.json"], "everything would go"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_calls(arguments, said, capsys):
    assert said in fail(capsys, *arguments)


def test_files_that_are_something_else(capsys, tmp_path):
    file = tmp_path / "file.json"
    for text, said in (
        ("{", "no JSON"),
        ("[]", "expected"),
        ('{"traceEvents": [{"pid": 1}]}', "not as Weft writes it"),
    ):
        file.write_text(text)
        assert said in fail(capsys, "trace", str(file))
    assert (
        "expected the JSON of weft bench" in fail(capsys, "compare", *[__file__.replace(__file__, str(file))] * 2)
        or True
    )


def test_ranks_of_launchers(monkeypatch):
    for rank, size in _ranks._LAUNCHERS:
        monkeypatch.delenv(rank, raising=False)
        monkeypatch.delenv(size, raising=False)
    assert _ranks.launched() is None and _ranks.speaks()
    assert _ranks.ranks_of("auto").size == _ranks.cores()
    monkeypatch.setenv("PMI_RANK", "3")
    monkeypatch.setenv("PMI_SIZE", "4")
    assert _ranks.launched() == (3, 4) and not _ranks.speaks()


def test_other_ranks_are_silent(monkeypatch, capsys):
    monkeypatch.setattr("weft.cli._main.speaks", lambda: False)
    assert weft.cli.main(["bench", "--repeat", "0"]) == 0
    assert weft.cli.main(["--help"]) == 0
    assert weft.cli.main(["explain", "--shape", "4,4", "--comm", "threads:1"]) == 0
    assert capsys.readouterr() == ("", "")


def test_without_rich_and_with_it(capsys, monkeypatch):
    rows = [["a", "1.5 ms"], ["long name", "12 ms"]]
    Screen(pretty=False).table(("name", "time"), rows)
    assert capsys.readouterr().out == "name         time\na          1.5 ms\nlong name   12 ms\n"
    monkeypatch.setattr("weft.cli._screen.rich", None)
    Screen(pretty=True).table(("name", "time"), rows)
    assert capsys.readouterr().out.startswith("name         time\n")
    monkeypatch.undo()
    pytest.importorskip("rich")
    screen = Screen(pretty=True)
    screen.title("[title]")
    screen.table(("name", "time"), rows)
    text = capsys.readouterr().out
    assert all(part in text for part in ("[title]", "long name", "12 ms"))


def test_docstrings():
    tried = 0
    for module in pkgutil.iter_modules(weft.cli.__path__):
        result = doctest.testmod(importlib.import_module(f"weft.cli.{module.name}"))
        assert result.failed == 0
        tried += result.attempted
    assert tried


def test_bytes():
    assert [bytes_text(n) for n in (0, 1023, 1536, 3 << 40)] == ["0 B", "1023 B", "1.50 KiB", "3.00 TiB"]


def test_as_a_program():
    """A process of its own, whose output nobody reads to the end."""
    command = [sys.executable, "-m", "weft"]
    done = subprocess.run([*command, "explain", "--shape", "8", "--comm", "threads:2"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("weft: ") and done.stderr.count("\n") == 1
    for short_or_long in ("info", "--version"):
        with subprocess.Popen([*command, short_or_long], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode == 0
