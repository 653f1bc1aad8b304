"""What solvers ask of a plan's output: wavenumbers, which modes to keep, how often they count, sums by shell."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._arrays import Side
from weft._error import Error
from weft._places import Place
from weft._views import host_view


class Modes:
    """The part of `weft.Plan` that is about the modes of its output, its elements."""

    _core: Any
    _shape: tuple[int, ...]
    _output: Side
    _place: Place
    _between: str

    def wavenumbers(self, axis: int, nyquist: str = "kept") -> np.ndarray:
        """The wavenumbers of this rank's output along an axis, float64, shaped to broadcast against the output. Local.

        They count periods in the logical length, which is n points for c2c and r2c, 2(n-1) for dct1, 2(n+1) for dst1
        and 2n for the other DCTs and DSTs: times 2 pi / (logical length * spacing) they are angular wavenumbers. For
        c2c those from n/2 on are negative, as in `numpy.fft.fftfreq`. Along an axis that is not transformed they are
        zero. Of an output with a halo they fit the box inside.

        Of an output of columns (`weft.Distribution.sphere`) there is one number for each of its modes.

        Of a plan with modes between: those of all modes along the axis, by global index, one-dimensional.

        `nyquist`: "zero" makes that of mode n/2 of even n zero, for c2c and r2c. It stands for n/2 and for -n/2 alike,
        so that derivatives of odd order leave it out.

        >>> weft.Plan(None, (4, 6), "r2c").wavenumbers(0).ravel()
        array([ 0.,  1., -2., -1.])
        >>> weft.Plan(None, (4, 6), "r2c").wavenumbers(1, nyquist="zero")
        array([[0., 1., 2., 0.]])
        """
        if nyquist not in ("kept", "zero"):
            raise Error("wavenumbers", f"nyquist {nyquist!r}", '"kept" or "zero"')
        axis = self._axis("wavenumbers", axis)
        if self._between == "modes":
            return np.array(self._core.wavenumbers(axis, nyquist == "zero"))
        return self._along(axis, self._core.wavenumbers(axis, nyquist == "zero"))

    def logical_length(self, axis: int) -> int:
        """The period of an axis's transform in points; see `wavenumbers`. 1 for an axis that is not transformed."""
        return self._core.logical_length(self._axis("logical length", axis))

    def hermitian_weights(self, axis: int = -1) -> np.ndarray:
        """How often modes count in a sum over all of them, shaped as `wavenumbers`: 2 along an r2c axis, which leaves
        out the conjugates, but 1 for modes 0 and n/2; 1 along other axes. Local.

        >>> plan = weft.Plan(None, (4, 6), "r2c")
        >>> plan.hermitian_weights()
        array([[1., 2., 2., 1.]])
        >>> x = np.arange(24.0).reshape(4, 6)
        >>> bool(np.isclose((plan.hermitian_weights() * abs(plan.forward(x)) ** 2).sum(), 24 * (x**2).sum()))
        True
        """
        axis = self._axis("Hermitian weights", axis)
        return self._along(axis, self._core.hermitian_weights(axis))

    def dealiasing_mask(self, fraction: float = 2 / 3) -> np.ndarray:
        """Which modes to keep, bool, shaped as the box of this rank's output: those whose wavenumber is less than
        `fraction` of the largest along every axis. With 2/3, products of two fields have no aliasing errors in the
        modes that are kept (Orszag, J. Atmos. Sci. 28, 1971). Local.

        >>> weft.Plan(None, (6, 6), "r2c").dealiasing_mask()[1]
        array([ True,  True, False, False])
        """
        ndim = len(self._shape)
        masks = [self._along(a, self._core.dealiasing_mask(a, float(fraction))) > 0 for a in range(ndim)]
        return np.logical_and.reduce(np.broadcast_arrays(*masks))

    def shell_spectrum(self, modes: Any, units: Sequence[float] | None = None) -> np.ndarray:
        """The squares of modes summed up by shell: element s is the sum of abs(mode)**2 over all modes of all ranks,
        and all arrays of a batch, whose abs(k) is nearest to s, each as often as `hermitian_weights` says. Collective;
        all ranks return the same.

        `units`: of the wavenumbers, one for each axis, the same on all ranks; None: 1. Shells are 1 wide. For plans of
        arrays on the host. If all axes are c2c or r2c, with norm="forward" and a batch of velocity components it is the
        energy spectrum, but for a factor of 1/2.

        >>> plan = weft.Plan(None, (8, 8), norm="forward")
        >>> plan.shell_spectrum(plan.forward(np.exp(2j * np.pi * 3 / 8 * np.arange(8)) * np.ones((8, 1)))).round(9)
        array([0., 0., 0., 1., 0., 0., 0.])
        """
        try:
            if self._place.device >= 0:
                raise Error("shell spectrum", "a plan of device memory", "a plan of arrays on the host")
            given = [] if units is None else [float(u) for u in units]
            if given and len(given) != len(self._shape):
                raise Error(
                    "shell spectrum", f"{len(given)} units", f"one for each of {len(self._shape)} axes, or None"
                )
            seen = modes if type(modes) is np.ndarray else host_view("modes", modes)
            self._output.check("modes", seen)
        except Exception:
            self._refuse_spectrum()
            raise
        return np.array(self._core.shell_spectrum(seen, given))

    def _refuse_spectrum(self) -> None:
        """Lets the other ranks, which wait for this one, fail as well."""
        with contextlib.suppress(Error):  # the caller raises what is really wrong
            self._core.shell_spectrum(None, [])

    def _axis(self, operation: str, axis: int) -> int:
        ndim = len(self._shape)
        if not -ndim <= axis < ndim:
            raise Error(operation, f"axis {axis}", f"an axis of {ndim}")
        return axis % ndim

    def _along(self, axis: int, values: list[float]) -> np.ndarray:
        if len(self._output.box.lo) < len(self._shape):  # columns: a number for each mode
            return np.array(values)
        return np.array(values).reshape([-1 if a == axis else 1 for a in range(len(self._shape))])
