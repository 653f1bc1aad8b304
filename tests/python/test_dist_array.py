"""Distributed arrays on this process alone and on thread ranks."""

import concurrent.futures
import copy
import os
import subprocess
import sys

import dist_cases
import dist_numpy_cases
import file_cases
import numpy as np
import pytest
import weft


@pytest.mark.parametrize("case", [*dist_cases.CASES, *dist_numpy_cases.CASES], ids=lambda case: case.__name__)
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_case(case, ranks):
    weft.ThreadTeam(ranks).run(case)


def test_this_process_alone():
    a = weft.DistArray((4, 6), fill=1)
    assert a.comm is None and repr(a) == "<weft.DistArray 4x6 float64, rank 0 of 1: (0, 0) to (4, 6)>"
    assert (a + weft.DistArray((4, 6), comm=weft.Comm.self(), fill=1)).sum() == 48
    assert np.asarray(a) is a.local and np.array(a) is not a.local
    assert copy.copy(a).sum() == copy.deepcopy(a).sum() == 24 and copy.copy(a).local is not a.local
    assert bool(weft.DistArray((1, 1), fill=1)) and a._layout != 3
    child = os.fork()
    if child == 0:
        os._exit(0 if weft.DistArray((4, 6), fill=1).redistribute("slab1").sum() == 24 else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_threads_of_this_process_alone():
    """All have the same ranks, and so the same plans."""
    shared = weft.DistArray((1000, 1000), fill=1)

    def body(number):
        mine = weft.DistArray((1000, 1000), fill=number)
        return [float(a.redistribute(1).sum()) for _ in range(8) for a in (mine, shared)]

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for number, sums in enumerate(pool.map(body, range(4))):
            assert sums == [number * 1e6, 1e6] * 8


def test_some_of_the_ranks():
    def body(comm):
        half = comm.split(comm.rank % 2)
        mine = weft.DistArray((5, 3), comm=half, fill=comm.rank % 2)
        both = weft.DistArray((5, 3), comm=comm, fill=1)
        return float(mine.redistribute("slab1").sum()), float(both.sum())

    assert weft.ThreadTeam(4).run(body) == [(0, 15), (15, 15)] * 2


def test_no_mpi4py():
    hidden = "import sys, importlib.util as u; f = u.find_spec; u.find_spec = lambda n: None if n == 'mpi4py' else f(n)"
    result = subprocess.run(
        [sys.executable, "-c", hidden + "; import weft.mpi4py_fft"], capture_output=True, text=True, check=False
    )
    assert "pip install mpi4py" in result.stderr


def test_a_rank_that_fails():
    def body(comm):
        a = weft.DistArray((4, 4), comm=comm, fill=1)
        if comm.rank == 1:
            raise KeyError("lost")
        return a.sum()

    with pytest.raises(KeyError, match="lost"):
        weft.ThreadTeam(3).run(body)


@pytest.mark.parametrize("case", file_cases.CASES, ids=lambda case: case.__name__)
@pytest.mark.parametrize("ranks", [1, 3])
def test_files(case, ranks, tmp_path):
    weft.ThreadTeam(ranks).run(lambda comm: case(comm, tmp_path))


def test_no_h5py(monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(weft.Error, match="pip install h5py"):
        weft.DistArray((2, 2), fill=0).write("nowhere.h5")
