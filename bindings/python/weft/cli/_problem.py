"""The problem of a command: the words of weft-bench, and the plan that they stand for."""

from __future__ import annotations

import argparse
import math
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import weft
from weft._core import Comm
from weft.cli import _plan_options, _ranks
from weft.cli._errors import UsageError

_TRANSFORMS = ["c2c", "r2c", *(f"{family}{n}" for family in ("dct", "dst") for n in (1, 2, 3, 4)), "none"]
_INPUTS = "slab, pencil or brick, or as weft.Plan has them: slab1, pencil0"
_OUTPUTS = (
    "fastest; natural: as the input; transposed: cut along axis 1, which comes first in memory; slab1: only cut there; "
    "pencil, brick, slab0, pencil2"
)


@dataclass(frozen=True)
class Case:
    """A problem, the options of its plan, and its ranks, in the words of the command line."""

    shape: tuple[int, ...]
    transform: str = "c2c"
    precision: str = "double"
    input: str = "slab"
    output: str = "fastest"
    batch: int = 1
    comm: str = "auto"
    options: dict[str, str] = field(default_factory=dict)
    modes: tuple[int, ...] = ()
    points: tuple[int, ...] = ()
    between: str = "none"
    line: tuple[int, ...] = ()

    @property
    def transforms(self) -> list[str]:
        """One name per axis; r2c alone: along the last axis."""
        names = self.transform.split(",")
        if len(names) > 1:
            return names
        first = "c2c" if names[0] == "r2c" else names[0]
        return [first] * (len(self.shape) - 1) + names

    @property
    def dtype(self) -> np.dtype:
        """Of the input."""
        kinds = set(self.transforms)
        real = "r2c" in kinds or ("c2c" not in kinds and kinds != {"none"})
        return np.dtype({"double": "d", "float": "f"}[self.precision] if real else self._complex())

    def _complex(self) -> str:
        return {"double": "D", "float": "F"}[self.precision]

    def plan(self, comm: Comm, **more: Any) -> weft.Plan:
        """A new plan; collective. `more` beats the options of the case."""
        arguments: dict[str, Any] = {**self.options, **more}
        ndim = len(self.shape)
        return weft.Plan(
            comm,
            self.shape,
            self.transforms,
            self.dtype,
            input=_input(self.input, ndim),
            output=_output(self.output, self.input, ndim),
            batch=self.batch,
            modes=self.modes,
            points=self.points,
            between=self.between,
            line=self.line,
            **arguments,
        )

    def flops(self) -> float:
        """The customary count of one direction: 5 N log2 N for complex data, half of it for real data; twice that with
        something between."""
        lengths = [n for n, kind in zip(self.shape, self.transforms, strict=True) if kind != "none"]
        factor = (5.0 if self.dtype.kind == "c" else 2.5) * (1 if self.between == "none" else 2)
        return factor * self.batch * math.prod(self.shape) * math.log2(max(2, math.prod(lengths)))

    def is_one_line(self) -> bool:
        """Whether the array in C order is a line as it is."""
        return len(self.shape) == 2 and self.line == (0, 1)

    def to_json(self) -> dict[str, Any]:
        """As weft-bench writes it, with the options that were given."""
        names = ("transform", "precision", "input", "output", "batch")
        return {
            "shape": list(self.shape),
            **{name: getattr(self, name) for name in names},
            **{name: list(getattr(self, name)) for name in ("modes", "points", "line") if getattr(self, name)},
            **({} if self.between == "none" else {"between": self.between}),
            "options": dict(self.options),
        }

    def __str__(self) -> str:
        options = "".join(f", {name} {value}" for name, value in self.options.items())
        line = f", line {','.join(map(str, self.line))}" if self.line else ""
        return f"{'x'.join(map(str, self.shape))} {self.transform} {self.precision}{line}{options}"


def _input(name: str, ndim: int) -> weft.Distribution | str:
    return {"slab": "slab0", "pencil": f"pencil{ndim - 1}"}.get(name, name)


def _output(name: str, input: str, ndim: int) -> weft.Distribution | str:
    if name == "natural":
        return _input(input, ndim)
    if name == "transposed":
        order = list(range(ndim))
        order[:2] = order[:2][::-1]
        return weft.Distribution.slab(1 if ndim > 1 else 0).with_order(order)
    return {"slab": "slab0", "pencil": "pencil0"}.get(name, name)


