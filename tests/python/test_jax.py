"""What docs/python-gpu.md says of JAX, on the host. Skipped without JAX."""

import os
import subprocess
import sys

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


SHARDED = """
import threading, jax, numpy as np
from jax.experimental import io_callback
from jax.sharding import NamedSharding, PartitionSpec as P

where = NamedSharding(jax.make_mesh((2,), ("x",)), P("x"))
try:
    jax.device_put(np.zeros(5), where)
except ValueError as error:
    print("evenly divide" in str(error))
both, threads = threading.Barrier(2), set()

def meet(part):
    both.wait(20)
    threads.add(threading.get_native_id())
    return np.asarray(part)

def twice(part):
    for _ in range(2):
        part = io_callback(meet, jax.ShapeDtypeStruct(part.shape, part.dtype), part, ordered=True)
    return part

x = jax.device_put(np.arange(8, dtype=np.float32), where)
y = jax.jit(jax.shard_map(twice, mesh=where.mesh, in_specs=P("x"), out_specs=P("x")))(x)
print(np.array_equal(x, y), threading.get_native_id() in threads)
"""


def test_what_sharded_arrays_are_like():
    """Parts are even, and the calls of devices come from threads of JAX; ordered ones meet."""
    environment = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", SHARDED]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=False)
    assert result.stdout.split() == ["True", "True", "False"], result.stderr


def test_callbacks_inside_jit():
    def transform(a):
        return jax.pure_callback(weft.fftn, jax.ShapeDtypeStruct(a.shape, a.dtype), a)

    x = jax.numpy.arange(24, dtype=np.complex64).reshape(4, 6)
    assert np.allclose(jax.jit(transform)(x), np.fft.fftn(x), atol=1e-4)
