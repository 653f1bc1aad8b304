"""The MPI that mpi4py has loaded has to be the one that Weft was built for. No rank is started here."""

import glob
import os
import subprocess
import sys

import pytest
import weft
from weft import _ranks

OPEN = "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4\0"
MPICH = "MPICH Version:\t4.0.2\nMPICH Release date:\t..."
INTEL = "Intel(R) MPI Library 2021.16 for Linux* OS\n"


@pytest.mark.parametrize("string", [OPEN, MPICH, INTEL])
def test_one_mpi(string):
    built_for = "Open MPI 4.1.4" if string is OPEN else "MPICH 4.0.2"
    _ranks.compare_mpi(string, string, built_for)


@pytest.mark.parametrize(
    ("theirs", "ours", "built_for"),
    [
        (MPICH, OPEN, "Open MPI 4.1.4"),
        (OPEN, MPICH, "MPICH 4.0.2"),
        (MPICH, INTEL, "MPICH 4.0.2"),  # two libraries, even if of one ABI
        (MPICH, MPICH, "Open MPI 4.1.4"),  # one library stands in for the other
    ],
)
def test_two_mpis(theirs, ours, built_for):
    with pytest.raises(weft.Error, match="one MPI for both.*pip install") as caught:
        _ranks.compare_mpi(theirs, ours, built_for)
    assert built_for in str(caught.value)


def test_weft_without_mpi(monkeypatch):
    monkeypatch.setattr(_ranks._core, "built_with", lambda: {"mpi": False})
    with pytest.raises(weft.Error, match="built without MPI.*libopenmpi-dev"):
        _ranks.check_mpi.__wrapped__(OPEN)


PROGRAM = """
import sys
if sys.argv[1] == "weft first":
    import weft
from mpi4py import MPI
import weft
try:
    weft.Plan(MPI.COMM_WORLD, (8, 8))
except weft.Error as error:
    print(MPI.get_vendor()[0], error)
"""


@pytest.mark.parametrize("order", ["weft first", "mpi4py first"])
def test_another_mpi_is_there(order, tmp_path):
    """Both libraries in one process, in either order: nothing crashes, and the message names both."""
    found = glob.glob("/usr/lib/*/libmpich.so.12")
    if not weft.built_with()["mpi"] or not weft._core.mpi_built_for().startswith("Open MPI") or not found:
        pytest.skip("wants Weft with Open MPI, and MPICH beside it")
    (tmp_path / "libmpi.so.12").symlink_to(found[0])
    environment = os.environ | {"LD_LIBRARY_PATH": str(tmp_path), "MPI4PY_MPIABI": "mpich"}
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, order], env=environment, capture_output=True, text=True, timeout=60
    )
    if "libmpi.so" in result.stderr or "MPIABI" in result.stderr:
        pytest.skip("this mpi4py is built for one MPI")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("MPICH weft: plan: comm: a communicator of MPICH Version: 4.")
    assert "built for Open MPI" in result.stdout
