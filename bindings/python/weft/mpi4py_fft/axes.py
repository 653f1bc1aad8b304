"""Which axes a `PFFT` transforms together, in which sequence, and by what."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weft._error import Error
from weft.mpi4py_fft.fftw import kind_of


def groups_of(axes: Any, shape: tuple[int, ...], darray: Any) -> list[tuple[int, ...]]:
    """The groups of axes that are transformed together, none of them negative; the last is transformed first."""
    n = len(shape)
    if axes is None:
        axes = range(n)
        if darray is not None:  # begin with the axis that is whole in it
            axes = np.roll(axes, n - 1 - darray.alignment)
    given = [axes] if isinstance(axes, int | np.integer) else axes
    groups = []
    for group in given:
        members = [int(a) for a in np.atleast_1d(group)]
        if not members or any(not -n <= a < n for a in members):
            raise Error("PFFT: axes", str(axes), f"axes of {n}")
        groups.append(tuple(a % n for a in members))
    flat = [a for group in groups for a in group]
    if not flat or len(set(flat)) != len(flat):
        raise Error("PFFT: axes", str(axes), "at least one axis, and none twice")
    return groups


def padded(padding: Any, shape: tuple[int, ...], groups: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The lengths of an input that is longer than the modes by these factors along transformed axes."""
    if padding is False or padding is None:
        return shape
    factors = np.asarray(padding, float)
    if factors.shape not in ((), (len(shape),)) or not np.all((factors >= 1 - 1e-6) & (factors < 1e6)):
        raise Error(
            "PFFT: padding", repr(padding), f"False, or a factor of at least 1, or {len(shape)} of them, one per axis"
        )
    transformed = {axis for group in groups for axis in group}
    each = np.broadcast_to(factors, len(shape))
    return tuple(int(n * each[a] + 1e-6) if a in transformed else n for a, n in enumerate(shape))


def joined(groups: list[tuple[int, ...]], subcomm: Sequence[Any]) -> list[tuple[int, ...]]:
    """The groups, those of axes that are not cut joined with the one that is transformed before them."""
    result: list[tuple[int, ...]] = [()]
    for group in reversed(groups):
        if all(subcomm[a].size == 1 for a in group):
            result[0] = (*group, *result[0])
        else:
            result.insert(0, group)
    return [group for group in result if group]


def _joined_by(given: Mapping, groups: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The groups, neighbours joined where a transform is given for them together and none for one of them alone.

    What an axis is transformed by thus never depends on the number of ranks.
    """
    for key in sorted(given, key=len, reverse=True):
        for first, last in itertools.combinations(range(len(groups) + 1), 2):
            run = groups[first:last]
            if tuple(a for group in run for a in group) == key and not any(group in given for group in run):
                groups = [*groups[:first], key, *groups[last:]]
                break
    return groups


def kinds_of(
    groups: list, ndim: int, dtype: np.dtype, transforms: Mapping | None, collapse: bool
) -> tuple[list[str | None], int | None]:
    """The transform of each axis, and the axis that halves real data."""
    given = {tuple(int(a) % ndim for a in np.atleast_1d(key)): pair for key, pair in (transforms or {}).items()}
    if collapse:
        groups = _joined_by(given, groups)
    if given and not any(group in given for group in groups):
        raise Error("PFFT: transforms", f"axes {list(given)}", f"among them one of the groups {groups}")
    names: list[str | None] = [None] * ndim
    real, halved = dtype.kind == "f", None
    for group in reversed(groups):
        kind = kind_of(given[group]) if group in given else "r2c" if real else "c2c"
        if kind in ("c2c", "r2c") and real != (kind == "r2c"):
            got = f"a transform of {'real' if kind == 'r2c' else 'complex'} data along axes {group}"
            raise Error("PFFT: transforms", got, f"one of {'real' if real else 'complex'} data, as they are here")
        for axis in group:
            names[axis] = "c2c" if kind == "r2c" else kind
        if kind == "r2c":
            real, halved = False, group[-1]
            names[halved] = "r2c"
    return names, halved
