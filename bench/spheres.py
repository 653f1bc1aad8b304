#!/usr/bin/env python3
"""Spheres of modes (`weft.Distribution.sphere`), as plane-wave codes have them.

    mpirun -n 2 bench/spheres.py [--points 128] [--radius 32] [--spfft libspfft.so] [--json FILE]

  whole        backward and forward of all modes
  sphere       backward and forward of those of a sphere
  SpFFT        the same by SpFFT, if its library is given: the same modes and points on each rank
  apply        a potential applied to the modes of the sphere, in one execution (`Plan.apply`)
  by hand      the same as backward, a pass of NumPy over the points, and forward

Complex double data, slabs of points. All run in turn in the same processes, each with some waves, one after the other,
whose modes are arrays of their own and which share one array of points. Printed are the median of the slowest rank's
times for one wave, in milliseconds, ratios, and how much results differ. Nothing else may run meanwhile.
"""

import argparse
import ctypes
import statistics

import in_turn
import numpy as np
import weft
from mpi4py import MPI

WORLD = MPI.COMM_WORLD


class Way:
    """A function that is timed, and where its result is, if it is compared."""

    def __init__(self, run, result=None):
        self.run, self.result = run, result


class SpFFT:
    """A transform of SpFFT (its C interface, on the host, one thread) of a plan's modes and points."""

    HOST, C2C, TRIPLETS, DEFAULT_EXCHANGE, UNSCALED = 1, 0, 0, 0, 0

    def __init__(self, library, plan):
        self.library = ctypes.CDLL(library)
        n = plan.shape[::-1]  # x varies fastest
        planes = plan.input_box.shape[0]
        first, count = plan.columns
        z = np.concatenate([np.arange(f, f + c) for f, c in zip(first[:, 0], count, strict=True)])
        y, x = (np.repeat(first[:, a], count) for a in (1, 2))
        indices = np.ascontiguousarray(np.stack([x, y, z], axis=1), dtype=np.intc)
        grid, self.transform = ctypes.c_void_p(), ctypes.c_void_p()
        self.call(
            "grid_create_distributed_fortran", ctypes.byref(grid), *n, len(count), planes, self.HOST, 1, WORLD.py2f(),
            self.DEFAULT_EXCHANGE,
        )  # fmt: skip
        self.call(
            "transform_create", ctypes.byref(self.transform), grid, self.HOST, self.C2C, *n, planes, len(indices),
            self.TRIPLETS, indices.ctypes.data_as(ctypes.c_void_p),
        )  # fmt: skip

    def call(self, name, *arguments):
        status = getattr(self.library, f"spfft_{name}")(*arguments)
        if status != 0:
            raise RuntimeError(f"spfft_{name} returned {status}")

    def backward(self, modes, points):
        self.call("transform_backward_ptr", self.transform, *map(address, (modes, points)))

    def forward(self, points, modes):
        self.call("transform_forward_ptr", self.transform, *map(address, (points, modes)), self.UNSCALED)


