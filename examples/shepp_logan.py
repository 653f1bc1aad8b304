"""A picture of a head, low-pass filtered: the Shepp-Logan phantom in three dimensions.

    mpirun -n 4 python examples/shepp_logan.py --grid 128 --picture head.png

Each rank draws its slab of the phantom, which is a sum of ellipsoids. A forward transform, a product with a Gaussian
and a backward transform blur it. Rank 0 gathers the result, does the same with `scipy.fft`, and prints how far the two
are apart. `--picture` draws the middle slice before and after (with matplotlib).

The ellipsoids are those of Shepp and Logan (1974), in three dimensions as in Kak and Slaney, Principles of Computerized
Tomographic Imaging (1988), with the contrast of Toft (1996).
"""

from __future__ import annotations

import argparse

import numpy as np
import scipy.fft
import weft
from mpi4py import MPI

# Density that is added, half axes, centre, rotation about the last axis in degrees.
ELLIPSOIDS = [
    (1.0, (0.69, 0.92, 0.81), (0, 0, 0), 0),
    (-0.8, (0.6624, 0.874, 0.78), (0, -0.0184, 0), 0),
    (-0.2, (0.11, 0.31, 0.22), (0.22, 0, 0), -18),
    (-0.2, (0.16, 0.41, 0.28), (-0.22, 0, 0), 18),
    (0.1, (0.21, 0.25, 0.41), (0, 0.35, -0.15), 0),
    (0.1, (0.046, 0.046, 0.05), (0, 0.1, 0.25), 0),
    (0.1, (0.046, 0.046, 0.05), (0, -0.1, 0.25), 0),
    (0.1, (0.046, 0.023, 0.05), (-0.08, -0.605, 0), 0),
    (0.1, (0.023, 0.023, 0.02), (0, -0.606, 0), 0),
    (0.1, (0.023, 0.046, 0.02), (0.06, -0.605, 0), 0),
]


def phantom(n: int, box: weft.Box) -> np.ndarray:
    """The densities of a box of the grid, which has n^3 points in the cube from -1 to 1."""
    x, y, z = ((2 * i + 1) / n - 1 for i in np.ogrid[box.slices])
    density = np.zeros(box.shape)
    for more, (a, b, c), (x0, y0, z0), degrees in ELLIPSOIDS:
        cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        along = (x - x0) * cos + (y - y0) * sin
        across = (y - y0) * cos - (x - x0) * sin
        density += more * ((along / a) ** 2 + (across / b) ** 2 + ((z - z0) / c) ** 2 <= 1)
    return density


def low_pass(waves: list[np.ndarray], cutoff: float) -> np.ndarray:
    """A Gaussian of the wavenumbers, which has fallen to 1/e at the cutoff."""
    return np.exp(-sum(k**2 for k in waves) / cutoff**2)


def draw(name: str, before: np.ndarray, after: np.ndarray) -> None:
    """The slices through the middle, side by side."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise SystemExit("--picture needs matplotlib: pip install matplotlib") from None
    figure = Figure(figsize=(8, 4), layout="constrained")
    for axes, volume, title in zip(figure.subplots(1, 2), (before, after), ("phantom", "filtered"), strict=True):
        axes.imshow(volume[:, :, volume.shape[2] // 2].T, cmap="gray", vmin=0, vmax=0.45, origin="lower")
        axes.set(title=title, xticks=[], yticks=[])
    figure.savefig(name)


def gathered(part: np.ndarray, box: weft.Box, shape: tuple[int, ...], comm: MPI.Comm) -> np.ndarray | None:
    """The whole array on rank 0, None elsewhere."""
    parts = comm.gather((box, part))
    if parts is None:
        return None
    whole = np.empty(shape)
    for box, part in parts:
        whole[box.slices] = part
    return whole


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grid", type=int, default=64, help="points along each axis (%(default)s)")
    parser.add_argument("--cutoff", type=float, default=12, help="wavenumber that is left 1/e (%(default)s)")
    parser.add_argument("--picture", help="file to draw to, such as head.png")
    arguments = parser.parse_args()
    comm, n = MPI.COMM_WORLD, arguments.grid

    # [filter]
    plan = weft.Plan(comm, (n, n, n), "r2c")
    head = phantom(n, plan.input_box)
    modes = plan.forward(head)
    modes *= low_pass([plan.wavenumbers(axis) for axis in range(3)], arguments.cutoff)
    filtered = plan.backward(modes)
    # [/filter]

    result = gathered(filtered, plan.input_box, plan.shape, comm)
    if result is None:
        return
    whole = phantom(n, weft.Box((0, 0, 0), (n, n, n)))
    k, half = np.fft.fftfreq(n, 1 / n), np.fft.rfftfreq(n, 1 / n)
    gain = low_pass([k[:, None, None], k[None, :, None], half[None, None, :]], arguments.cutoff)
    expected = scipy.fft.irfftn(scipy.fft.rfftn(whole) * gain, s=whole.shape)
    error = abs(result - expected).max()
    print(f"{n}^3 points on {comm.size} ranks; mean and largest density")
    print(f"before {whole.mean():.6f} {whole.max():.3f}, after {result.mean():.6f} {result.max():.3f}")
    print(f"largest difference from scipy.fft: {error:.1e}")
    if arguments.picture:
        draw(arguments.picture, whole, result)
        print("drawn to", arguments.picture)
    if not error < 1e-13:
        raise SystemExit("Weft and SciPy differ")


if __name__ == "__main__":
    main()
