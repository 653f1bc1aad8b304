"""The Taylor-Green vortex at Reynolds number 1600: how vortices decay into turbulence, and how fast energy is lost.

    mpirun -n 4 python examples/taylor_green.py --grid 64 --until 12 --picture dissipation.png

Navier-Stokes in a box of length 2 pi with periodic sides, pseudo-spectral: derivatives in wavenumbers, products at
points, modes beyond 2/3 of the grid's left out, Runge-Kutta of order 4. Each step takes 36 transforms, three at a time.
Printed are time, kinetic energy, dissipation rate, and how well energy lost and dissipated agree.

At 512^3 points the dissipation rate has its peak of 0.0127 to 0.0129 near t = 9 (van Rees, Leonard, Pullin and
Koumoutsakos, J. Comput. Phys. 230, 2794, 2011; first seen by Brachet et al., J. Fluid Mech. 130, 411, 1983).
`--reference FILE` compares with a table of time, energy and dissipation, such as the one of the International Workshop
on High-Order CFD Methods for its case C3.5, `spectral_Re1600_512.gdiag`.
"""

from __future__ import annotations

import argparse

import numpy as np
import weft
from mpi4py import MPI

PEAK_TIME, PEAK_RATES = 9.0, (0.0127, 0.0129)


class Flow:
    """The velocity's modes on this rank, 3 x box, and the equation they follow. Methods are collective."""

    def __init__(self, comm: MPI.Comm, n: int, reynolds: float) -> None:
        self.comm, self.viscosity = comm, 1 / reynolds
        self.plan = weft.Plan(comm, (n, n, n), "r2c", norm="forward", batch=3)  # modes are Fourier coefficients
        self.k = [self.plan.wavenumbers(axis) for axis in range(3)]
        self.k2 = sum(k**2 for k in self.k)
        self.kept = self.plan.dealiasing_mask()
        self.weight = self.plan.hermitian_weights() * self.kept  # modes with k[2] < 0 are not stored
        x, y, z = self.points()
        self.u, self.vorticity, self.product = (self.plan.empty_input() for _ in range(3))
        self.u[0] = np.sin(x) * np.cos(y) * np.cos(z)
        self.u[1] = -np.cos(x) * np.sin(y) * np.cos(z)
        self.u[2] = 0
        self.modes = self.plan.forward(self.u)
        self.curl, self.change, self.stage, self.total = (self.plan.empty_output() for _ in range(4))

    def points(self) -> list[np.ndarray]:
        """The coordinates of this rank's points."""
        return [2 * np.pi / n * i for n, i in zip(self.plan.shape, np.ogrid[self.plan.input_box.slices], strict=True)]

    # [rate]
    def rate(self, modes: np.ndarray) -> np.ndarray:
        """d modes / dt: u x vorticity, without what the pressure takes away, and friction."""
        cross(self.k, modes, self.curl)
        self.curl *= 1j
        cross(self.plan.backward(modes, self.u), self.plan.backward(self.curl, self.vorticity), self.product)
        change = self.plan.forward(self.product, self.change)
        change *= self.kept
        divergence = sum(k * c for k, c in zip(self.k, change, strict=True))
        divergence /= np.where(self.k2 == 0, 1, self.k2)
        for k, component, mode in zip(self.k, change, modes, strict=True):
            component -= k * divergence + self.viscosity * self.k2 * mode
        return change

    # [/rate]

    def energy(self, modes: np.ndarray) -> float:
        """The mean of u^2 / 2."""
        return self.comm.allreduce(0.5 * float((self.weight * abs(modes) ** 2).sum()))

    def dissipation(self, modes: np.ndarray) -> float:
        """Viscosity times the mean of the squared vorticity, which is - d energy / dt."""
        return self.comm.allreduce(self.viscosity * float((self.weight * self.k2 * abs(modes) ** 2).sum()))

    def step(self, dt: float) -> float:
        """Goes on by dt. Returns the energy that is dissipated meanwhile, by the same Runge-Kutta formula."""
        lost = 0.0
        self.stage[...] = self.total[...] = self.modes
        for weight, ahead in ((1 / 6, 0.5), (1 / 3, 0.5), (1 / 3, 1), (1 / 6, 0)):
            lost += weight * dt * self.dissipation(self.stage)
            change = self.rate(self.stage)
            self.total += weight * dt * change
            np.multiply(change, ahead * dt, out=self.stage)
            self.stage += self.modes
        self.modes, self.total = self.total, self.modes
        return lost


