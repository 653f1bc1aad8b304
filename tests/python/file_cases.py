"""Distributed arrays in HDF5 files, on any ranks. Every rank calls each case, in a folder that all see."""

import numpy as np
import pytest
import weft
from dist_cases import SHAPE, is_spread, spread, whole


def written_and_read(comm, folder):
    h5py = pytest.importorskip("h5py")
    file = folder / "fields.h5"
    for k, (dtype, where) in enumerate(((float, "slab0"), (np.complex64, "brick"), (bool, "slab2"))):
        values = whole(dtype)
        spread(comm, values, where).write(file, f"step/{k}", mode="w" if k == 0 else "a")
        with h5py.File(file, "r") as f:
            assert np.array_equal(f[f"step/{k}"][...], values)
        assert is_spread(weft.DistArray.read(file, f"step/{k}", "slab1", comm), values)
        comm.barrier() if isinstance(comm, weft.Comm) else comm.Barrier()
    spread(comm, whole(seed=3), "slab2").write(file, "step/0", chunks=None)
    assert is_spread(weft.DistArray.read(file, "step/0", comm=comm), whole(seed=3))
    few = whole(shape=(1, 3))  # of which one rank has all
    spread(comm, few).write(file, "few")
    assert is_spread(weft.DistArray.read(file, "few", comm=comm), few)
    turned = spread(comm, whole(), weft.Distribution.slab(1).with_order([2, 1, 0]))
    turned.write(file, "turned")
    assert is_spread(weft.DistArray.read(file, "turned", comm=comm), whole())


def failures_reach_all(comm, folder):
    pytest.importorskip("h5py")
    file = folder / "wrong.h5"
    a = weft.DistArray(SHAPE, comm=comm, fill=1)
    a.write(file)
    with pytest.raises(weft.Error, match=r"no dataset \"u\".*\['data'\]"):
        weft.DistArray.read(file, "u", comm=comm)
    with pytest.raises(TypeError, match="Shapes do not match"):
        weft.DistArray((2, 2), comm=comm, fill=1).write(file)
    with pytest.raises(OSError):
        weft.DistArray.read(folder / "none.h5", comm=comm)
    with pytest.raises(OSError):
        a.write(folder / "no folder" / "a.h5")
    with pytest.raises(weft.Error, match="mode 'r'"):
        a.write(file, mode="r")
    a.write(file)  # nobody holds the file


CASES = [written_and_read, failures_reach_all]
