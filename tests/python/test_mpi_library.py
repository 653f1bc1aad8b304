"""A Weft that was built with an MPI, imported where the loader does not find that."""

import sys

import pytest
from weft import _mpi_library


def missing(library: str) -> ImportError:
    return ImportError(f"{library}: cannot open shared object file: No such file or directory", name="_core")


def test_an_mpi_that_is_not_there(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    with pytest.raises(ImportError, match=r"^libmpi\.so\.99: cannot open.*Install that MPI.*WEFT_MPI=OFF") as caught:
        _mpi_library.load(missing("libmpi.so.99"))
    assert caught.value.name == "_core"


def test_an_mpi_beside_the_interpreter(monkeypatch, tmp_path):
    found = []
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(_mpi_library.ctypes, "CDLL", found.append)
    _mpi_library.load(missing("libmpi.so.40"))
    assert found == [str(tmp_path / "lib/libmpi.so.40")]


def test_another_library():
    with pytest.raises(ImportError) as caught:
        _mpi_library.load(missing("libfftw3.so.3"))
    assert str(caught.value).startswith("libfftw3.so.3: cannot open")
    assert "MPI" not in str(caught.value)
