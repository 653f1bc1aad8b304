"""weft.fftn and its like: of device arrays, and of arrays that several GPUs share."""

import numpy as np
import on_gpus
import pytest
import scipy.fft
import weft
from compare import close, random_array
from on_gpus import GPUS, device_of, here, made_by, there
from weft._places import Given

pytestmark = on_gpus.need(1)
SHAPE = (40, 36, 30)  # large enough to be shared
# Two ranks on two GPUs, or on one that they share.
PAIRS = [[0, 0], pytest.param([0, 1], marks=on_gpus.need(2)), pytest.param([1, 0], marks=on_gpus.need(2))]


@pytest.fixture(params=on_gpus.MODULES)
def xp(request):
    on_gpus.module(request.param)
    return request.param


def some(dtype=np.complex128, shape=SHAPE):
    return random_array(np.random.default_rng(2), shape, dtype)


CASES = [
    ("fftn", np.complex64, {}),
    ("ifftn", np.complex128, dict(norm="ortho")),
    ("fft2", np.complex128, {}),
    ("fft", np.complex128, dict(axis=0)),
    ("rfftn", np.float32, {}),
    ("irfftn", np.complex128, {}),
    ("hfftn", np.complex128, {}),
    ("ihfftn", np.float64, {}),
    ("rfftn", np.float64, dict(s=(32, 40), axes=(2, 0))),
    ("fftn", np.float64, {}),
    ("rfft", np.int32, {}),
    ("dctn", np.float64, {}),
    ("idstn", np.float64, dict(type=2, norm="ortho")),
]


def check(result, name, a, arguments):
    close(result if isinstance(result, np.ndarray) else here(result), getattr(scipy.fft, name)(a, **arguments), 8)


@pytest.mark.parametrize(("name", "dtype", "arguments"), CASES)
def test_device_arrays(xp, name, dtype, arguments):
    a = some(dtype)
    x = there(a, xp)
    result = getattr(weft, name)(x, **arguments)
    assert made_by(result, xp) and device_of(result) == 0
    check(result, name, a, arguments)
    assert np.array_equal(here(x), a)


@pytest.mark.parametrize("devices", PAIRS)
@pytest.mark.parametrize(("name", "dtype", "arguments"), CASES)
def test_host_arrays_on_two_gpus(devices, name, dtype, arguments):
    a = some(dtype)
    result = getattr(weft, name)(a, devices=devices, **arguments)
    assert isinstance(result, np.ndarray)
    check(result, name, a, arguments)


@pytest.mark.parametrize("devices", PAIRS)
@pytest.mark.parametrize(("name", "dtype", "arguments"), CASES)
def test_device_arrays_on_two_gpus(xp, devices, name, dtype, arguments):
    """Whole arrays in memory of one of the two; results are there too."""
    a = some(dtype)
    result = getattr(weft, name)(there(a, xp, devices[0]), devices=devices, **arguments)
    assert made_by(result, xp) and device_of(result) == devices[0]
    check(result, name, a, arguments)


@pytest.mark.parametrize("view", ["transposed", "stepped", "reversed", "fortran"])
def test_views(xp, view):
    a = some()
    views = dict(transposed=lambda x: x.T if xp == "cupy" else x.permute(2, 1, 0), stepped=lambda x: x[::2, :, 1::2])
    views |= dict(reversed=lambda x: x[::-1] if xp == "cupy" else x.flip(0), fortran=lambda x: x.swapaxes(0, 2))
    seen = views[view](there(a, xp))
    close(here(weft.fftn(seen)), np.fft.fftn(here(seen)), 8)


@pytest.mark.parametrize("view", ["transposed", "stepped", "reversed"])
@pytest.mark.parametrize("devices", PAIRS)
def test_views_of_the_host(view, devices):
    a = some(shape=(80, 40, 36))
    seen = dict(transposed=a.T, stepped=a[::2, :, 1::2], reversed=a[::-1])[view]
    close(weft.fftn(seen, devices=devices), np.fft.fftn(seen), 8)
    close(weft.fftn(seen, axes=(1, 2), devices=devices), np.fft.fftn(seen, axes=(1, 2)), 8)


def test_one_device_and_small_arrays():
    a = some()
    close(weft.fftn(a, devices=[0]), np.fft.fftn(a), 8)
    small = some(shape=(4, 6))
    close(weft.fftn(small, devices=[GPUS - 1, 0]), np.fft.fftn(small), 8)


def test_the_current_stream(xp):
    """Results follow what was enqueued before, and are there for what follows."""
    x = there(np.zeros((128, 128, 128), complex), xp)
    for turn in range(1, 20):
        x += 1
        y = weft.fftn(x)
        assert np.isclose(here(y).reshape(-1)[0], turn * 128**3)


def test_plans_are_kept():
    a = some()
    weft.clear_cache()
    for _ in range(3):
        weft.fftn(a, devices=[0])
    from weft._whole import _store

    assert len(_store.plans) == 1
    weft.clear_cache()


def test_errors(xp):
    x = there(some(), xp)
    with pytest.raises(weft.Error, match=rf"GPU {GPUS}; expected one of the {GPUS}"):
        weft.fftn(some(), devices=[0, GPUS])
    with pytest.raises(weft.Error, match=r"\[5\] for an array on GPU 0; expected devices with that one among them"):
        weft.fftn(x, devices=[5])
    with pytest.raises(weft.Error, match="both workers and devices"):
        weft.fftn(x, devices=[0], workers=1)


@on_gpus.need(2)
@pytest.mark.parametrize("dtype", [np.complex64, np.float64])
def test_plans_of_thread_ranks_with_a_gpu_each(xp, dtype):
    """The plan of a rank on GPU 1 wants memory of GPU 1, whichever device is current."""
    a = some(dtype)
    kind = "r2c" if dtype is np.float64 else "c2c"

    def body(comm):
        plan = weft.Plan(comm, SHAPE, kind, dtype, output="slab1", device=comm.rank)
        x = there(a[plan.input_box.slices], xp, comm.rank)
        if comm.rank == 1:
            with pytest.raises(weft.Error, match="x in memory of GPU 0; expected memory of GPU 1"):
                plan._place.arrays(None, (plan._input, plan._output), Given(there(here(x), xp, 0)))
        y = plan.forward(x)
        assert device_of(y) == comm.rank
        z = plan.backward(y)
        plan.wait()
        close(here(z), a[plan.input_box.slices], 8)
        return plan.output_box, here(y)

    expected = np.fft.rfftn(a) if kind == "r2c" else np.fft.fftn(a).astype(dtype)
    for box, part in weft.ThreadTeam(2).run(body):
        close(part, expected[box.slices], 8)
