"""The plan behind whole arrays in memory of one of several GPUs, on the host: one rank holds all, the other nothing."""

import numpy as np
import pytest
import weft
from compare import close, random_array
from weft import _core
from weft._plan import SCALES
from weft._whole import Request


@pytest.mark.parametrize("home", [0, 1])
def test_one_rank_holds_all(home):
    a = random_array(np.random.default_rng(4), (20, 18, 2 * 17), np.float64)[:, :, ::2]
    out = np.empty((20, 18, 9), complex)
    steps = [tuple(s // x.itemsize for s in x.strides) for x in (a, out)]
    kinds = ("c2c", "c2c", "r2c")
    request = Request(a.shape, kinds, a.dtype, out.dtype, *steps, "backward", 2, (0, 1), home)
    arguments = _core.PlanArguments()
    arguments.shape, arguments.transforms = a.shape, kinds
    arguments.precision, arguments.element = "float64", "real"
    arguments.forward_scale, arguments.backward_scale = SCALES["backward"]
    sides = [request.held().with_strides(steps[0]), request.held(spectrum=True).with_strides(steps[1])]
    plan = _core.WholePlan(weft._core.ThreadTeam(2), arguments, *sides, [])
    plan.execute(_core.Direction.forward, a, out, 1, 2)
    close(out, np.fft.rfftn(a), 4)
    back = np.zeros((20, 18, 2 * 17))[:, :, ::2]
    plan.execute(_core.Direction.backward, out, back, 2, 1)
    close(back, np.ascontiguousarray(a), 8)
