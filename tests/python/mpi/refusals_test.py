"""A wrong argument on one rank is an error on all, in planning and, where ranks agree, in execution."""

import numpy as np
import pytest
import weft
from mpi4py import MPI

WORLD = MPI.COMM_WORLD
WRONG = {  # and what ranks that gave nothing wrong are told
    "norm": (dict(norm="bogus"), r"norm: 'bogus'; expected one of .*\(rank 0\)"),
    "input": (dict(input="slob"), r'input: "slob"; expected .*\(rank 0\)'),
    "dtype": (dict(dtype="int32"), r"dtype: int32; expected .*\(rank 0\)"),
    "no dtype": (dict(dtype="no_such"), r"wrong argument: .*no_such.*\(rank 0\)"),
    "option": (dict(exchange="bogus"), r"bogus.*\(rank 0\)"),
    "no option": (dict(bogus=3), r"bogus.*\(rank 0\)"),
    "transforms": (dict(transforms="zzz"), r"transforms.*zzz.*\(rank 0\)"),
    "count": (dict(transforms=["c2c"]), r"transforms.*\(rank 0\)"),
    "shape": (dict(shape=(8, 2**70, 4)), r"wrong argument|shape.*\(rank 0\)"),
    "batch": (dict(batch=[2]), r"wrong argument.*\(rank 0\)"),
    "device": (dict(device="gpu"), r"gpu.*\(rank 0\)"),
}


@pytest.mark.parametrize("what", WRONG)
def test_planning(what):
    wrong, words = WRONG[what]
    right = dict(shape=(8, 6, 4))
    with pytest.raises(Exception if WORLD.rank == 0 else weft.Error, match=None if WORLD.rank == 0 else words):
        weft.Plan(WORLD, **(right | wrong if WORLD.rank == 0 else right))
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
