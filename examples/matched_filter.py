"""Where a known signal is in a long recording full of noise: a matched filter, by one long transform over all ranks.

    mpirun -n 4 python examples/matched_filter.py --grid 262144 --picture filter.png

The recording is one line of samples. Correlated with the signal, each sample of it becomes how well the signal fits
there: forward, times the conjugate of the signal's modes, backward. In white noise no linear filter finds it better
(North, 1943). The line has two axes for Weft, whose lengths multiply to its own; each rank holds a stretch of it.
Printed are where the signal was found and how far it stands out. The program fails if that is not where it was put,
or if the correlation there is not what a sum over the signal's own samples gives.
"""

from __future__ import annotations

import argparse

import numpy as np
import weft
from mpi4py import MPI


def chirp(length: int) -> np.ndarray:
    """A signal whose frequency rises through most of the band, of unit energy."""
    t = np.arange(length) / length
    wave = np.exp(1j * np.pi * length * 0.8 * (t**2 - t)) * np.sin(np.pi * t)
    return wave / np.linalg.norm(wave)


# [filter]
def matched_filter(plan: weft.Plan, recording: np.ndarray, signal: np.ndarray) -> np.ndarray:
    """This rank's part of the cyclic correlation of a recording with a signal. Collective."""
    modes = plan.forward(recording)
    modes *= np.conj(plan.forward(signal))
    return plan.backward(modes)


# [/filter]


def draw(name: str, samples: np.ndarray, found: np.ndarray) -> None:
    """The recording, and what the filter makes of it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    for axes, values, title in zip(figure.subplots(2, 1), (samples, found), ("recording", "filtered"), strict=True):
        axes.plot(abs(values), linewidth=0.5)
        axes.set(title=title, ylabel="magnitude")
    figure.savefig(name, dpi=150)
    print(f"drawn to {name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grid", type=int, default=65536, help="samples of the recording (%(default)s)")
    parser.add_argument("--signal", type=int, default=2000, help="samples of the signal (%(default)s)")
    parser.add_argument(
        "--strength", type=float, default=8, help="root of the signal's energy over the noise of a sample (%(default)s)"
    )
    parser.add_argument("--picture", help="file to draw to, such as filter.png")
    arguments = parser.parse_args()
    comm, n = MPI.COMM_WORLD, arguments.grid
    signal, put = chirp(arguments.signal), n // 3 + 17
    if put + len(signal) > n:
        raise SystemExit(f"a signal of {len(signal)} samples is too long for a recording of {n}")

    # [line]
    shape = weft.line_shape(n)  # sample j has the indices divmod(j, shape[1])
    plan = weft.Plan(comm, shape, line=(0, 1))
    rows, columns = plan.input_box.slices
    j = np.arange(rows.start, rows.stop)[:, None] * shape[1] + np.arange(columns.start, columns.stop)
    # [/line]

    def spread(start: int) -> np.ndarray:
        """This rank's samples of the signal, put behind `start` zeros."""
        inside = (j >= start) & (j < start + len(signal))
        return np.where(inside, signal[np.clip(j - start, 0, len(signal) - 1)], 0)

    random = np.random.default_rng(comm.rank)
    noise = (random.standard_normal(j.shape) + 1j * random.standard_normal(j.shape)) / np.sqrt(2)
    recording = noise + arguments.strength * spread(put)
    fits = matched_filter(plan, recording, spread(0))
    best = np.unravel_index(np.argmax(abs(fits)), fits.shape) if fits.size else None
    mine = (float(abs(fits[best])), int(j[best])) if best is not None else (0.0, -1)
    height, where = max(comm.allgather(mine))
    # Beside the sum over the signal's own samples.
    expected = comm.allreduce(complex(np.vdot(spread(put), recording)))
    others = comm.allreduce(float(np.sum(abs(fits[abs(j - put) > len(signal)]) ** 2)))
    level = np.sqrt(others / (n - 2 * len(signal)))
    parts = comm.gather((recording, fits)) if arguments.picture else None
    failed = where != put or not abs(height - abs(expected)) < 1e-12 * abs(expected)
    if comm.rank == 0:
        print(f"{n} samples on {comm.size} ranks as {shape[0]} x {shape[1]}")
        print(f"found at sample {where}, put at {put}; {height / level:.1f} times the root mean square elsewhere")
        print(f"correlation there: {height:.6f}, by its own samples {abs(expected):.6f}")
    if parts:
        samples, found = (np.concatenate([part[i].ravel() for part in parts]) for i in (0, 1))
        draw(arguments.picture, samples, found)
    if failed:
        raise SystemExit("the signal was not found where it was put")


if __name__ == "__main__":
    main()
