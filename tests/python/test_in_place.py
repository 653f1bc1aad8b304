"""Arrays in place and workspace of the user: on this process and its threads, and what is wrong with them."""

import gc
import weakref

import findings_cases
import in_place_cases
import numpy as np
import pytest
import weft


@pytest.mark.parametrize("case", in_place_cases.CASES + findings_cases.CASES, ids=lambda case: case.__name__)
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_case(case, ranks):
    if ranks == 1:
        case(weft.Comm.self())
    else:
        weft.ThreadTeam(ranks).run(case)


class Exporter:
    """Memory that is no buffer of Python, as that of other libraries."""

    def __init__(self, a):
        self.memory = a
        self.__array_interface__ = a.__array_interface__


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: np.ones((4, 6)), "x in memory of 192 bytes .*expected 256, the larger of input and output"),
        (lambda: np.ones((5, 8))[1:].reshape(-1)[8:].reshape(4, 6), "x in memory of 192 bytes"),
        (lambda: np.asarray(Exporter(np.ones((4, 6)))), "192 bytes"),
        (lambda: np.broadcast_to(1.0, (4, 6)), "strides"),
        (lambda: np.frombuffer(bytes(256), float)[:24].reshape(4, 6), "x, which is read-only"),
    ],
)
def test_no_room(make, words):
    plan = weft.Plan(None, (4, 6), "r2c", in_place=True)
    with pytest.raises(weft.Error, match=words):
        plan.forward(make())


def test_memory_of_many_kinds():
    """Where the memory of an array comes from does not matter, as long as it is there."""
    plan = weft.Plan(None, (4, 6), "r2c", in_place=True)
    buffers = [
        np.ones(32)[:24].reshape(4, 6),
        np.ones((2, 16), order="F").T.ravel("K")[:24].reshape(4, 6),
        np.frombuffer(bytearray(256), float)[:24].reshape(4, 6),
    ]
    for x in buffers:
        x[...] = 1
        y = plan.forward(x)
        assert y[0, 0] == 24 and np.shares_memory(x, y)
        assert plan.backward(y, x) is x and np.allclose(x, 1)
    fortran = np.zeros((8, 4), complex, order="F")  # whose first half is an array of the plan
    square = weft.Plan(None, (4, 4), in_place=True, input=weft.Distribution.slab(0).with_order([1, 0]), output="slab0")
    with pytest.raises(weft.Error, match="coincide"):
        weft.Plan(None, (4, 4), in_place=True, input=weft.Distribution.slab(0).with_strides([2, 8]), output="slab0")
    x = fortran.T[:2].reshape(4, 4).T
    x[...] = 1
    assert square.forward(x)[0, 0] == 16
    foreign = np.asarray(Exporter(np.ones((4, 4), complex)))
    plan = weft.Plan(None, (4, 4), in_place=True, output="slab0")
    assert plan.forward(foreign, out=foreign)[0, 0] == 16


def test_steps_on_memory_that_is_no_buffer():
    where = weft.Distribution.slab(0).with_strides([8, 2])
    plan = weft.Plan(None, (4, 4), in_place=True, input=where, output=where)
    memory = np.ones((4, 8), complex)
    foreign = np.asarray(Exporter(memory))[:, ::2]
    assert plan.forward(foreign, foreign)[0, 0] == 16, "of a view the whole is known"
    with pytest.raises(weft.Error, match="steps, on an object of type Exporter"):
        plan.forward(np.asarray(Exporter(memory[:, ::2])))


def test_results_keep_the_memory():
    plan = weft.Plan(None, (4, 6), "r2c", in_place=True)
    x = plan.empty_input()
    x[...] = 1
    y = plan.forward(x)
    del x
    assert y[0, 0] == 24 and plan.backward(y)[3, 5] == 1


def test_two_arrays_in_place():
    plan = weft.Plan(None, (4, 6), in_place=True)
    with pytest.raises(weft.Error, match="two different arrays"):
        plan.forward(plan.empty_input(), plan.empty_output())
    apart = weft.Plan(None, (4, 6))
    x = apart.empty_input()
    with pytest.raises(weft.Error, match="in and out overlap.*problem that is in place"):
        apart.forward(x, out=x)
    with pytest.raises(weft.Error, match="room for 2"):
        weft.Plan(None, (4, 6), "r2c", input=weft.Distribution.slab(0).with_strides([6, 1]), in_place=True)
    with pytest.raises(weft.Error, match="r2c padding"):
        weft.Plan(None, (4, 6), output=weft.Distribution.slab(0).with_r2c_padding())


def test_wrong_workspace():
    plan = weft.Plan(None, (4, 6), workspace="user")
    x, out = np.ones((4, 6), complex), plan.empty_output()
    frozen = np.ones(64, np.uint8)
    frozen.flags.writeable = False
    for wrong, words in [
        (bytes(64), "of type bytes"),
        (frozen, "read-only"),
        (np.ones((2, 64), np.uint8)[:, ::2], "not contiguous"),
    ]:
        with pytest.raises(weft.Error, match=f"workspace.*{words}.*empty_workspace"):
            plan.forward(x, out, wrong)
    with pytest.raises(weft.Error, match="workspace for a plan that owns its own"):
        weft.Plan(None, (4, 6)).forward(x, out, workspace=np.ones(64, np.uint8))
    assert plan.forward(x, out, plan.empty_workspace()) is out


def test_an_error_leaves_the_plan_usable():
    plan = weft.Plan(None, (4, 6), workspace="user", in_place=True)
    x = plan.empty_input()
    with pytest.raises(weft.Error):
        plan.forward(x[:2])
    x[...] = 1
    assert plan.forward(x, workspace=plan.empty_workspace())[0, 0] == 24


@pytest.mark.parametrize("end", [lambda plan: plan.free(), lambda plan: None], ids=["free", "del"])
def test_plans_that_nobody_waits_for(end):
    """Their arrays are never given back: messages of other ranks may still use them."""
    plan = weft.Plan(None, (4, 6), workspace="user")
    arrays = [plan.empty_input(), plan.empty_output(), plan.empty_workspace()]
    alive = [weakref.ref(a) for a in arrays]
    plan.start_forward(*arrays)
    end(plan)
    del arrays, plan
    gc.collect()
    assert all(a() is not None for a in alive[:2])
