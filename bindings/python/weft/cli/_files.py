"""Files of JSON, and clear words for those that cannot be used."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

from weft.cli._errors import UsageError


def read_json(name: str) -> Any:
    """Raises `UsageError` for a file that is not there or no JSON."""
    try:
        return json.loads(pathlib.Path(name).read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{name}: no JSON ({error})") from None


def check_writable(name: str) -> None:
    """Before anything is measured. Raises `UsageError`; makes and changes nothing."""
    folder = os.path.dirname(os.path.abspath(name))
    if os.path.isdir(name):
        raise UsageError(f"{name}: a folder; expected a file")
    if not os.path.isdir(folder):
        raise UsageError(f"{name}: there is no folder {folder}")
    if not os.access(name if os.path.exists(name) else folder, os.W_OK):
        raise UsageError(f"{name}: this user may not write it")


def write(name: str, text: str) -> None:
    """Raises `UsageError` for a file that cannot be written."""
    try:
        pathlib.Path(name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror}") from None
