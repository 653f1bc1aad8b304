"""Distributed arrays in HDF5 files, by h5py."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from weft._distributions import Where
from weft._error import Error

if TYPE_CHECKING:
    from weft._dist_array import DistArray
    from weft._together import Ranks


def h5py() -> Any:
    """The module, or a `weft.Error` that says how to get it."""
    try:
        import h5py
    except ImportError:
        raise Error("array: HDF5", "no module h5py", "h5py: pip install h5py") from None
    return h5py


def in_parallel(ranks: Ranks) -> bool:
    """Whether all ranks can have a file open for writing: h5py was built for MPI, and ranks are those of mpi4py."""
    return bool(h5py().get_config().mpi) and ranks.core.medium == "mpi" and ranks.given is not None


def write(self: DistArray, file: str | os.PathLike, dataset: str = "data", *, mode: str = "a", **options: Any) -> None:
    """Writes the array as a dataset of an HDF5 file. Collective. Needs h5py.

    `dataset`: its path in the file; one of that name, shape and dtype is written over, another one is an error. `mode`:
    "a" adds to the file if it exists, "w" makes a new one. `options`: those of h5py's `create_dataset`, such as chunks.

    With an h5py that was built for MPI, and ranks of MPI, all ranks write at once. Otherwise they open the file and
    write one after the other: that takes as long as one process that writes everything. All ranks have to see the same
    file.
    """
    ranks, box = self._layout.ranks, self.box

    def given() -> tuple[str, str]:
        if mode not in ("a", "w"):
            raise Error("array: write", f"mode {mode!r}", '"a" or "w"')
        os.fspath(file)
        return dataset, mode

    ranks.same("array: write", "dataset and mode", given)

    def make(f: Any) -> None:
        f.require_dataset(dataset, self.shape, self.dtype, exact=True, **options)

    def put(f: Any) -> None:
        if box.size:
            f[dataset][box.slices] = self._local

    all_write(ranks, os.fspath(file), mode, make, put)


def all_write(
    ranks: Ranks, path: str, mode: str, make: Callable[[Any], None], put: Callable[[Any], None], settings: Any = None
) -> None:
    """Opens a file, makes what is to be there, and lets all ranks put their parts there at once or in turn. Collective.

    `make` is called by all ranks if they have the file open together, else by rank 0 alone.
    """
    settings = settings or {}

    def all_at_once() -> None:
        with h5py().File(path, mode, driver="mpio", comm=ranks.given, **settings) as f:
            make(f)
            put(f)

    def in_turn(rank: int) -> None:
        if ranks.rank != rank:
            return
        with h5py().File(path, mode if rank == 0 else "r+", **settings) as f:
            if rank == 0:
                make(f)
            put(f)

    if all(ranks.agreed(lambda: in_parallel(ranks))):
        ranks.agreed(all_at_once)
        return
    for rank in range(ranks.size):
        ranks.agreed(lambda rank=rank: in_turn(rank))


def read(cls: type[DistArray], file: str | os.PathLike, dataset: str, where: Where, comm: Any) -> DistArray:
    """`DistArray.read`. All ranks read at once, whatever h5py was built for."""
    from weft._together import ranks_of

    ranks = ranks_of(comm)

    def look() -> tuple[tuple[int, ...], np.dtype]:
        with h5py().File(os.fspath(file), "r") as f:
            if dataset not in f or not hasattr(f[dataset], "shape"):
                raise Error("array: read", f'no dataset "{dataset}" in {file}', f"one of {_datasets(f)}")
            return f[dataset].shape, f[dataset].dtype

    shape, dtype = ranks.agreed(look)[0]
    array = cls(shape, dtype, where, comm)

    def get() -> None:
        if array.box.size:
            with h5py().File(os.fspath(file), "r") as f:
                array._local[...] = f[dataset][array.box.slices]

    ranks.agreed(get)
    return array


def _datasets(f: Any) -> list[str]:
    names: list[str] = []
    f.visititems(lambda name, thing: names.append(name) if hasattr(thing, "shape") else None)
    return names
