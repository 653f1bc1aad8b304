"""The linear convolution of two volumes, as `scipy.signal.fftconvolve` has it, on one machine and spread over ranks.

    python examples/convolution.py --grid 96 --kernel 31
    mpirun -n 4 python examples/convolution.py

A product of spectra is a circular convolution. Zeros behind both volumes, as many as the other one is long, keep its
ends apart. Plans are told how many points are given, so that nobody stores, sends or transforms the zeros. All ranks
convolve their parts with plans. Then rank 0 convolves the whole arrays with `weft.rfftn`.
Printed is how far both are from SciPy's result.
"""

from __future__ import annotations

import argparse

import numpy as np
import scipy.fft
import scipy.signal
import weft
from mpi4py import MPI


# [whole]
def whole_arrays(a: np.ndarray, b: np.ndarray, padded: list[int], workers: int) -> np.ndarray:
    """The convolution by the threads of this process. `padded`: lengths of at least len(a) + len(b) - 1."""
    product = weft.rfftn(a, padded, workers=workers) * weft.rfftn(b, padded, workers=workers)
    full = tuple(slice(n + m - 1) for n, m in zip(a.shape, b.shape, strict=True))
    return weft.irfftn(product, padded, workers=workers)[full]


# [/whole]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grid", type=int, default=48, help="points of the volume along its first axis (%(default)s)")
    parser.add_argument("--kernel", type=int, default=15, help="points of the kernel along each axis (%(default)s)")
    parser.add_argument("--workers", type=int, default=2, help="threads for the whole arrays (%(default)s)")
    arguments = parser.parse_args()
    comm, n, m = MPI.COMM_WORLD, arguments.grid, arguments.kernel
    rng = np.random.default_rng(7)
    a = rng.standard_normal((n, n + 2, n + 5))
    b = rng.standard_normal((m, m, m))
    # Lengths that have small factors are transformed faster.
    padded = [scipy.fft.next_fast_len(k + m - 1, real=True) for k in a.shape]

    # [distributed]
    full = [k + m - 1 for k in a.shape]
    of_a, of_b, of_all = (
        weft.Plan(comm, padded, "r2c", points=points, output="slab1") for points in (a.shape, b.shape, full)
    )
    product = of_a.forward(np.ascontiguousarray(a[of_a.input_box.slices]))
    product *= of_b.forward(np.ascontiguousarray(b[of_b.input_box.slices]))
    x = of_all.backward(product)
    # [/distributed]

    parts = comm.gather((of_all.input_box, x))
    if parts is None:
        return
    distributed = np.empty(full)
    for box, part in parts:
        distributed[box.slices] = part
    expected = scipy.signal.fftconvolve(a, b)
    alone = whole_arrays(a, b, padded, arguments.workers)
    print(f"{'x'.join(map(str, a.shape))} with {m}x{m}x{m} points, padded to {'x'.join(map(str, padded))}")
    failed = False
    for name, result in ((f"on {comm.size} ranks", distributed), (f"by {arguments.workers} threads", alone)):
        error = np.linalg.norm(result - expected) / np.linalg.norm(expected)
        print(f"{name}: relative difference from scipy.signal.fftconvolve {error:.1e}")
        failed |= not error < 1e-14
    if failed:
        raise SystemExit("Weft and SciPy differ")


if __name__ == "__main__":
    main()
