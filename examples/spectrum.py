"""A transform and back, on the ranks of MPI: mpirun -n 4 python examples/spectrum.py"""

import numpy as np
import weft
from mpi4py import MPI

plan = weft.Plan(MPI.COMM_WORLD, (64, 64, 64), "r2c")  # collective
x = plan.empty_input()  # this rank's part, plan.input_box: a slab, cut along axis 0
x[...] = 1 + MPI.COMM_WORLD.rank
y = plan.forward(x)  # as often as you like
energy = MPI.COMM_WORLD.allreduce(np.linalg.norm(x) ** 2)
plan.backward(y, out=x)  # divides by the number of points, as norm="backward" of SciPy does
assert np.isclose(MPI.COMM_WORLD.allreduce(np.linalg.norm(x) ** 2), energy)
