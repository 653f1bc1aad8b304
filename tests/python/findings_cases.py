"""What plans tell about themselves on any ranks. Each case is called by every rank."""

import numpy as np
import pytest
import scipy.fft
import weft
from plan_cases import SHAPE, everywhere


def measured_error(comm):
    """What a lossy plan makes of data is what it says it makes, and the data stay."""
    exchange = "copy" if isinstance(comm, weft.Comm) else "p2p"
    whole = everywhere(np.complex128)
    for in_place in (False, True):
        plan = weft.Plan(comm, SHAPE, tolerance=1e-5, exchange=exchange, output="slab1", in_place=in_place)
        x = plan.empty_input()
        x[...] = whole[plan.input_box.slices]
        found = plan.measured_error(x)
        assert np.array_equal(x, whole[plan.input_box.slices])
        if comm.size == 1:
            assert (found.l2, found.maximum, found.bound) == (0, 0, 0)
        else:
            assert 0 < found.l2 <= found.bound <= 1e-5 and 0 < found.maximum < 1e-4
        y = plan.empty_output()
        y[...] = scipy.fft.fftn(whole)[plan.output_box.slices]
        back = plan.measured_error(y, "backward")
        assert (back.l2 > 0) == (comm.size > 1) and back.l2 <= back.bound
        assert repr(found).startswith("<weft.Accuracy l2=")
        if comm.size > 1:
            with pytest.raises(weft.Error, match="x of shape|in is null"):
                plan.measured_error(x if comm.rank else np.ones(3))


def operation_times(comm):
    plan = weft.Plan(comm, SHAPE, output="slab1")
    x = plan.empty_input()
    x[...] = 1
    assert plan.operation_times() == []
    plan.record_times()
    plan.forward(x)
    times = plan.operation_times()
    if x.size:
        assert {o.kind for o in times} & {"fft"}
    for o in times:
        assert 0 <= o.begin <= o.end < 60 and o.stage >= 0 and o.reshape >= -1 and o.tile >= 0
        assert min(o.bytes, o.memory_read, o.memory_written) >= 0 and o.stream == 0 and -1 <= o.peer < comm.size
        assert repr(o).startswith(f"<weft.OperationTime {o.kind} stage {o.stage} ")
    plan.record_times(False)
    plan.backward(plan.forward(x))


def programs(comm):
    plan = weft.Plan(comm, SHAPE, output="slab1")
    for direction in ("forward", "backward"):
        assert ("fft" in plan.program(direction)) == bool(plan.input_box.size or plan.output_box.size)
    with pytest.raises(weft.Error, match='program: \'up\'; expected "forward" or "backward"'):
        plan.program("up")


CASES = [measured_error, operation_times, programs]
