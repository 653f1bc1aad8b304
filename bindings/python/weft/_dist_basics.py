"""What a distributed array is, once it is there: its part and box, elements, copies, and NumPy's functions of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from weft import _dist_functions as functions
from weft import _dist_reductions as reductions
from weft._box import Box
from weft._dist_index import held, nothing_of, part_of_values, selection
from weft._error import Error
from weft._layout import Layout, Part

if TYPE_CHECKING:
    from weft._dist_array import DistArray


class Spread(np.lib.mixins.NDArrayOperatorsMixin):
    """A layout, the same on all ranks, and this rank's part. `DistArray` adds what makes such arrays and moves them."""

    __slots__ = ("_layout", "_local")

    _layout: Layout
    _local: Any

    @classmethod
    def _of(cls, layout: Layout, local: Any) -> DistArray:
        """The array of a layout that is known already. Local."""
        array = cls.__new__(cls)
        array._layout, array._local = layout, local
        return array

    @property
    def local(self) -> Any:
        """This rank's part, where it lies: writing to it writes to the array."""
        return self._local

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        """This rank's part, as `local`."""
        return np.asarray(self._local, dtype) if copy is None else np.array(self._local, dtype, copy=copy)

    @property
    def box(self) -> Box:
        """The global positions that this rank holds."""
        return self._layout.box

    @property
    def boxes(self) -> list[Box]:
        """Those of all ranks."""
        return [part.box for part in self._layout.parts]

    @property
    def comm(self) -> Any:
        """The communicator, as it was given."""
        return self._layout.ranks.given

    @property
    def shape(self) -> tuple[int, ...]:
        """The global shape."""
        return self._layout.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements on all ranks."""
        return math.prod(self.shape)

    @property
    def dtype(self) -> np.dtype:
        """The type of the elements."""
        return self._local.dtype

    @property
    def order(self) -> tuple[int, ...]:
        """The axes of this rank's part, from slowest to fastest in memory."""
        return self._layout.order

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        """Elements at global positions. Local.

        With integers along all axes: the element, or an IndexError that names the rank that holds it. With slices of
        step 1: a view of this rank's share of them, which may be empty.
        """
        chosen = selection(self.shape, index)
        mine = held(self._layout, chosen)
        return nothing_of(self._layout, chosen, self.dtype) if mine is None else self._local[mine]

    def __setitem__(self, index: Any, values: Any) -> None:
        """Sets elements at global positions, each rank those that it holds. Local.

        `values` have the shape of what is set in the whole array, or of this rank's share, or broadcast to one of them.
        A `DistArray` of the same boxes sets all elements.
        """
        chosen = selection(self.shape, index)
        if isinstance(values, Spread):
            if not values._layout.has_boxes_of(self._layout) or chosen != selection(self.shape, ...):
                got = f"elements of a DistArray of shape {values.shape} for a part, or of other boxes"
                raise Error("array", got, "all elements, of the same boxes; redistribute() gives them")
            values = values._local
        mine = held(self._layout, chosen)
        if mine is not None and self._local.size:
            self._local[mine] = part_of_values(self._layout, chosen, mine, values)

    def copy(self) -> DistArray:
        """The same values in memory of their own, without gaps. Local."""
        out = self._like(self.dtype)
        out._local[...] = self._local
        return out

    def astype(self, dtype: DTypeLike, copy: bool = True) -> Spread:
        """A copy as another type; this array itself if it has that type and `copy` is False. Local."""
        if not copy and self.dtype == np.dtype(dtype):
            return self
        out = self._like(np.dtype(dtype))
        out._local[...] = self._local.astype(dtype, copy=False)
        return out

    def fill(self, value: Any) -> None:
        """Sets all elements. Local."""
        self._local[...] = value

    def _like(self, dtype: DTypeLike) -> DistArray:
        layout = self._layout.dense
        return self._of(layout, layout.empty(dtype))

    @property
    def real(self) -> DistArray:
        """The real parts, as a view."""
        return self if self.dtype.kind != "c" else self._component(self._local.real)

    @property
    def imag(self) -> DistArray:
        """The imaginary parts of complex numbers, as a view; of real numbers zeros."""
        if self.dtype.kind != "c":
            zeros = self._like(self.dtype)
            zeros.fill(0)
            return zeros
        return self._component(self._local.imag)

    def _component(self, local: Any) -> DistArray:
        double = self._layout.with_parts(lambda part: Part(part.box, tuple(2 * s for s in part.strides)))
        return self._of(double, local)

    def conj(self) -> DistArray:
        """The complex conjugate. Local."""
        return np.conjugate(self)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return functions.ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Callable, types: Any, args: tuple, kwargs: dict) -> Any:
        return functions.function(function, args, kwargs)

    sum = reductions.reduction(np.add, "The sum", takes_dtype=True)
    prod = reductions.reduction(np.multiply, "The product", takes_dtype=True)
    min = reductions.reduction(np.minimum, "The smallest element", takes_dtype=False)
    max = reductions.reduction(np.maximum, "The largest element", takes_dtype=False)
    any = reductions.reduction(np.logical_or, "Whether any element is true", takes_dtype=False)
    all = reductions.reduction(np.logical_and, "Whether all elements are true", takes_dtype=False)
    mean, var, std = reductions.mean, reductions.var, reductions.std
    norm, vdot = reductions.norm, reductions.vdot

    __iter__ = None  # a rank would see its own part and take it for the whole; so would `in`

    def __bool__(self) -> bool:
        if self.size == 1:
            return bool(self.all())
        raise ValueError(
            "the truth value of an array of several elements is ambiguous: use any() or all(), which are collective"
        )

    def __repr__(self) -> str:
        layout = self._layout
        sizes, (lo, hi) = "x".join(map(str, self.shape)), self.box
        return f"<weft.DistArray {sizes} {self.dtype}, rank {layout.ranks.rank} of {layout.ranks.size}: {lo} to {hi}>"

    def __reduce__(self):
        raise TypeError(
            "a weft.DistArray cannot be pickled: it is a part of an array on many ranks. Pickle its `local`, "
            "or write() it to a file"
        )

    def __copy__(self) -> DistArray:
        return self.copy()

    def __deepcopy__(self, memo: dict) -> DistArray:
        return self.copy()
