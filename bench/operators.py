#!/usr/bin/env python3
"""Operators between transforms: in one execution (`Plan.apply`), and as passes of their own between two.

    mpirun -n 2 bench/operators.py [--points 256] [--convolve 128] [--json FILE]

  transforms   forward and backward without any operator, by a plan of transforms
  apply        the same with an operator between, by a plan with modes between
  by axes      a gradient, by one transform along each axis (`weft.Gradient`)
  by hand      forward, an operator as a pass of NumPy over the modes, backward

Operators are the inverse Laplacian (one field to one), the gradient (one to three: `transforms` are one forward and
three backwards), and the linear convolution with a kernel whose modes are kept, of as many points. Real double data.
All run in turn in the same processes. Printed are the median of the slowest rank's times, in milliseconds, ratios, and
how much results differ. Nothing else may run meanwhile.
"""

import argparse
import statistics

import in_turn
import numpy as np
import weft
from mpi4py import MPI

WORLD = MPI.COMM_WORLD


class Way:
    """A function that is timed, and where its result is."""

    def __init__(self, run, result, plans):
        self.run, self.result, self.plans = run, result, plans


def poisson(n, options):
    """u of -laplacian u = f."""
    shape = (n,) * 3
    plain = weft.Plan(WORLD, shape, "r2c", **options)
    fused = weft.Plan(WORLD, shape, "r2c", between="modes", **options)
    f, u, v, w = (plain.empty_input() for _ in range(4))
    modes = plain.empty_output()
    f[...] = np.random.default_rng(WORLD.rank).normal(size=f.shape)
    op = weft.operators.inverse_helmholtz(fused)
    squares = sum(plain.wavenumbers(a) ** 2 for a in range(3))
    factor = np.divide(1, squares, out=np.zeros_like(squares), where=squares != 0)

    def transforms():
        plain.forward(f, out=modes)
        plain.backward(modes, out=w)

    def by_hand():
        plain.forward(f, out=modes)
        np.multiply(modes, factor, out=modes)
        plain.backward(modes, out=u)

    return {
        "transforms": Way(transforms, None, (plain,)),
        "apply": Way(lambda: fused.apply(op, f, out=v), v, (fused,)),
        "by hand": Way(by_hand, u, (plain,)),
    }


def slopes(n, options):
    """The gradient of a field."""
    shape = (n,) * 3
    plain = weft.Plan(WORLD, shape, "r2c", **options)
    fused = weft.Plan(WORLD, shape, "r2c", between="modes", results=3, **options)
    by_axes = weft.Gradient(WORLD, shape, "r2c", **options)
    f, v = fused.empty_input(), fused.empty_output()
    u, w, z = np.empty_like(v), np.empty_like(v), by_axes.empty_output()
    modes, slope = plain.empty_output(), plain.empty_output()
    f[...] = np.random.default_rng(WORLD.rank).normal(size=f.shape)
    op = weft.operators.gradient(fused)
    factors = [1j * plain.wavenumbers(a, nyquist="zero") for a in range(3)]

    def transforms():
        plain.forward(f, out=modes)
        for a in range(3):
            plain.backward(modes, out=w[a])

    def by_hand():
        plain.forward(f, out=modes)
        for a in range(3):
            np.multiply(modes, factors[a], out=slope)
            plain.backward(slope, out=u[a])

    return {
        "transforms": Way(transforms, None, (plain,)),
        "apply": Way(lambda: fused.apply(op, f, out=v), v, (fused,)),
        "by axes": Way(lambda: by_axes(f, out=z), z, (by_axes,)),
        "by hand": Way(by_hand, u, (plain,)),
    }


def wave(box):
    """A field of the points of a box."""
    x, y, z = np.ogrid[box.slices]
    return np.cos(0.1 * x + 0.2 * y * y + z)


def bump(box, n):
    """A kernel."""
    x, y, z = np.ogrid[box.slices]
    return np.exp(-(x * x + y * y + z * z) / n)


