#!/usr/bin/env python3
"""The 3/2 rule: modes to more points than there are modes, and back, in one plan, by hand, and by mpi4py-fft.

    mpirun -n 2 bench/padded.py [--modes 96] [--points 144] [--real] [--json FILE]

  kept       a plan with `modes`: backward and forward
  by hand    a plan of all points: zeros, a copy of the modes between them, backward, forward, a copy of the modes
  mpi4py-fft its PFFT with padding, where it is installed: backward and forward

All run in turn in the same processes. Printed are the median of the slowest rank's times, in milliseconds, and how much
results differ. Modes are cut along axis 1, points along axis 0. Nothing else may run meanwhile.
"""

import argparse
import itertools
import statistics

import in_turn
import numpy as np
import weft
from mpi4py import MPI

WORLD = MPI.COMM_WORLD


class Kept:
    """One plan that keeps some of the modes."""

    def __init__(self, shape, modes, transform, options):
        self.plan = weft.Plan(WORLD, shape, transform, modes=modes, output="slab1", norm="forward", **options)
        self.modes, self.result = self.plan.empty_output(), self.plan.empty_output()
        self.points = self.plan.empty_input()
        self.box = self.plan.output_box

    def run(self):
        self.plan.backward(self.modes, out=self.points)
        self.plan.forward(self.points, out=self.result)


class ByHand:
    """A plan of all modes, of which this rank's kept ones are copied from and to an array of their own."""

    def __init__(self, shape, modes, transform, options):
        self.plan = weft.Plan(WORLD, shape, transform, output="slab1", norm="forward", **options)
        self.all, self.points = self.plan.empty_output(), self.plan.empty_input()
        halved = len(shape) - 1 if transform == "r2c" else None
        here = self.plan.output_box
        ranges = []  # along each axis: those of all modes, and of the kept ones, of this rank
        for a, (n, m) in enumerate(zip(shape, modes, strict=True)):
            both = [(0, m, 0)] if a == halved else [(0, (m + 1) // 2, 0), (n - m // 2, n, (m + 1) // 2)]
            mine = []
            for lo, hi, kept in both:
                first, last = max(lo, here.lo[a]), min(hi, here.hi[a])
                if first < last:
                    mine.append((slice(first - here.lo[a], last - here.lo[a]), kept + first - lo, last - first))
            ranges.append(mine)
        self.lo = [min((r[1] for r in mine), default=0) for mine in ranges]
        extents = [sum(r[2] for r in mine) for mine in ranges]
        self.modes, self.result = np.zeros(extents, complex), np.empty(extents, complex)
        self.pairs = []
        for corner in itertools.product(*ranges):
            starts = [r[1] - lo for r, lo in zip(corner, self.lo, strict=True)]
            inner = tuple(slice(s, s + r[2]) for s, r in zip(starts, corner, strict=True))
            self.pairs.append((tuple(r[0] for r in corner), inner))

    def run(self):
        self.all[...] = 0
        for outer, inner in self.pairs:
            self.all[outer] = self.modes[inner]
        self.plan.backward(self.all, out=self.points)
        self.plan.forward(self.points, out=self.all)
        for outer, inner in self.pairs:
            self.result[inner] = self.all[outer]


class Theirs:
    """PFFT of mpi4py-fft with padding."""

    def __init__(self, shape, modes, transform):
        import mpi4py_fft

        logical = [2 * (m - 1) if transform == "r2c" and a == 2 else m for a, m in enumerate(modes)]
        padding = [n / m for n, m in zip(shape, logical, strict=True)]
        dtype = "d" if transform == "r2c" else "D"
        self.fft = mpi4py_fft.PFFT(WORLD, logical, dtype=dtype, padding=padding, slab=True)
        self.modes, self.result = mpi4py_fft.newDistArray(self.fft), mpi4py_fft.newDistArray(self.fft)
        self.points = mpi4py_fft.newDistArray(self.fft, False)

    def run(self):
        self.fft.backward(self.modes, self.points)
        self.fft.forward(self.points, self.result)


def smooth(box, modes, halved):
    """Modes of real data, without any in the middle of an even number, where conventions differ."""
    value = np.ones([1] * len(modes))
    for a, m in enumerate(modes):
        k = np.arange(m)
        k = k if a == halved else np.where(2 * k < m, k, k - m)
        one = np.exp(-0.02 * np.abs(k) + 0.1j * k)
        one[(m - 1) if a == halved else m // 2] *= m % 2 if a != halved else 0
        value = value * one[box[a]].reshape([-1 if a == b else 1 for b in range(len(modes))])
    return value


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modes", type=int, default=96, help="along each axis")
    parser.add_argument("--points", type=int, default=144, help="along each axis")
    parser.add_argument("--real", action="store_true", help="real points")
    in_turn.add_arguments(parser, 15)
    given = parser.parse_args()
    options = in_turn.options_of(given)
    transform, halved = ("r2c", 2) if given.real else ("c2c", None)
    shape = (given.points,) * 3
    modes = (given.modes,) * 2 + ((given.modes // 2 + 1,) if given.real else (given.modes,))
    ways = {"kept": Kept(shape, modes, transform, options), "by hand": ByHand(shape, modes, transform, options)}
    try:
        ways["mpi4py-fft"] = Theirs(shape, modes, transform)
    except ModuleNotFoundError:
        if WORLD.rank == 0:
            print("without mpi4py-fft, which is not installed")
    ways["kept"].modes[...] = smooth(ways["kept"].box.slices, modes, halved)
    hand = ways["by hand"]
    hand.modes[...] = smooth([slice(a, a + n) for a, n in zip(hand.lo, hand.modes.shape, strict=True)], modes, halved)
    if "mpi4py-fft" in ways:
        theirs = ways["mpi4py-fft"]
        theirs.modes[...] = smooth(theirs.fft.local_slice(True), modes, halved)
    times = in_turn.times_of(ways, given.repeat)
    result = {"points": shape, "modes": modes, "transform": transform, "ranks": WORLD.size, "ways": {}}
    for name, way in ways.items():
        back = np.abs(np.asarray(way.result) - np.asarray(way.modes)).max(initial=0)
        error = WORLD.allreduce(float(back), MPI.MAX)
        median = statistics.median(times[name])
        result["ways"][name] = {"median_s": median, "seconds": times[name], "largest_difference": error}
        if WORLD.rank == 0:
            ratio = result["ways"]["kept"]["median_s"] / median
            print(f"{name:12} {1e3 * median:8.2f} ms   kept / it {ratio:5.2f}   difference after both {error:.1e}")
    in_turn.write(given.json, result)


main()
