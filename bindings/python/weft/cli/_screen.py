"""Where commands print: tables and colours by rich on a terminal where it is installed, plain text elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from weft.cli._ranks import launched

try:
    import rich.console
    import rich.table
except ImportError:  # without it everything is still said
    rich = None  # type: ignore[assignment]

Cell = str | int | float | None


def is_terminal(stream: TextIO) -> bool:
    """Under mpirun it is not known: launchers give ranks terminals of their own, whatever their output ends in."""
    return launched() is None and stream.isatty()


class Screen:
    """Prints to a stream. `pretty`: with rich; None: if the stream is a terminal and rich is there."""

    def __init__(self, stream: TextIO | None = None, pretty: bool | None = None) -> None:
        self._stream = stream or sys.stdout
        wanted = is_terminal(self._stream) if pretty is None else pretty
        self._console: Any = None
        if wanted and rich is not None:
            self._console = rich.console.Console(file=self._stream, highlight=False, markup=False, emoji=False)

    def text(self, text: str = "") -> None:
        """Lines, as they are."""
        self._print(text, None)

    def title(self, text: str) -> None:
        """A line that begins something."""
        self._print(text, "bold cyan")

    def good(self, text: str) -> None:
        self._print(text, "green")

    def bad(self, text: str) -> None:
        self._print(text, "bold red")

    def _print(self, text: str, style: str | None) -> None:
        if self._console is not None:
            self._console.print(text, style=style, soft_wrap=True)
        else:
            print(text, file=self._stream)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
        """Columns of numbers are set to the right."""
        cells = [["" if cell is None else str(cell) for cell in row] for row in rows]
        right = [bool(cells) and all(_is_number(row[k]) for row in cells) for k in range(len(columns))]
        if self._console is not None:
            table = rich.table.Table(box=None, header_style="bold", pad_edge=False, show_header=any(columns))
            for name, to_the_right in zip(columns, right, strict=True):
                table.add_column(name, justify="right" if to_the_right else "left", overflow="fold")
            for row in cells:
                table.add_row(*row)
            self._console.print(table)
            return
        widths = [max(len(row[k]) for row in [list(columns), *cells]) for k in range(len(columns))]
        for row in [*([list(columns)] if any(columns) else []), *cells]:
            aligned = [
                cell.rjust(width) if to_the_right else cell.ljust(width)
                for cell, width, to_the_right in zip(row, widths, right, strict=True)
            ]
            print("  ".join(aligned).rstrip(), file=self._stream)


def _is_number(text: str) -> bool:
    return text == "" or text == "-" or text.split(" ")[0].strip("%").replace(".", "", 1).lstrip("-").isdecimal()


def milliseconds(seconds: float | None) -> str:
    """ "8.69 ms"; "-" for what is not known."""
    return "-" if not seconds else f"{1e3 * seconds:.4g} ms"


def bytes_text(number: float) -> str:
    """ "1.18 MiB" """
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(number) < 1024:
            return f"{number:.0f} B" if unit == "B" else f"{number:.2f} {unit}"
        number /= 1024
    return f"{number:.2f} TiB"