def shape_of(text: str) -> tuple[int, ...]:
    """ "256,256,256" or "256x256x256" """
    if not re.fullmatch(r"\d+([,x]\d+)*", text):
        raise argparse.ArgumentTypeError(f'"{text}"; expected lengths: 256,256,256')
    return tuple(int(n) for n in re.split("[,x]", text))


def _line(text: str) -> tuple[int, ...]:
    """ "0,1": axes; "96": points"""
    if not re.fullmatch(r"\d+(,\d+)*", text):
        raise argparse.ArgumentTypeError(f'"{text}"; expected two axes: 0,1, or a number of points')
    return tuple(int(n) for n in text.split(","))


def _transform(text: str) -> str:
    for name in text.split(","):
        if name not in _TRANSFORMS:
            raise argparse.ArgumentTypeError(f'"{name}"; expected for all axes, or for each, {", ".join(_TRANSFORMS)}')
    return text


def positive(text: str) -> int:
    """A whole number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f'"{text}"; expected a whole number from 1')
    return int(text)


def add(to: argparse.ArgumentParser, *, required: bool = False) -> None:
    """The arguments that make a case. `required`: whether --shape or a length of --line has to be given."""
    group = to.add_argument_group("problem")
    to.set_defaults(standard_shape=None if required else (128, 128, 128))
    text = "global lengths" + ("" if required else " (128,128,128)")
    group.add_argument("--shape", type=shape_of, metavar="N,N,N", help=text)
    group.add_argument(
        "--transform",
        type=_transform,
        default="c2c",
        help="c2c, r2c (the last axis), dct1 ... dst4, or one per axis: c2c,dct2,r2c (c2c)",
    )
    group.add_argument("--precision", choices=("double", "float"), default="double", help="(double)")
    group.add_argument("--input", default="slab", help=f"{_INPUTS} (slab)")
    group.add_argument("--output", default="fastest", help=f"{_OUTPUTS} (fastest)")
    group.add_argument("--batch", type=positive, default=1, help="arrays transformed together (1)")
    for name, meaning in (
        ("modes", "lengths of the modes that are kept, of the lowest frequencies (all)"),
        ("points", "lengths of the points that are given, behind which are zeros (all)"),
    ):
        group.add_argument(f"--{name}", type=shape_of, default=(), metavar="N,N,N", help=meaning)
    group.add_argument(
        "--line",
        type=_line,
        default=(),
        metavar="A,B",
        help="two axes that are one line, 0,1, or without --shape the number of its points; with r2c along the second "
        "of them (the last axis) the modes 0 to n/2, along the first (r2c,c2c) those of half of the columns (none)",
    )
    group.add_argument(
        "--between",
        choices=("none", "modes", "points"),
        default="none",
        help="what an execution passes through: modes, from points to points, or points, from modes to modes; no "
        "operator is called there (none)",
    )
    to.add_argument_group("ranks").add_argument(
        "--comm",
        default="auto",
        help="mpi, threads:P for P threads of this process, or auto: mpi under mpirun, else a thread per core (auto)",
    )
    _plan_options.add(to)


def case_of(arguments: argparse.Namespace) -> Case:
    """The case that was asked for. Raises `UsageError`, and `weft.Error` for options that do not exist."""
    _ranks.check(arguments.comm)
    shape, line = _shape_and_line(arguments)
    count = arguments.transform.count(",") + 1
    if count not in (1, len(shape)):
        raise UsageError(f"--transform: {count} transforms; expected one, or one per axis, {len(shape)}")
    return Case(
        shape,
        arguments.transform,
        arguments.precision,
        arguments.input,
        arguments.output,
        arguments.batch,
        arguments.comm,
        _plan_options.given(arguments),
        arguments.modes,
        arguments.points,
        arguments.between,
        line,
    )


def _shape_and_line(arguments: argparse.Namespace) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shape, and the axes of a line. A number of points has the shape that `weft.line_shape` finds."""
    if len(arguments.line) == 1:
        if arguments.shape is not None:
            shape = ",".join(map(str, arguments.shape))
            raise UsageError(
                f"--line: the number {arguments.line[0]} beside --shape {shape}; expected two axes of the shape: 0,1, "
                "or a number of points without --shape"
            )
        return weft.line_shape(arguments.line[0]), (0, 1)
    shape = arguments.shape or arguments.standard_shape
    if shape is None:
        arguments.parser.error("no shape; expected --shape N,N,N, or the points of a line: --line N")
    return shape, arguments.line


def ranks_json(ranks: _ranks.Ranks) -> dict[str, Any]:
    return {"number": ranks.size, "medium": ranks.medium}
