"""What plans do with memory of the user: arrays in place, rows with padding, workspace. Every rank calls each case."""

import numpy as np
import pytest
import scipy.fft
import weft
from compare import close
from plan_cases import SHAPE, everywhere


def in_place(comm, reference, transforms, dtype, shape=SHAPE, **arguments):
    """Forward and back in one memory, by `out` left out, and by `out` given."""
    plan = weft.Plan(comm, shape, transforms, dtype, in_place=True, **arguments)
    assert plan.in_place
    whole = everywhere(dtype, shape)
    x = plan.empty_input()
    x[...] = whole[plan.input_box.slices]
    kept = x.copy()
    y = plan.forward(x)
    close(y, reference(whole)[plan.output_box.slices], 4)
    full = plan.input_box.size and plan.output_box.size
    if full:
        assert y.__array_interface__["data"][0] == x.__array_interface__["data"][0], "a copy was made"
    back = plan.backward(y, out=x if full else None)
    close(back, kept, 8)
    assert not full or back is x
    again = plan.backward(plan.forward(back))
    assert not full or again is not x and np.shares_memory(again, x)
    close(again, kept, 16)
    return plan


def complex_in_place(comm):
    for dtype in (np.complex64, np.complex128):
        in_place(comm, scipy.fft.fftn, "c2c", dtype)
        in_place(comm, scipy.fft.fftn, "c2c", dtype, input="brick", output="pencil1")


def real_in_place(comm):
    """With rows that lie side by side, and with FFTW's padding."""
    for dtype in (np.float32, np.float64):
        plan = in_place(comm, scipy.fft.rfftn, "r2c", dtype, output="slab1")
        assert plan.buffer_bytes >= plan.output_dtype.itemsize * plan.output_box.size
        padded = weft.Distribution.slab(0).with_r2c_padding()
        plan = in_place(comm, scipy.fft.rfftn, "r2c", dtype, shape=(12, 10, 7), input=padded, output="slab0")
        x = plan.empty_input()
        if x.size:
            assert x.strides[1] == 8 * x.itemsize, "7 real numbers have room for 4 complex ones"


def cosines_in_place(comm):
    for shape in (SHAPE, (32, 17, 20)):
        in_place(comm, lambda a: scipy.fft.dctn(a, 2), "dct2", np.float64, shape)


def batch_in_place(comm):
    plan = weft.Plan(comm, SHAPE, batch=2, in_place=True, output="slab1")
    items = [everywhere(np.complex128, seed=s) for s in range(2)]
    x = plan.empty_input()
    for item, whole in zip(x, items, strict=True):
        item[...] = whole[plan.input_box.slices]
    for item, whole in zip(plan.forward(x), items, strict=True):
        close(item, scipy.fft.fftn(whole)[plan.output_box.slices], 4)


def started_in_place(comm):
    plan = weft.Plan(comm, SHAPE, in_place=True)
    x = plan.empty_input()
    whole = everywhere(np.complex128)
    x[...] = whole[plan.input_box.slices]
    plan.start_forward(x)
    y = plan.wait()
    close(y, scipy.fft.fftn(whole)[plan.output_box.slices], 4)
    plan.start_backward(y)
    close(plan.wait(), whole[plan.input_box.slices], 8)


def memory_of_the_user(comm):
    """A part of a larger array that is not the plan's, in place: what is around stays."""
    plan = weft.Plan(comm, SHAPE, "r2c", in_place=True, output="slab1")
    around = np.full(plan.buffer_bytes // 8 + 4, 7.0)
    x = around[2 : 2 + plan.input_box.size].reshape(plan.input_shape)
    whole = everywhere(np.float64)
    x[...] = whole[plan.input_box.slices]
    close(plan.forward(x), scipy.fft.rfftn(whole)[plan.output_box.slices], 4)
    assert np.all(around[:2] == 7) and np.all(around[-2:] == 7)


def padded_rows(comm):
    """FFTW's padding out of place: read where it lies, and what is between is left alone."""
    padded = weft.Distribution.slab(0).with_r2c_padding()
    plan = weft.Plan(comm, SHAPE, "r2c", input=padded, output="slab1")
    whole = everywhere(np.float64)
    x = plan.empty_input()
    x[...] = whole[plan.input_box.slices]
    y = plan.forward(x)
    close(y, scipy.fft.rfftn(whole)[plan.output_box.slices], 4)
    around = np.full((*plan.input_box.shape[:2], 10), 7.0)
    back = around[:, :, :8]
    plan.backward(y, back)
    assert np.allclose(back, x) and np.all(around[:, :, 8:] == 7)


def users_workspace(comm):
    """One workspace for two plans, one after the other."""
    plans = [weft.Plan(comm, SHAPE, kind, workspace="user", output="slab1") for kind in ("c2c", "r2c")]
    workspace = max((p.empty_workspace() for p in plans), key=len)
    for plan, reference in zip(plans, (scipy.fft.fftn, scipy.fft.rfftn), strict=True):
        whole = everywhere(plan.input_dtype)
        x = plan.empty_input()
        x[...] = whole[plan.input_box.slices]
        y = plan.forward(x, workspace=workspace)
        close(y, reference(whole)[plan.output_box.slices], 4)
        plan.start_backward(y, workspace=workspace)
        close(plan.wait(), whole[plan.input_box.slices], 8)
    needed = plans[0].workspace_bytes
    if comm.size > 1 and needed > 0 and isinstance(comm, weft.Comm):  # where ranks agree, all fail
        short = np.empty(needed // 2, np.uint8)
        with pytest.raises(weft.Error, match=r"workspace; expected at least \d+"):
            plans[0].forward(plans[0].empty_input(), workspace=short)


CASES = [
    complex_in_place,
    real_in_place,
    cosines_in_place,
    batch_in_place,
    started_in_place,
    memory_of_the_user,
    padded_rows,
    users_workspace,
]
