"""Complex transforms of real arrays: half of the result is that of r2c, the other half its conjugates."""

from __future__ import annotations

import concurrent.futures

import numpy as np

from weft._memory import empty
from weft._whole import MOST_WORKERS, Ranks, transform

_POINTS_OF_A_PART = 1 << 16  # of fewer a second thread costs more than it helps
Index = tuple[slice, ...]


def of_real(a: np.ndarray, kinds: dict[int, str], norm: str, ranks: Ranks) -> np.ndarray:
    """The forward c2c along the axes of `kinds`. r2c writes its half where it belongs; nothing else is allocated."""
    halved, dtype = max(kinds), np.dtype(a.dtype.char.upper())
    n = a.shape[halved]
    out = empty(a.shape, dtype)
    everything: Index = (slice(None),) * a.ndim
    half = out[_with(everything, halved, slice(n // 2 + 1))]
    kinds = kinds | {halved: "r2c"}
    transform(a, a.shape, kinds, dtype, backward=False, norm=norm, ranks=ranks, out=half)
    # Along each transformed axis position k is the mirror image of n - k, and 0 that of itself.
    rest, image = slice(n // 2 + 1, None), slice((n - 1) // 2, 0, -1)
    pairs = [(_with(everything, halved, rest), _with(everything, halved, image))]
    for axis in kinds.keys() - {halved}:
        zero, others, backwards = slice(1), slice(1, None), slice(None, 0, -1)
        pairs = [
            (_with(to, axis, t), _with(of, axis, o)) for to, of in pairs for t, o in ((zero, zero), (others, backwards))
        ]
    _conjugate([(out[to], out[of]) for to, of in pairs], ranks.workers)
    return out


def _with(index: Index, axis: int, part: slice) -> Index:
    return (*index[:axis], part, *index[axis + 1 :])


def _conjugate(pairs: list[tuple[np.ndarray, np.ndarray]], threads: int) -> None:
    """Writes the conjugates of the second arrays to the first ones.

    A part that fits the cache at a time: where both are interleaved in memory, NumPy makes a copy of what it reads."""
    parts: list[tuple[np.ndarray, np.ndarray]] = []
    for to, of in pairs:
        wanted = max(1, to.size // _POINTS_OF_A_PART)
        # The slowest axis that is long enough, else the longest one.
        axis = max(range(to.ndim), key=lambda x: (min(2 * to.shape[x], wanted), -x))
        count = min(wanted, to.shape[axis]) or 1
        parts += zip(*[np.array_split(array, count, axis) for array in (of, to)], strict=True)

    def write(part: tuple[np.ndarray, np.ndarray]) -> None:
        np.conjugate(part[0], out=part[1])

    if min(threads, len(parts)) > 1:
        try:
            with concurrent.futures.ThreadPoolExecutor(min(threads, MOST_WORKERS)) as pool:
                list(pool.map(write, parts))
            return
        except RuntimeError:
            pass  # while the interpreter exits it starts no threads
    for part in parts:
        write(part)
