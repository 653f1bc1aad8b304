"""The examples of docstrings and of docs/python.md, run as they stand."""

import doctest
import importlib
import pathlib
import pkgutil

import numpy as np
import pytest
import weft

TOP = pathlib.Path(__file__).resolve().parents[2]
MODULES = ["weft", *(f"weft.{m.name}" for m in pkgutil.iter_modules(weft.__path__) if m.name != "_core")]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    if "torch" in name:
        pytest.importorskip("torch")
    module = importlib.import_module(name)
    result = doctest.testmod(module, extraglobs={"np": np, "weft": weft}, optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_page():
    result = doctest.testfile(str(TOP / "docs/python.md"), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert result.attempted > 20
    assert result.failed == 0


def test_public_names_are_documented():
    for name in weft.__all__:
        thing = getattr(weft, name)
        assert name == "__version__" or thing.__doc__, name
