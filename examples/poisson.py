"""Poisson's equation, laplacian(u) = f, on a distributed array: periodic, and between two walls.

    mpirun -n 4 python examples/poisson.py --grid 64

Axes 0 and 1 are periodic, of length 2 pi. Axis 2 is too, or it ends at walls where u = 0: then the transform along it
is a sine transform (DST-1), whose points are those between the walls. Transform, divide by -k^2, transform back. The
solution is known and smooth, but has waves of all lengths, so that the error shows what the grid resolves: rounding
alone is left from 32 points on. Printed is the largest error of both.
"""

from __future__ import annotations

import argparse

import numpy as np
import weft
from mpi4py import MPI

TAU = 2 * np.pi


def periodic(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A function of period 2 pi, and its second derivative."""
    g = np.exp(np.sin(x))
    return g, (np.cos(x) ** 2 - np.sin(x)) * g


def walled(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A function that is zero at 0 and at pi, and its second derivative."""
    sin, cos = np.sin(x), np.cos(x)
    return sin * np.exp(cos), sin * (sin**2 - 3 * cos - 1) * np.exp(cos)


# [solve]
def solve(plan: weft.Plan, f: np.ndarray, lengths: list[float]) -> np.ndarray:
    """This rank's part of u with laplacian(u) = f. Its mean is zero where that is free. Collective.

    `lengths`: of the period of each axis; for a sine transform twice the distance of the walls.
    """
    modes = plan.forward(f)
    k2 = sum((plan.wavenumbers(axis) * (TAU / length)) ** 2 for axis, length in enumerate(lengths))
    modes /= np.where(k2 == 0, -np.inf, -k2)  # the mode without waves becomes zero
    return plan.backward(modes)


# [/solve]


def error(comm: MPI.Comm, n: int, walls: bool) -> float:
    """The largest error of a solution on n points along each axis. Collective."""
    plan = weft.Plan(comm, (n, n, n), ["c2c", "r2c", "dst1" if walls else "c2c"])
    i, j, k = (np.arange(low, high) for low, high in zip(*plan.input_box, strict=True))
    a, a2 = periodic(TAU * i / n)
    b, b2 = periodic(TAU * j / n)
    c, c2 = walled(np.pi * (k + 1) / (n + 1)) if walls else periodic(TAU * k / n)
    a, a2, b, b2 = a[:, None, None], a2[:, None, None], b[:, None], b2[:, None]
    u = solve(plan, a2 * b * c + a * b2 * c + a * b * c2, [TAU, TAU, TAU])
    difference = u - a * b * c
    if not walls:  # the constant is free
        difference -= comm.allreduce(difference.sum()) / n**3
    return comm.allreduce(abs(difference).max(initial=0), MPI.MAX)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grid", type=int, default=48, help="points along each axis (%(default)s)")
    parser.add_argument("--tolerance", type=float, default=1e-12, help="largest error (%(default)s)")
    arguments = parser.parse_args()
    comm, failed = MPI.COMM_WORLD, False
    for walls in (False, True):
        worst = error(comm, arguments.grid, walls)
        failed |= not worst < arguments.tolerance
        if comm.rank == 0:
            name = "between walls" if walls else "periodic"
            print(f"{name}: {arguments.grid}^3 points on {comm.size} ranks, largest error {worst:.1e}")
    if failed:
        raise SystemExit(f"an error is larger than {arguments.tolerance:g}")


if __name__ == "__main__":
    main()
