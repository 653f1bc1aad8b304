"""Memory of results: a new array whenever one is asked for, on memory of earlier ones that are gone."""

import sys

import numpy as np
import pytest
import weft
from test_processes import run
from weft import _core, _memory, _whole

MIB = 1 << 20


@pytest.fixture(autouse=True)
def fresh():
    weft.clear_cache()
    yield
    weft.limit_cache()
    weft.clear_cache()


def address(a: np.ndarray) -> int:
    return a.__array_interface__["data"][0]


def ones(mib: int) -> np.ndarray:
    """An array whose transform has so many MiB."""
    return np.ones((mib, 256, 256), complex)


@pytest.mark.parametrize("transform", [weft.fftn, weft.ifftn, lambda a: weft.dctn(a.real), weft.hfftn])
def test_memory_is_used_again(transform):
    a = ones(8)
    first = transform(a)
    expected, where = first.copy(), address(first)
    del first
    second = transform(a)
    assert address(second) == where
    assert np.array_equal(second, expected)
    third = transform(a)
    assert address(third) != where
    assert np.array_equal(second, expected)


def test_plans_use_it_too():
    plan = weft.Plan(None, (4, 256, 256))
    x = plan.empty_input()
    x[...] = 1
    y = plan.forward(x)
    where = address(y)
    del y
    again = plan.forward(x)
    assert address(again) == where
    assert again[0, 0, 0] == x.size


def test_views_hold_the_memory():
    a = ones(4)
    result = weft.fftn(a)
    view, where = result[0, :2, :2].T[1:], address(result)
    exported = memoryview(result)
    del result
    assert address(weft.fftn(a)) != where
    del view
    assert address(weft.fftn(a)) != where
    assert np.asarray(exported)[0, 0, 0] == a.size
    exported.release()
    assert where in [address(r) for r in [weft.fftn(a), weft.fftn(a)]]


def test_what_is_kept_is_bounded():
    weft.limit_cache(8 * MIB)
    arrays = [_memory.empty((MIB * n // 16,), np.dtype(complex)) for n in (4, 4, 2, 12)]
    places = [address(a) for a in arrays]
    assert _core.idle_memory() == 0
    while arrays:
        arrays.pop(0)
    assert _core.idle_memory() == 6 * MIB, "the last 8 MiB, of which the first block went, and none of the 12"
    again = [_memory.empty((MIB * n // 16,), np.dtype(complex)) for n in (2, 4)]
    assert [address(a) for a in again] == [places[2], places[1]]
    assert _core.idle_memory() == 0


def test_memory_much_larger_is_left():
    _memory.empty((16 * MIB,), np.dtype(np.uint8))
    assert _core.idle_memory() == 16 * MIB
    small = _memory.empty((4 * MIB,), np.dtype(np.uint8))
    assert _core.idle_memory() == 16 * MIB
    large = _memory.empty((15 * MIB,), np.dtype(np.uint8))
    assert _core.idle_memory() == 0 and small.nbytes < large.nbytes


def test_limits():
    weft.fftn(ones(4))
    assert _core.idle_memory() == 4 * MIB and _whole._store.plans
    weft.limit_cache(0)
    assert _core.idle_memory() == 0
    assert sum(k.bytes for k in _whole._store.plans.values()) == 0
    weft.fftn(ones(4))
    assert _core.idle_memory() == 0
    for wrong in (-1, 1.5, "1 GiB", None, 1 << 63, 1 << 80):
        with pytest.raises(weft.Error, match="limit_cache: nbytes.*number of bytes"):
            weft.limit_cache(wrong)
    weft.limit_cache((1 << 63) - 1)


def test_clear_cache():
    weft.fftn(ones(4), workers=2)
    assert _core.idle_memory() > 0
    weft.clear_cache()
    assert _core.idle_memory() == 0


def test_small_results_are_numpys():
    result = weft.fftn(np.ones((8, 8)))
    assert result.base is None and result.flags.owndata


def test_too_much_memory():
    weft.fftn(ones(2))
    with pytest.raises(MemoryError):
        _core.ResultMemory(sys.maxsize)
    assert _core.idle_memory() == 0, "what is kept is given up before there is not enough"
    with pytest.raises(MemoryError):
        _core.ResultMemory(2**64 - 1)


def test_fork():
    """Results of the parent are the child's own copies, and may be given back in both."""
    result = run(
        """
        import os, numpy as np, weft
        b = np.ones((64, 64, 64), complex)
        kept = weft.fftn(b)
        weft.fftn(b)
        child = os.fork()
        if child == 0:
            assert kept[0, 0, 0] == b.size
            kept[...] = 7
            del kept
            assert weft.fftn(b)[0, 0, 0] == b.size
        else:
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            assert kept[0, 0, 0] == b.size and weft.fftn(b)[0, 0, 0] == b.size
        """
    )
    assert result.returncode == 0, result.stderr


def test_arrays_outlive_the_package():
    result = run(
        """
        import gc, sys, numpy as np, weft
        kept = weft.fftn(np.ones((64, 64, 64)))
        for name in [n for n in sys.modules if n.startswith("weft")]:
            del sys.modules[name]
        del weft
        gc.collect()
        assert kept[0, 0, 0] == 64**3
        sys.kept = kept  # until the interpreter ends
        print("done")
        """
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "done\n", "")
