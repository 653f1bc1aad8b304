"""A wrong argument on one rank is an error on all, in planning and, where ranks agree, in execution."""

import numpy as np
import pytest
import weft
from mpi4py import MPI

WORLD = MPI.COMM_WORLD
WRONG = {
    "norm": dict(norm="bogus"),
    "input": dict(input="slob"),
    "dtype": dict(dtype="int32"),
    "option": dict(exchange="bogus"),
    "transforms": dict(transforms="zzz"),
    "count": dict(transforms=["c2c"]),
}


@pytest.mark.parametrize("what", WRONG)
def test_planning(what):
    arguments = WRONG[what] if WORLD.rank == 0 else {}
    with pytest.raises(weft.Error):
        weft.Plan(WORLD, (8, 6, 4), **arguments)
    plan = weft.Plan(WORLD, (8, 6, 4))  # ranks are in step
    plan.forward(plan.empty_input())


def test_other_boxes():
    plan = weft.Plan(WORLD, (8, 8, 8), output="slab1", check="collective")
    good = weft.DistArray.input_of(plan)
    good.local[...] = 0
    plan.forward(good)
    if WORLD.size > 1:
        other = weft.DistArray((8, 8, 8), complex, "slab1", WORLD)
        with pytest.raises(weft.Error):
            plan.forward(other if WORLD.rank == 0 else good)


def test_a_reduction_has_one_dtype():
    rows = weft.DistArray((2, 5), np.int32, "slab0", WORLD, fill=1)
    assert rows.sum(axis=1).dtype == np.ones(2, np.int32).sum().dtype
