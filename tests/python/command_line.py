"""Calls of the command line in this process, for its tests."""

import json

import weft.cli

_NAMES = ("info", "explain", "bench", "tune", "wisdom", "trace", "compare")
# And the actions of wisdom.
COMMANDS = [[name] for name in _NAMES] + [["wisdom", action] for action in ("show", "merge", "prune")]


def run(capsys, *arguments: str, status: int = 0) -> str:
    """What a command says on standard output; it has to end with this status."""
    ended = weft.cli.main(list(arguments))
    said = capsys.readouterr()
    assert ended == status, said.err
    return said.out


def run_json(capsys, *arguments: str, status: int = 0) -> dict:
    """The same with --json."""
    result = json.loads(run(capsys, *arguments, "--json", status=status))
    assert result["command"] == arguments[0]
    assert result["weft"] == weft.__version__
    return result


def fail(capsys, *arguments: str) -> str:
    """The one line that a wrong call says."""
    assert weft.cli.main(list(arguments)) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1, said.err
    assert said.err.startswith("weft")
    return said.err
