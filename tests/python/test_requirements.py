"""What the package says that it depends on: MKL where CMake finds no FFTW to build with."""

import importlib.util
import pathlib
import shutil

import pytest
import weft

FILE = pathlib.Path(__file__).resolve().parents[2] / "bindings/python/requirements/requirements.py"
HIDDEN = "set(CMAKE_DISABLE_FIND_PACKAGE_FFTW ON)\n"

pytestmark = pytest.mark.skipif(shutil.which("cmake") is None, reason="wants CMake")


@pytest.fixture
def requirements():
    specification = importlib.util.spec_from_file_location("requirements", FILE)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def dependencies(provider, state: str) -> list[str]:
    provider.build_state(state)
    return [entry.partition(";")[0] for entry in provider.dynamic_metadata({}, {})["dependencies"]]


def test_with_what_is_there(requirements):
    wanted = ["numpy>=1.25"] if weft.built_with()["fftw"] else ["numpy>=1.25", "mkl"]
    assert dependencies(requirements.Requirements(), "wheel") == wanted


def test_without_fftw(requirements, monkeypatch, tmp_path):
    (tmp_path / "hidden.cmake").write_text(HIDDEN)
    monkeypatch.setenv("CMAKE_TOOLCHAIN_FILE", str(tmp_path / "hidden.cmake"))
    provider = requirements.Requirements()
    assert dependencies(provider, "metadata_wheel") == ["numpy>=1.25", "mkl"]
    assert dependencies(provider, "sdist") == ["numpy>=1.25"]  # may be built elsewhere
    assert provider.dynamic_wheel({}) == {"dependencies": True}


def test_without_a_compiler(requirements, monkeypatch):
    monkeypatch.setenv("CC", "/no/such/compiler")
    with pytest.raises(RuntimeError, match="(?s)CMake cannot look for FFTW:.*/no/such/compiler"):
        requirements.fftw_is_there()
