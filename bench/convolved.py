#!/usr/bin/env python3
"""The linear convolution of two volumes: with plans that know of the zeros behind them, and with zeros by hand.

    mpirun -n 2 bench/convolved.py [--points 128] [--first] [--json FILE]

  points   plans with `points`: both volumes forward, the product of modes, backward to the result
  apply    with --first: one volume forward, and the other through a plan with modes between, with `product`
  by hand  plans of twice as many points: both volumes copied in front of zeros, the same three transforms

All run in turn in the same processes. Printed are the median of the slowest rank's times, in milliseconds, the memory
of all ranks' arrays and workspaces, and how much results differ. Nothing else may run meanwhile.
"""

import argparse
import statistics

import in_turn
import numpy as np
import weft
from mpi4py import MPI

WORLD = MPI.COMM_WORLD


class Points:
    """Plans that are told how many points are given."""

    def __init__(self, n, kept, options):
        longer = (2 * n,) * 3
        self.given = weft.Plan(WORLD, longer, "r2c", points=(n,) * 3, output="slab1", **options)
        self.both = weft.Plan(WORLD, longer, "r2c", points=(kept,) * 3, output="slab1", **options)
        self.a, self.b = self.given.empty_input(), self.given.empty_input()
        self.modes, self.product = self.given.empty_output(), self.given.empty_output()
        self.result = self.both.empty_input()
        self.box = self.given.input_box
        self.plans = (self.given, self.both)

    def arrays(self):
        return (self.a, self.b, self.modes, self.product, self.result)

    def run(self):
        self.given.forward(self.a, out=self.product)
        self.given.forward(self.b, out=self.modes)
        self.product *= self.modes
        self.both.backward(self.product, out=self.result)

    def part(self):
        """Of the result, and where it begins."""
        return self.result, self.both.input_box


class Applied:
    """The product of modes between the transforms of one plan: as many points of the result as are given."""

    def __init__(self, n, options):
        longer, given = (2 * n,) * 3, (n,) * 3
        self.plan = weft.Plan(WORLD, longer, "r2c", points=given, between="modes", norm="none", **options)
        self.kernel = weft.Plan(
            WORLD, longer, "r2c", points=given, output=self.plan.between_box, norm="forward", **options
        )
        self.a, self.b = self.plan.empty_input(), self.kernel.empty_input()
        self.modes, self.result = self.kernel.empty_output(), self.plan.empty_output()
        self.op = weft.operators.product(self.plan, self.modes)
        self.box = self.plan.input_box
        self.plans = (self.plan, self.kernel)

    def arrays(self):
        return (self.a, self.b, self.modes, self.result)

    def run(self):
        self.kernel.forward(self.b, out=self.modes)
        self.plan.apply(self.op, self.a, out=self.result)

    def part(self):
        return self.result, self.plan.output_box


class ByHand:
    """Plans of all points."""

    def __init__(self, n, options):
        self.n = n
        self.plan = weft.Plan(WORLD, (2 * n,) * 3, "r2c", output="slab1", **options)
        box = self.plan.input_box
        self.box = weft.Box([min(n, i) for i in box.lo], [min(n, i) for i in box.hi])
        self.a, self.b = np.zeros(self.box.shape), np.zeros(self.box.shape)
        self.x = self.plan.empty_input()
        self.modes, self.product = self.plan.empty_output(), self.plan.empty_output()
        self.plans = (self.plan,)

    def arrays(self):
        return (self.a, self.b, self.x, self.modes, self.product)

    def run(self):
        for given, modes in ((self.a, self.product), (self.b, self.modes)):
            self.x[...] = 0
            self.x[tuple(slice(k) for k in given.shape)] = given
            self.plan.forward(self.x, out=modes)
        self.product *= self.modes
        self.plan.backward(self.product, out=self.x)

    def part(self):
        return self.x, self.plan.input_box


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=128, help="of a volume along each axis")
    parser.add_argument("--first", action="store_true", help="keeps as many points of the result as are given")
    in_turn.add_arguments(parser, 9)
    given = parser.parse_args()
    n = given.points
    kept = n if given.first else 2 * n - 1
    options = in_turn.options_of(given)
    ways = {"points": Points(n, kept, options)}
    if given.first:
        ways["apply"] = Applied(n, options)
    ways["by hand"] = ByHand(n, options)
    x, y, z = np.ogrid[:n, :n, :n]
    wave, bump = np.cos(0.1 * x + 0.2 * y * y / n + z), np.exp(-((x - n / 3) ** 2 + y * y + z * (z - 1)) / n)
    for way in ways.values():
        way.a[...], way.b[...] = wave[way.box.slices], bump[way.box.slices]
    times = in_turn.times_of(ways, given.repeat)
    results = []
    for way in ways.values():
        whole = np.zeros((kept,) * 3) if WORLD.rank == 0 else None
        for part in WORLD.gather(way.part()) or ():
            box = part[1].slices
            here = tuple(slice(s.start, min(s.stop, kept)) for s in box)
            whole[here] = part[0][tuple(slice(max(0, s.stop - s.start)) for s in here)]
        results.append(whole)
    record = {"points": n, "kept": kept, "ranks": WORLD.size, "ways": {}}
    for name, way in ways.items():
        mine = sum(a.nbytes for a in way.arrays()) + sum(plan.workspace_bytes for plan in way.plans)
        memory = WORLD.allreduce(mine)
        record["ways"][name] = {"median_s": statistics.median(times[name]), "seconds": times[name], "bytes": memory}
        if WORLD.rank == 0:
            median = statistics.median(times[name])
            by_hand = median / statistics.median(times["by hand"])
            print(f"{name:8} {1e3 * median:8.2f} ms  {by_hand:5.2f} of by hand  {memory / 2**20:7.0f} MiB")
    if WORLD.rank == 0:
        by_hand = results[-1]
        record["difference"] = max(float(np.linalg.norm(r - by_hand) / np.linalg.norm(by_hand)) for r in results[:-1])
        print(f"relative difference {record['difference']:.1e}")
    in_turn.write(given.json, record)


main()
