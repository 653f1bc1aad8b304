"""Two GPUs of one process: python examples/two_gpus.py"""

import sys

import numpy as np
import weft

if weft.device_count() < 2:
    sys.exit(f"This example needs two GPUs, and CUDA finds {weft.device_count()}.")
import cupy as cp

# An array of the host: each GPU gets a half of it, both exchange parts, and each returns a half of the result.
n = 256
x, y, z = np.meshgrid(*[np.arange(n) * (2 * np.pi / n)] * 3, indexing="ij", sparse=True)
volume = np.sin(3 * x) * np.cos(5 * y) * np.cos(7 * z)
modes = weft.rfftn(volume, devices=[0, 1])
assert np.allclose(weft.irfftn(modes, devices=[0, 1]), volume)
print(f"{np.count_nonzero(abs(modes) > 1)} of {modes.size} modes differ from 0")


# Arrays that stay there: two threads are ranks, each with a GPU and its half of the array.
def slope(comm):
    with cp.cuda.Device(comm.rank):
        plan = weft.Plan(comm, volume.shape, "r2c", device=comm.rank)  # collective
        part = cp.asarray(volume[plan.input_box.slices])
        modes = plan.forward(part)
        modes *= 1j * cp.asarray(plan.wavenumbers(0))
        along_x = plan.backward(modes)  # enqueued on CuPy's current stream, as all of this is
        i = plan.input_box.slices
        expected = 3 * np.cos(3 * x[i[0]]) * np.cos(5 * y[:, i[1]]) * np.cos(7 * z[:, :, i[2]])
        return np.abs(along_x.get() - expected).max()


error = max(weft.ThreadTeam(2).run(slope))
print(f"the derivative along x is off by {error:.1e} at most")
assert error < 1e-10
