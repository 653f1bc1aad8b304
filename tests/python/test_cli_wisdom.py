"""Wisdom files on the command line: shown, merged by the library, pruned."""

import json

import pytest
import weft
from command_line import fail, run, run_json


def entry(seconds, **more):
    return {"options": {"exchange": "copy"}, "seconds": seconds, "trials": 3, **more}


@pytest.fixture
def files(tmp_path):
    """Of this machine and of another one; both know problem a."""
    here = f"{weft._core.hardware()}, weft 0.1, threads 1x2"
    there = "Abacus, 4 cores, weft 0.1, mpi 2x2"
    one = {here: {"shape 8; effort measure": entry(1.0), "shape 9; effort patient": entry(2.0, budget=3.0)}}
    two = {here: {"shape 8; effort measure": entry(0.5)}, there: {"shape 8; effort measure": entry(4.0)}}
    constants = {there: {"subtile": 65536.0}}
    made = []
    for name, problems, more in (("one", one, {}), ("two", two, {"constants": constants})):
        made.append(tmp_path / f"{name}.json")
        lines = {"local_ffts": {f"{there}, fftw": ["(fftw", ")"]}}
        made[-1].write_text(json.dumps({"weft_wisdom": 1, "problems": problems, **lines, **more}))
    return made


def test_show(files, capsys):
    data = run_json(capsys, "wisdom", "show", str(files[0]))
    assert [(e["seconds"], e["unfinished"]) for e in data["entries"]] == [(1.0, False), (2.0, True)]
    assert data["local_ffts"] == {"Abacus, 4 cores, weft 0.1, mpi 2x2, fftw": 2}
    text = run(capsys, "wisdom", "show", str(files[1]), "--machine", "Abacus")
    assert "shape 8; effort measure" in text and "4000 ms" in text and "(this one)" not in text
    assert "subtile 65536" in text
    assert "no entries that match" in run(capsys, "wisdom", "show", str(files[0]), "--problem", "shape 7")


def test_merge(files, capsys, tmp_path):
    into = tmp_path / "all.json"
    data = run_json(capsys, "wisdom", "merge", *map(str, files), "--into", str(into))
    assert data["entries"] == 3
    entries = run_json(capsys, "wisdom", "show", str(into))["entries"]
    assert sorted(e["seconds"] for e in entries) == [0.5, 2.0, 4.0]  # of two the faster one
    merged = json.loads(into.read_text())
    assert merged["constants"] == json.loads(files[1].read_text())["constants"]
    assert "Abacus, 4 cores, weft 0.1, mpi 2x2, fftw" in merged["local_ffts"]
    assert "3 entries, with those of" in run(capsys, "wisdom", "merge", str(files[0]), "--into", str(into))


def test_prune(files, capsys):
    file = files[1]
    before = file.read_text()
    gone = run_json(capsys, "wisdom", "prune", str(file), "--other-machines", "--dry-run")["removed"]
    assert [e["seconds"] for e in gone["entries"]] == [4.0]
    assert file.read_text() == before
    file.chmod(0o640)
    text = run(capsys, "wisdom", "prune", str(file), "--other-machines")
    assert "removed: shape 8; effort measure on Abacus" in text
    left = json.loads(file.read_text())
    assert list(left["problems"]) == [f"{weft._core.hardware()}, weft 0.1, threads 1x2"]
    assert left["constants"] == {} and left["local_ffts"] == {}
    assert file.stat().st_mode & 0o777 == 0o640
    assert weft.import_wisdom(str(file)), "the library does not read what was written"
    weft.forget_wisdom()


def test_prune_some(files, capsys):
    file = str(files[0])
    gone = run_json(capsys, "wisdom", "prune", file, "--unfinished")["removed"]
    assert [e["seconds"] for e in gone["entries"]] == [2.0] and gone["local_ffts"] == []
    gone = run_json(capsys, "wisdom", "prune", file, "--local-ffts")["removed"]
    assert gone["entries"] == [] and len(gone["local_ffts"]) == 1
    run(capsys, "wisdom", "prune", file, "--problem", "shape 8")
    assert json.loads(files[0].read_text())["problems"] == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1}', 'no "weft_wisdom"'),
        ('{"weft_wisdom": 2}', "wisdom of version 2"),
        ('{"weft_wisdom": 1, "problems": {"m": {"p": {}}}}', "damaged wisdom"),
        ("weft", "no JSON"),
    ],
)
def test_no_wisdom(text, said, capsys, tmp_path):
    file = tmp_path / "file.json"
    file.write_text(text)
    for arguments in (["show"], ["prune", "--unfinished"], ["merge", "--into", str(tmp_path / "all.json")]):
        assert said in fail(capsys, "wisdom", *arguments, str(file))
    assert sorted(tmp_path.iterdir()) == [file]
    assert file.read_text() == text


def test_merge_that_cannot_be_written(files, capsys, tmp_path):
    assert weft.cli.main(["wisdom", "merge", str(files[0]), "--into", str(tmp_path / "no/all.json")]) == 2
    assert "not written; see above" in capsys.readouterr().err
