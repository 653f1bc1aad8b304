"""What may be given as a plan's `input` and `output`: names, boxes, or a `weft.Distribution`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

from weft._box import Box
from weft._core import Distribution
from weft._error import Error

Where = str | Distribution | Box | Sequence[Box]

_NAMED = {"slab": Distribution.slab, "pencil": Distribution.pencil}
_PLAIN = {"brick": Distribution.brick, "fastest": Distribution.fastest}


def distribution(what: str, where: Where) -> Distribution:
    """The distribution that a plan's argument `what` stands for."""
    if isinstance(where, Distribution):
        return where
    if isinstance(where, str):
        return _by_name(what, where)
    if isinstance(where, Box):
        return Distribution.box(where)
    if isinstance(where, Sequence) and all(_is_box(box) for box in where):
        return Distribution.boxes(list(cast("Sequence[Box]", where)))
    raise Error(f"plan: {what}", repr(where), _WANTED)


_WANTED = (
    '"slab0" (cut along axis 0), "pencil2" (whole lines along axis 2), "brick", "fastest", this rank\'s weft.Box, '
    "the list of all ranks' boxes, or a weft.Distribution"
)


def _is_box(box: object) -> bool:
    return isinstance(box, tuple) and len(box) == 2


def _by_name(what: str, name: str) -> Distribution:
    if name in _PLAIN:
        return _PLAIN[name]()
    parts = re.fullmatch(r"(slab|pencil)(\d)", name)
    if parts is None:
        raise Error(f"plan: {what}", f'"{name}"', _WANTED)
    return _NAMED[parts[1]](int(parts[2]))
