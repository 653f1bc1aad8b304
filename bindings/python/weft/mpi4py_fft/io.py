"""Steps of fields in HDF5 files, in the groups that mpi4py-fft has for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from mpi4py import MPI

from weft._error import Error
from weft._hdf5 import all_write, h5py
from weft._together import ranks_of


class HDF5File:
    """A file of steps of fields: `/u/3D/0` is step 0 of field u, `/u/2D/slice_4_slice/0` a slice of it. Needs h5py.

    `domain`: per axis (origin, length), or coordinates; written beside the fields. `mode`: "w" makes a new file.
    How ranks share the work is as in `weft.DistArray.write`. Collective over MPI.COMM_WORLD.
    """

    def __init__(self, h5name: str, domain: Sequence[Any] | None = None, mode: str = "a", **kw: Any) -> None:
        if not str(h5name).endswith((".h5", ".hdf5")):
            raise Error("HDF5File", f"a file {h5name}", "one that ends in .h5; other formats are not there")
        self.filename, self.domain = str(h5name), domain
        if mode == "w":
            all_write(ranks_of(MPI.COMM_WORLD), self.filename, "w", lambda f: None, lambda f: None, kw)

    @staticmethod
    def backend() -> str:
        """What files are written by."""
        return "hdf5"

    def write(self, step: int, fields: Mapping[str, Sequence[Any]], as_scalar: bool = False) -> None:
        """Writes step `step` of fields: lists of `DistArray`s, and of pairs of one and a slice of the whole."""
        tasks = [task for name, given in fields.items() for field in given for task in _tasks(name, field, as_scalar)]

        def make(f: Any) -> None:
            for name, group, field, index in tasks:
                self._describe(f, name, field)
                shape = tuple(n for n, s in zip(field.global_shape, index, strict=True) if isinstance(s, slice))
                f.require_dataset(f"{group}/{step}", shape, field.dtype, exact=True)

        def put(f: Any) -> None:
            for _, group, field, index in tasks:
                where = field.local_slice()
                pairs = list(zip(index, where, strict=True))
                if field.size and all(isinstance(s, slice) or w.start <= s < w.stop for s, w in pairs):
                    mine = tuple(s if isinstance(s, slice) else s - w.start for s, w in pairs)
                    f[f"{group}/{step}"][tuple(w for s, w in pairs if isinstance(s, slice))] = field.v[mine]

        all_write(ranks_of(MPI.COMM_WORLD), self.filename, "a", make, put)

    def _describe(self, f: Any, name: str, field: Any) -> None:
        """The attributes and the domain of a field, once."""
        group = f.require_group(name)
        for key, value in (("shape", field.pencil.shape), ("rank", field.rank)):
            if not np.array_equal(group.attrs.setdefault(key, value), value):
                raise Error(
                    "HDF5File", f'field "{name}" with {key} {value}', f"{group.attrs[key]}, as it has in the file"
                )
        domain = ((0, 2 * np.pi),) * field.dimensions if self.domain is None else self.domain
        kind = "mesh" if isinstance(domain[0], np.ndarray) else "domain"
        for axis, extent in enumerate(domain):
            values = np.atleast_1d(np.squeeze(np.asarray(extent, float)))
            group.require_dataset(f"{kind}/x{axis}", values.shape, values.dtype, data=values)

    def read(self, u: Any, name: str, step: int = 0) -> None:
        """Reads a step of a field into a `DistArray`."""

        def get() -> None:
            with h5py().File(self.filename, "r") as f:
                path = f"{name}/{u.dimensions}D/{step}"
                if path not in f:
                    raise Error("HDF5File", f"no {path} in {self.filename}", "a step of a field that was written")
                if f[path].shape != u.global_shape:
                    raise Error("HDF5File", f"{path} of shape {f[path].shape}", f"{u.global_shape}, that of the array")
                u[...] = f[path][u.local_slice()]

        ranks_of(MPI.COMM_WORLD).agreed(get)


def _tasks(name: str, given: Any, as_scalar: bool) -> Iterator[tuple[str, str, Any, tuple[Any, ...]]]:
    """Name, group, array and index of what is to be written; with `as_scalar` one for each component."""
    field, chosen = given if isinstance(given, tuple | list) else (given, None)
    if as_scalar and field.rank > 0:
        for place in np.ndindex(field.shape[: field.rank]):
            component = field[place]
            yield from _tasks(
                name + "".join(map(str, place)), component if chosen is None else (component, chosen), False
            )
        return
    dims = field.dimensions
    if chosen is None:
        yield name, f"{name}/{dims}D", field, (slice(None),) * field.ndim
        return
    chosen = tuple(chosen)
    if len(chosen) != dims or any(isinstance(s, slice) and s != slice(None) for s in chosen):
        raise Error("HDF5File", f"the slice {chosen}", f"an integer or slice(None) for each of {dims} axes")
    label = "_".join("slice" if isinstance(s, slice) else str(s) for s in chosen)
    count = sum(isinstance(s, slice) for s in chosen)
    yield name, f"{name}/{count}D/{label}", field, (slice(None),) * field.rank + chosen