def convolution(n, options):
    """The first n points along each axis of a linear convolution with a kernel of n points, whose modes are kept."""
    longer, given = (2 * n,) * 3, (n,) * 3
    fused = weft.Plan(WORLD, longer, "r2c", points=given, between="modes", **options)
    plain = weft.Plan(WORLD, longer, "r2c", output="slab1", **options)
    kernel = weft.Plan(WORLD, longer, "r2c", points=given, output=fused.between_box, **options)
    f, v, b = fused.empty_input(), fused.empty_output(), kernel.empty_input()
    f[...], b[...] = wave(fused.input_box), bump(kernel.input_box, n)
    op = weft.operators.product(fused, kernel.forward(b))
    # By hand: the array lies in front of zeros in one of all points.
    front = weft.Box([min(n, i) for i in plain.input_box.lo], [min(n, i) for i in plain.input_box.hi])
    mine = tuple(slice(k) for k in front.shape)
    part, whole = wave(front), plain.empty_input()
    kept, product = plain.empty_output(), plain.empty_output()
    whole[...] = 0
    whole[mine] = bump(front, n)
    plain.forward(whole, out=kept)

    def by_hand():
        whole[...] = 0
        whole[mine] = part
        plain.forward(whole, out=product)
        np.multiply(product, kept, out=product)
        plain.backward(product, out=whole)

    return {
        "apply": Way(lambda: fused.apply(op, f, out=v), (v, fused.output_box), (fused,)),
        "by hand": Way(by_hand, (whole[mine], front), (plain,)),
    }


def checksum(result):
    """Of all ranks' results, whoever holds them."""
    values, box = result
    return WORLD.allreduce(float(np.sum(values * wave(box))))


def compare(ways):
    """How much the results of all ways differ at most from those `by hand`."""
    other = ways["by hand"].result
    return max(difference(way.result, other) for way in ways.values() if way.result is not None)


def difference(mine, other):
    if isinstance(mine, tuple):
        return abs(checksum(mine) / checksum(other) - 1)
    squares = np.array([np.sum((mine - other) ** 2), np.sum(other**2)])
    WORLD.Allreduce(MPI.IN_PLACE, squares)
    return float(np.sqrt(squares[0] / squares[1]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=256, help="of fields along each axis (%(default)s)")
    parser.add_argument("--convolve", type=int, default=128, help="points of a convolution (%(default)s)")
    in_turn.add_arguments(parser, 9)
    given = parser.parse_args()
    options = in_turn.options_of(given)
    results = {"ranks": WORLD.size, "points": given.points, "convolve": given.convolve, "options": options, "cases": {}}
    for name, case, n in (
        ("inverse Laplacian", poisson, given.points),
        ("gradient", slopes, given.points),
        ("convolution", convolution, given.convolve),
    ):
        ways = case(n, options)
        times = in_turn.times_of(ways, given.repeat)
        medians = {way: statistics.median(all_) for way, all_ in times.items()}
        workspace = {
            way: WORLD.allreduce(sum(plan.workspace_bytes for plan in ways[way].plans)) / 2**20 for way in ways
        }
        differ = compare(ways)
        ours = [way for way in ("apply", "by axes") if way in ways]
        ratios = {way: {o: medians[o] / median for o in ours if o != way} for way, median in medians.items()}
        results["cases"][name] = {
            "seconds": times,
            "medians": medians,
            "ratios": ratios,
            "workspace_mib": workspace,
            "difference": differ,
        }
        if WORLD.rank == 0:
            all_of_them = ", ".join(f"{way} {1e3 * median:.1f} ms" for way, median in medians.items())
            print(f"{name} of {n}^3 on {WORLD.size} ranks: {all_of_them}", flush=True)
            for own in ours:
                words = ", ".join(f"{of[own]:.2f} of {way}" for way, of in ratios.items() if own in of)
                print(f"  {own} takes {words}", flush=True)
            print(f"  results differ by {differ:.1e}", flush=True)
            print("  workspace " + ", ".join(f"{way} {mib:.0f} MiB" for way, mib in workspace.items()), flush=True)
        del ways
    in_turn.write(given.json, results)


if __name__ == "__main__":
    main()
