"""The one exception type of Weft, for what C++ and Python find."""

from __future__ import annotations

from weft import _core


class Error(ValueError):
    """What Weft raises: what was being done, what it got, what it expected, and the rank at fault.

    `operation`, `got` and `expected` are texts; `rank` is -1 if the failure concerns no single rank.

    >>> import weft
    >>> weft.Plan(None, (4, 4), pipeline="quick")
    Traceback (most recent call last):
    ...
    weft.Error: weft: options: pipeline: "quick"; expected one of auto, sequential, th, windowed, planes, ...
    """

    def __init__(self, operation: str, got: str, expected: str, rank: int = -1) -> None:
        super().__init__(_core.message(operation, got, expected, rank))
        self.operation, self.got, self.expected, self.rank = operation, got, expected, rank

    def __reduce__(self):
        return Error, (self.operation, self.got, self.expected, self.rank)


Error.__module__ = "weft"
