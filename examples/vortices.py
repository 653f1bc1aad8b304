"""Decaying vortices in a periodic square, written for mpi4py-fft: mpirun -n 4 python examples/vortices.py"""

import numpy as np
from mpi4py import MPI
from weft.mpi4py_fft import PFFT, newDistArray  # the one line that changes: it was mpi4py_fft

n, viscosity, step, steps = 64, 0.05, 0.01, 20
fft = PFFT(MPI.COMM_WORLD, (n, n), dtype=float)  # halves the last axis, and forward divides by n * n

x, y = np.ogrid[fft.local_slice(False)]  # this rank's points
kx, ky = np.meshgrid(np.fft.fftfreq(n, 1 / n), np.fft.rfftfreq(n, 1 / n), indexing="ij", sparse=True)
kx, ky = kx[fft.local_slice()[0]], ky[:, fft.local_slice()[1]]  # and its wavenumbers
k2 = kx**2 + ky**2

vorticity = newDistArray(fft, False)
vorticity[:] = 2 * np.cos(2 * np.pi * x / n) * np.cos(2 * np.pi * y / n)
modes = fft.forward(vorticity, newDistArray(fft))


def change(w):
    """The time derivative of the vorticity's modes: advection by the flow that they make, and viscosity."""
    stream = w / np.where(k2 == 0, 1, k2)
    u, v = (fft.backward(1j * k * stream).copy() for k in (ky, -kx))
    wx, wy = (fft.backward(1j * k * w).copy() for k in (kx, ky))
    return -fft.forward(u * wx + v * wy) - viscosity * k2 * w


for _ in range(steps):  # Runge and Kutta's method of order 2
    modes += step * change(modes + step / 2 * change(modes))
vorticity = fft.backward(modes, vorticity)
energy = MPI.COMM_WORLD.allreduce(float(np.sum(vorticity**2))) / n**2
assert np.isclose(energy, np.exp(-4 * viscosity * step * steps), rtol=1e-6), energy
