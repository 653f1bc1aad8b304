"""Plans on the ranks of MPI, with mpi4py: run by mpirun, each rank runs all tests, in the same order.

After each test the ranks agree on its outcome, so that a failure of one rank is seen before the others wait for it.
"""

import gc
import pathlib
import sys

import numpy as np
import pytest
import weft
from mpi4py import MPI

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import dist_cases  # noqa: E402
import dist_numpy_cases  # noqa: E402
import file_cases  # noqa: E402
import findings_cases  # noqa: E402
import in_place_cases  # noqa: E402
import plan_cases  # noqa: E402

CASES = [*plan_cases.CASES, *in_place_cases.CASES, *findings_cases.CASES, *dist_cases.CASES, *dist_numpy_cases.CASES]

WORLD = MPI.COMM_WORLD


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_case(case):
    case(WORLD)


@pytest.mark.parametrize("case", file_cases.CASES, ids=lambda case: case.__name__)
def test_files(case, tmp_path):
    case(WORLD, WORLD.bcast(tmp_path))


def test_the_same_communicator_is_duplicated_once():
    from weft._ranks import resolve

    assert resolve(WORLD) is resolve(WORLD)
    mine = WORLD.Dup()
    comm = resolve(mine)
    assert (comm.rank, comm.size, comm.medium) == (WORLD.rank, WORLD.size, "mpi")
    plan = weft.Plan(mine, (8, 8))
    mine.Free()  # the plan lives on
    x = plan.empty_input()
    x[...] = 1
    y = plan.forward(x)
    assert np.isclose(WORLD.allreduce(y.sum()), 64)


def test_part_of_the_ranks():
    part = WORLD.Split(WORLD.rank % 2)
    plan_cases.real_transform(part)
    dist_cases.redistributions(part)
    assert weft.DistArray((5, 3), comm=part, fill=1).sum() == 15
    part.Free()
    own = weft.Plan(MPI.COMM_SELF, (8, 8))
    assert own.input_box.shape == (8, 8)


def test_other_communicators():
    if WORLD.size > 1:
        from weft._ranks import resolve

        own = WORLD.Dup()
        with pytest.raises(weft.Error, match="expected the mpi4py communicator"):
            weft.DistArray((4, 4), comm=resolve(own))
    with pytest.raises(weft.Error, match="COMM_NULL|null"):
        weft.Plan(MPI.COMM_NULL, (8, 8))


def test_misuse_on_one_rank():
    """With check=collective what one rank gives wrongly is an error on all, also where Python finds it."""
    plan = weft.Plan(WORLD, (8, 8), check="collective")
    x = plan.empty_input()
    x[...] = 1
    frozen = plan.empty_output()
    frozen.flags.writeable = WORLD.rank != 0
    with pytest.raises(weft.Error):
        plan.forward(x, frozen)
    x[...] = 1
    assert np.isclose(WORLD.allreduce(plan.forward(x).sum()), 64)


def test_gathered_result():
    """A user's way to look at a distributed result: boxes are slices of the global array."""
    plan = weft.Plan(WORLD, (8, 6, 4), "r2c", output="pencil2")
    x = plan.empty_input()
    x[...] = np.arange(8 * 6 * 4).reshape(8, 6, 4)[plan.input_box.slices]
    parts = WORLD.gather((plan.output_box, plan.forward(x)))
    if WORLD.rank == 0:
        whole = np.empty((8, 6, 3), complex)
        for box, part in parts:
            whole[box.slices] = part
        assert np.allclose(whole, np.fft.rfftn(np.arange(8 * 6 * 4).reshape(8, 6, 4)))


def test_garbage_is_collected_on_all_ranks_alike():
    """Freeing a plan is local: ranks may do it in any order."""
    plans = [weft.Plan(WORLD, (8, 8)) for _ in range(3)]
    for k in range(3):
        plans[(k + WORLD.rank) % 3].free()
    del plans
    gc.collect()
    WORLD.Barrier()