def address(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def waves_of(plan, number, random):
    """The modes of some waves."""
    waves = [plan.empty_output() for _ in range(number)]
    for modes in waves:
        modes[...] = random.normal(size=modes.shape) + 1j * random.normal(size=modes.shape)
    return waves


def round_trip(transform, waves, points, results):
    """A function that transforms waves to points and back."""

    def run():
        for modes, result in zip(waves, results, strict=True):
            transform.backward(modes, points)
            transform.forward(points, result)

    return run


def cases(given, options):
    """The ways by name, the modes of a rank, and those of all waves."""
    shape = (given.points,) * 3
    sphere = weft.Distribution.sphere(given.radius)
    whole = weft.Plan(WORLD, shape, norm="none", **options)
    plan = weft.Plan(WORLD, shape, output=sphere, norm="none", **options)
    fused = weft.Plan(WORLD, shape, input=sphere, output=sphere, between="points", norm="none", **options)
    random = np.random.default_rng(WORLD.rank)
    all_waves, all_points = waves_of(whole, given.waves, random), whole.empty_input()
    waves, points = waves_of(plan, given.waves, random), plan.empty_input()
    all_results, results, other_results, applied, products = (
        [np.empty_like(modes) for modes in like] for like in (all_waves, waves, waves, waves, waves)
    )
    potential = random.normal(size=points.shape)
    begin = fused.between_box.lo[0]

    def multiply(u, at):
        u *= potential[at[0].start - begin : at[0].stop - begin, at[1], at[2]]

    def apply():
        for modes, result in zip(waves, applied, strict=True):
            fused.apply(multiply, modes, out=result)

    def by_hand():
        for modes, result in zip(waves, products, strict=True):
            plan.backward(modes, out=points)
            np.multiply(points, potential, out=points)
            plan.forward(points, out=result)

    ways = {
        "whole": Way(round_trip(whole, all_waves, all_points, all_results)),
        "sphere": Way(round_trip(plan, waves, points, results), results),
    }
    if given.spfft:
        other = SpFFT(given.spfft, plan)
        ways["SpFFT"] = Way(round_trip(other, waves, np.empty_like(points), other_results), other_results)
    ways["apply"] = Way(apply, applied)
    ways["by hand"] = Way(by_hand, products)
    return ways, (plan.output_box.shape[0], waves)


def difference(one, other):
    """The relative 2-norm of the difference of two results, of some waves."""
    one, other = np.stack(one), np.stack(other)
    squares = np.array([np.sum(abs(one - other) ** 2), np.sum(abs(other) ** 2)])
    WORLD.Allreduce(MPI.IN_PLACE, squares)
    return float(np.sqrt(squares[0] / squares[1]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=128, help="along each axis (%(default)s)")
    parser.add_argument("--radius", type=float, help="of the sphere; a quarter of the points if not given")
    parser.add_argument("--waves", type=int, default=4, help="one after the other (%(default)s)")
    parser.add_argument("--spfft", help="SpFFT's library, built with this MPI")
    in_turn.add_arguments(parser, 15)
    given = parser.parse_args()
    given.radius = given.points / 4 if given.radius is None else given.radius
    options = in_turn.options_of(given)
    ways, (mine, waves) = cases(given, options)
    times = {way: [t / given.waves for t in all_] for way, all_ in in_turn.times_of(ways, given.repeat).items()}
    medians = {way: statistics.median(all_) for way, all_ in times.items()}
    pairs = [("sphere", "whole"), ("apply", "by hand"), *([("sphere", "SpFFT")] if given.spfft else [])]
    ratios = {f"{a} over {b}": medians[a] / medians[b] for a, b in pairs}
    differences = {
        "round trip": difference(ways["sphere"].result, [modes * float(given.points) ** 3 for modes in waves]),
        "apply and by hand": difference(ways["apply"].result, ways["by hand"].result),
    }
    if given.spfft:
        differences["sphere and SpFFT"] = difference(ways["sphere"].result, ways["SpFFT"].result)
    total, most = WORLD.allreduce(mine), WORLD.allreduce(mine, MPI.MAX)
    if WORLD.rank == 0:
        sphere = f"{given.points}^3 points, {total} modes within {given.radius:g}"
        print(f"{sphere}, at most {most} on one of {WORLD.size} ranks")
        print("  " + ", ".join(f"{way} {1e3 * median:.2f} ms" for way, median in medians.items()))
        print("  " + ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items()))
        print("  differences: " + ", ".join(f"{name} {d:.1e}" for name, d in differences.items()))
    in_turn.write(
        given.json,
        {
            "ranks": WORLD.size,
            "points": given.points,
            "radius": given.radius,
            "modes": total,
            "most_modes": most,
            "waves": given.waves,
            "options": options,
            "seconds": times,
            "medians": medians,
            "ratios": ratios,
            "differences": differences,
        },
    )


if __name__ == "__main__":
    main()