def cross(a: list[np.ndarray] | np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """out = a x b, component by component."""
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        np.subtract(a[j] * b[k], a[k] * b[j], out=out[i])


def check_start(flow: Flow) -> None:
    """What is known exactly at t = 0: energy, dissipation, and the acceleration along axis 2 by the pressure alone,
    which is (cos 2x + cos 2y) (2 + cos 2z) / 16."""
    x, y, z = flow.points()
    along_z = flow.plan.backward(flow.rate(flow.modes))[2]
    wrong = abs(along_z - (np.cos(2 * x) + np.cos(2 * y)) * np.sin(2 * z) / 8).max(initial=0)
    wrong = max(wrong, abs(flow.energy(flow.modes) - 1 / 8), abs(flow.dissipation(flow.modes) - 0.75 * flow.viscosity))
    if not flow.comm.allreduce(wrong, MPI.MAX) < 1e-14:
        raise SystemExit("the start is not as Taylor and Green have it")


def draw(name: str, history: np.ndarray, n: int, reference: np.ndarray | None) -> None:
    """The dissipation rate over time, beside what is published."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise SystemExit("--picture needs matplotlib: pip install matplotlib") from None
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot(history[:, 0], history[:, 2], label=f"{n}³ points")
    if reference is not None:
        axes.plot(reference[:, 0], reference[:, 2], "k--", label="reference")
    axes.plot([PEAK_TIME] * 2, PEAK_RATES, "k_-", label="published peak, 512³ points")
    axes.set(xlabel="time", ylabel="dissipation rate", title="Taylor-Green vortex, Re = 1600", ylim=(0, None))
    axes.legend(loc="upper left")
    figure.savefig(name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grid", type=int, default=32, help="points along each axis (%(default)s)")
    parser.add_argument("--until", type=float, default=1, help="time to end at (%(default)s)")
    parser.add_argument("--step", type=float, help="time step (1 / grid)")
    parser.add_argument("--every", type=float, default=0.5, help="time between two lines (%(default)s)")
    parser.add_argument("--reynolds", type=float, default=1600, help="Reynolds number (%(default)s)")
    parser.add_argument("--tolerance", type=float, default=1e-5, help="of the budget, relative (%(default)s)")
    parser.add_argument("--picture", help="file to draw to, such as dissipation.png")
    parser.add_argument("--reference", help="table of time, energy, dissipation")
    arguments = parser.parse_args()
    steps = max(1, round(arguments.until / (arguments.step or 1 / arguments.grid)))
    dt = arguments.until / steps
    flow = Flow(MPI.COMM_WORLD, arguments.grid, arguments.reynolds)
    first = flow.comm.rank == 0
    check_start(flow)
    if first:
        print(f"{arguments.grid}^3 points on {flow.comm.size} ranks, Re = {arguments.reynolds:g}, {steps} steps")
        print("   time    energy  dissipation    budget")
    history, lost, shown = [], 0.0, 0.0
    for number in range(steps + 1):
        t, energy, dissipation = number * dt, flow.energy(flow.modes), flow.dissipation(flow.modes)
        budget = (energy + lost) / 0.125 - 1
        history.append((t, energy, dissipation))
        if first and (t >= shown - dt / 2 or number == steps):
            print(f"{t:7.3f}  {energy:.6f}     {dissipation:.6f}  {budget:+8.1e}", flush=True)
            shown += arguments.every
        if not abs(budget) < arguments.tolerance:
            raise SystemExit(f"the energy that is lost and what is dissipated differ by {budget:.1e}: a smaller --step")
        lost += flow.step(dt) if number < steps else 0
    if not first:
        return
    table = np.array(history)
    peak = table[table[:, 2].argmax()]
    print(f"largest dissipation {peak[2]:.5f} at t = {peak[0]:.2f}", end="; ")
    print("published: {} to {} near t = {:g}".format(*PEAK_RATES, PEAK_TIME))
    reference = np.loadtxt(arguments.reference, comments=["#", "%"]) if arguments.reference else None
    if reference is not None:
        apart = abs(table[:, 2] - np.interp(table[:, 0], reference[:, 0], reference[:, 2])).max()
        print(f"largest difference from {arguments.reference}: {apart:.5f}")
    if arguments.picture:
        draw(arguments.picture, table, arguments.grid, reference)
        print("drawn to", arguments.picture)


if __name__ == "__main__":
    main()
