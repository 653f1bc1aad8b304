"""What docs/python-gpu.md says of JAX, on the host. Skipped without JAX."""

import numpy as np
import pytest
import weft

jax = pytest.importorskip("jax", reason="JAX is not installed")


@pytest.fixture(autouse=True)
def on_the_host():
    with jax.default_device(jax.devices("cpu")[0]):
        yield


def test_plans_read_arrays_where_they_lie():
    a = np.random.default_rng(1).standard_normal((4, 6)).astype(np.float32)
    x = jax.numpy.asarray(a)
    plan = weft.Plan(None, (4, 6), "r2c", np.float32, output="slab0")
    y = plan.forward(x.addressable_data(0))
    assert isinstance(y, np.ndarray) and np.allclose(y, np.fft.rfftn(a), atol=1e-5)
    with pytest.raises(weft.Error, match="out, which is read-only"):
        plan.backward(y, x)


def test_callbacks_inside_jit():
    def transform(a):
        return jax.pure_callback(weft.fftn, jax.ShapeDtypeStruct(a.shape, a.dtype), a)

    x = jax.numpy.arange(24, dtype=np.complex64).reshape(4, 6)
    assert np.allclose(jax.jit(transform)(x), np.fft.fftn(x), atol=1e-4)
