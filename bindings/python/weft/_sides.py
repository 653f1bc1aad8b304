"""What plans and gradients say of this rank's arrays on both sides, and new ones."""

from __future__ import annotations

from typing import Any

from weft._arrays import Side
from weft._box import Box
from weft._places import Place


class Sides:
    """The part of `weft.Plan` and `weft.Gradient` that is about this rank's arrays."""

    _core: Any
    _input: Side
    _output: Side
    _place: Place

    @property
    def input_box(self) -> Box:
        """This rank's box of the input: before forward."""
        return self._input.box

    @property
    def output_box(self) -> Box:
        """This rank's box of the output: after forward, or of each derivative."""
        return self._output.box

    @property
    def input_order(self) -> tuple[int, ...]:
        """The axes from slowest to fastest in memory."""
        return self._input.order

    @property
    def output_order(self) -> tuple[int, ...]:
        """The axes from slowest to fastest in memory."""
        return self._output.order

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of this rank's array of the input: of its box, with halo and batch if there are any."""
        return self._input.shape

    @property
    def output_shape(self) -> tuple[int, ...]:
        """The shape of this rank's array of the output; of a gradient of all derivatives."""
        return self._output.shape

    def empty_input(self, xp: Any = None) -> Any:
        """A new array for this rank's input, its values undefined.

        `xp`: the module that makes it, numpy, cupy or torch; None: NumPy, and for memory of a GPU the module of the
        argument `device`, or else the one of CuPy and PyTorch that is imported.
        """
        return self._place.empty(self._input, xp)

    def empty_output(self, xp: Any = None) -> Any:
        """The same for this rank's output. Its memory order is `output_order`."""
        return self._place.empty(self._output, xp)
