"""The examples of docstrings and of pages for users of Python, run as they stand."""

import doctest
import importlib
import pathlib
import pkgutil

import numpy as np
import pytest
import weft

TOP = pathlib.Path(__file__).resolve().parents[2]
MODULES = ["weft", *(m.name for m in pkgutil.walk_packages(weft.__path__, "weft.") if m.name != "weft._core")]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    if "torch" in name:
        pytest.importorskip("torch")
    module = importlib.import_module(name)
    result = doctest.testmod(module, extraglobs={"np": np, "weft": weft}, optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


@pytest.mark.parametrize(("page", "least"), [("python.md", 30), ("from-scipy.md", 6)])
def test_page(page, least):
    result = doctest.testfile(str(TOP / "docs" / page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert result.attempted >= least
    assert result.failed == 0


def test_public_names_are_documented():
    for name in weft.__all__:
        thing = getattr(weft, name)
        assert name == "__version__" or thing.__doc__, name
