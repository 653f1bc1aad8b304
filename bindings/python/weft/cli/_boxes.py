"""Boxes as text: which rank holds which part of an array."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

Corners = tuple[Sequence[int], Sequence[int]]
_MOST_PARTS = 16  # along an axis
_MOST_LAYERS = 4


class Drawing:
    """The first cut axis runs down the page, the last one across; other cut axes make layers, a picture each.

    >>> print(Drawing([((0, 0), (4, 6)), ((4, 0), (8, 6))]).text())
           axis 1: 0..6
    axis 0 +-----+
      0..4 |  0  |
           +-----+
      4..8 |  1  |
           +-----+
    """

    def __init__(self, boxes: Sequence[Corners]) -> None:
        self._boxes = [(tuple(lo), tuple(hi)) for lo, hi in boxes]
        full = [(lo, hi) for lo, hi in self._boxes if all(a < b for a, b in zip(lo, hi, strict=True))]
        self._ndim = len(self._boxes[0][0])
        self._marks = [sorted({side[a] for box in full for side in box}) for a in range(self._ndim)]

    def text(self) -> str:
        if not all(self._marks):
            return "  nobody holds a point"
        cut = [a for a, marks in enumerate(self._marks) if len(marks) > 2]
        if any(len(self._marks[a]) > _MOST_PARTS + 1 for a in cut):
            return self._list()
        down = cut[0] if cut else 0
        others = [a for a in cut[1:] or range(self._ndim) if a != down]
        across = others[-1] if others else None
        layers = [a for a in cut if a not in (down, across)]
        parts = list(itertools.product(*(itertools.pairwise(self._marks[a]) for a in layers)))
        pictures = [self._picture(down, across, dict(zip(layers, part, strict=True))) for part in parts[:_MOST_LAYERS]]
        if len(parts) > _MOST_LAYERS:
            pictures.append(f"... and {len(parts) - _MOST_LAYERS} more layers")
        empty = [rank for rank, (lo, hi) in enumerate(self._boxes) if any(a >= b for a, b in zip(lo, hi, strict=True))]
        if empty:
            pictures.append(f"without points: ranks {', '.join(map(str, empty))}")
        return "\n".join(pictures)

    def _list(self) -> str:
        """Where there are too many parts to draw."""
        shown = [
            f"  rank {rank}: " + " x ".join(f"{a}..{b}" for a, b in zip(lo, hi, strict=True))
            for rank, (lo, hi) in enumerate(self._boxes[:_MOST_PARTS])
        ]
        more = len(self._boxes) - len(shown)
        return "\n".join([*shown, *([f"  ... and {more} more ranks"] if more else [])])

    def _owner(self, point: dict[int, int]) -> str:
        """The rank that holds a point, of which some axes are given; nobody: a dot."""
        for rank, (lo, hi) in enumerate(self._boxes):
            if all(lo[a] <= i < hi[a] for a, i in point.items()) and all(x < y for x, y in zip(lo, hi, strict=True)):
                return str(rank)
        return "."

    def _picture(self, down: int, across: int | None, layer: dict[int, tuple[int, int]]) -> str:
        rows = list(itertools.pairwise(self._marks[down]))
        columns = list(itertools.pairwise(self._marks[across])) if across is not None else [(0, 1)]
        at = {a: part[0] for a, part in layer.items()}

        def owner(row: tuple[int, int], column: tuple[int, int]) -> str:
            point = {**at, down: row[0]}
            if across is not None:
                point[across] = column[0]
            return self._owner(point)

        cells = [[owner(row, column) for column in columns] for row in rows]
        labels = [f"{lo}..{hi}" for lo, hi in rows]
        heads = [f"{lo}..{hi}" for lo, hi in columns] if across is not None else [""]
        width = max(5, *(len(text) + 2 for text in [*heads, *itertools.chain(*cells)]))
        if len(heads) == 1:
            width = 5
        left = max(len(text) for text in [*labels, f"axis {down}"])
        border = "+".join(["", *["-" * width] * len(columns), ""])
        lines = []
        if layer:
            lines.append("where " + ", ".join(f"axis {a} is {lo}..{hi}" for a, (lo, hi) in layer.items()))
        if across is not None and len(heads) == 1:
            lines.append(f"{'':{left}} axis {across}: {heads[0]}")
        elif across is not None:
            lines.append(f"{'':{left}} axis {across}: " + " ".join(heads))
        lines.append(f"{f'axis {down}':>{left}} {border}")
        for label, row in zip(labels, cells, strict=True):
            lines.append(f"{label:>{left}} |" + "|".join(f"{cell:^{width}}" for cell in row) + "|")
            lines.append(f"{'':{left}} {border}")
        return "\n".join(lines)
