"""Plans of device memory: arrays of CuPy, PyTorch and others where they lie, on the caller's stream."""

import numpy as np
import on_gpus
import pytest
import weft
from compare import close, random_array
from on_gpus import GPUS, address, here, made_by, stream_and_context, there

pytestmark = on_gpus.need(1)
SHAPE = (24, 20, 36)


@pytest.fixture(params=on_gpus.MODULES)
def xp(request):
    on_gpus.module(request.param)
    return request.param


def some(shape=SHAPE, dtype=np.complex128, seed=1):
    return random_array(np.random.default_rng(seed), shape, dtype)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex(xp, dtype):
    a = some(dtype=dtype)
    plan = weft.Plan(None, SHAPE, dtype=dtype, device=0)
    x = there(a, xp)
    y = plan.forward(x)
    assert made_by(y, xp)
    close(here(y), np.fft.fftn(a).astype(dtype), 4)
    close(here(x), a, 0.25)  # left as it was
    close(here(plan.backward(y)), a, 8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_real(xp, dtype):
    a = some(dtype=dtype)
    plan = weft.Plan(None, SHAPE, "r2c", dtype, output="slab1", device="cuda")
    y = plan.forward(there(a, xp))
    close(here(y), np.fft.rfftn(a).astype(plan.output_dtype), 4)
    close(here(plan.backward(y)), a, 8)


def test_cosines(xp):
    import scipy.fft

    a = some(dtype=np.float64)
    plan = weft.Plan(None, SHAPE, ["dct2", None, "dst1"], device=0, output="slab0")
    close(here(plan.forward(there(a, xp))), scipy.fft.dst(scipy.fft.dct(a, 2, axis=0), 1, axis=2), 8)


def test_nothing_is_copied(xp):
    """The result is written to the memory of `out`, a strided part of a larger array, and nowhere else."""
    around = there(np.full((*SHAPE[:2], 2 * SHAPE[2]), 7 + 0j), xp)
    view = around[:, :, 4 : 4 + SHAPE[2]]
    strides = [2 * SHAPE[1] * SHAPE[2], 2 * SHAPE[2], 1]
    output = weft.Distribution.slab(0).with_strides(strides)
    plan = weft.Plan(None, SHAPE, output=output, device=view)
    x = plan.empty_input()
    assert made_by(x, xp)
    a = some()
    x[...] = there(a, xp)
    before = address(x)
    assert plan.forward(x, view) is view
    close(here(view), np.fft.fftn(a), 4)
    rest = here(around)
    rest[:, :, 4 : 4 + SHAPE[2]] = 7
    assert (rest == 7).all()
    back = plan.backward(view)
    close(here(back), a, 8)
    assert address(x) == before


def test_new_arrays(xp):
    plan = weft.Plan(None, SHAPE, "r2c", device=0)
    x, y = plan.empty_input(xp), plan.empty_output(on_gpus.module(xp))
    assert made_by(x, xp) and made_by(y, xp)
    assert tuple(x.shape) == plan.input_shape and tuple(y.shape) == plan.output_shape
    x[...] = 1
    plan.forward(x, y)
    assert np.isclose(here(y).reshape(-1)[0], np.prod(SHAPE))
    assert plan.device == 0


def test_in_place_and_workspace(xp):
    """The result is a view of the memory of x; the workspace is the caller's."""
    a = some(dtype=np.float64)
    plan = weft.Plan(None, SHAPE, "r2c", output="slab1", in_place=True, workspace="user", device=0)
    x, workspace = plan.empty_input(xp), plan.empty_workspace(xp)
    assert len(workspace) == plan.workspace_bytes
    x[...] = there(a, xp)
    y = plan.forward(x, workspace=workspace)
    assert made_by(y, xp) and address(y) == address(x)
    close(here(y), np.fft.rfftn(a), 4)
    assert plan.backward(y, x, workspace) is x
    close(here(x), a, 8)
    if plan.workspace_bytes:
        with pytest.raises(weft.Error, match="0 bytes of workspace; expected at least"):
            plan.forward(x)


@pytest.mark.parametrize("explicit", [False, True])
def test_streams(xp, explicit):
    """The execution comes after what the caller has enqueued on its stream, which takes much longer than planning to
    return, and before what follows there."""
    n = 256
    plan = weft.Plan(None, (n, n, n), device=0)
    stream, context, synchronize = stream_and_context(xp)
    ones = there(np.ones((n, n, n), complex), xp)
    x, out = plan.empty_input(xp), plan.empty_output(xp)
    x[...] = 0
    out[...] = 0
    on_gpus.wait(xp)
    with context:
        for _ in range(300):  # a second of work or so, at the end of which x has its values
            x[...] = ones
            x *= 2
        if not explicit:
            y = plan.forward(x, out)
            y = y * 1  # enqueued on the same stream
    if explicit:
        y = plan.forward(x, out, stream=stream)
    synchronize()
    assert np.isclose(here(y).reshape(-1)[0], 2 * n**3)


def test_started_and_waited_for(xp):
    a = some()
    plan = weft.Plan(None, SHAPE, device=0)
    plan.start_forward(there(a, xp))
    close(here(plan.wait()), np.fft.fftn(a), 4)
    assert plan.wait() is None


def test_the_same_arrays_again_and_again(xp):
    """Executions that are captured as graphs."""
    plan = weft.Plan(None, SHAPE, device=0)
    x, y = plan.empty_input(xp), plan.empty_output(xp)
    for turn in range(8):
        a = some(seed=turn)
        x[...] = there(a, xp)
        plan.forward(x, y)
        close(here(y), np.fft.fftn(a), 4)


def test_batch(xp):
    a = some((3, *SHAPE))
    plan = weft.Plan(None, SHAPE, batch=3, device=0)
    close(here(plan.forward(there(a, xp))), np.fft.fftn(a, axes=(1, 2, 3)), 4)


def test_thread_ranks_that_share_a_gpu(xp):
    a = some()

    def body(comm):
        plan = weft.Plan(comm, SHAPE, output="slab1", device=0)
        stream, context, synchronize = stream_and_context(xp)
        with context:
            y = plan.forward(there(a[plan.input_box.slices], xp))
        synchronize()
        return plan.output_box, here(y)

    for box, part in weft.ThreadTeam(2).run(body):
        close(part, np.fft.fftn(a)[box.slices], 4)


def test_errors(xp):
    plan = weft.Plan(None, SHAPE, device=0)
    x = there(some(), xp)
    with pytest.raises(weft.Error, match="x in memory of the host; expected an array in memory of GPU 0"):
        plan.forward(some())
    with pytest.raises(weft.Error, match="x of .*dtype complex64"):
        plan.forward(there(some(dtype=np.complex64), xp))
    with pytest.raises(weft.Error, match=r"x of shape \(24, 20, 35\)"):
        plan.forward(x[:, :, 1:])
    with pytest.raises(weft.Error, match="x in memory of a GPU; expected memory of the host"):
        weft.Plan(None, SHAPE).forward(x)
    with pytest.raises(weft.Error, match=f"GPU {GPUS}; expected one of the {GPUS}"):
        weft.Plan(None, SHAPE, device=GPUS)
    close(here(plan.forward(x)), np.fft.fftn(some()), 4)  # is none the worse
    plan.free()
    with pytest.raises(weft.Error, match="freed"):
        plan.forward(x)


def test_tensors_that_are_more_than_memory():
    torch = on_gpus.module("torch")
    plan = weft.Plan(None, (8, 8), device=0)
    x = torch.ones(8, 8, dtype=torch.complex128, device="cuda")
    with pytest.raises(weft.Error, match="lazy conjugate"):
        plan.forward(x.conj())
    with pytest.raises(weft.Error, match="requires grad"):
        plan.forward(x.clone().requires_grad_())
    with pytest.raises(weft.Error, match="dtype bfloat16"):
        weft.Plan(None, (8, 8), "r2c", device=0).forward(torch.ones(8, 8, dtype=torch.bfloat16, device="cuda"))


def test_jax():
    """Arrays of another module, by DLPack: read, never written."""
    jax = pytest.importorskip("jax")
    cupy = on_gpus.module("cupy")
    if jax.default_backend() != "gpu":
        pytest.skip("this JAX has no CUDA")
    a = some(dtype=np.complex64)
    x = jax.device_put(a, jax.devices()[0])
    plan = weft.Plan(None, SHAPE, dtype=np.complex64, device=x, output="slab0")
    out = plan.empty_output(cupy)
    close(here(plan.forward(x, out)), np.fft.fftn(a).astype(np.complex64), 4)
    with pytest.raises(weft.Error, match="out, which is read-only"):
        plan.forward(out, x)
    with pytest.raises(weft.Error, match="arrays of jax"):
        plan.forward(x)


class Wrapped:
    """Only what `__cuda_array_interface__` says."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def test_cuda_array_interface(xp):
    a = some()
    plan = weft.Plan(None, SHAPE, device=0, output="slab0")
    x, out = there(a, xp), there(np.zeros_like(a), xp)
    plan.forward(Wrapped(x), Wrapped(out))
    plan.wait()
    close(here(out), np.fft.fftn(a), 4)
    assert weft.Plan(None, SHAPE, device=Wrapped(x)).device == 0
