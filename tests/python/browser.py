"""Pages opened in a headless Chromium, for tests of what they look like and whether their scripts run."""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium() -> str:
    """The program; where there is none, the test that calls is skipped."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.skip(f"no Chromium: none of {', '.join(_NAMES)} is there (Debian: chromium)")
    return found


def document(page: pathlib.Path, milliseconds: int = 2000) -> str:
    """The HTML of a page after its scripts have run for so long by its own clock. Nothing is loaded from elsewhere."""
    return _run(page, "--dump-dom", f"--virtual-time-budget={milliseconds}")


def screenshot(page: pathlib.Path, picture: pathlib.Path, width: int = 1200, height: int = 800) -> bytes:
    """Writes a PNG of a page, or of a picture that a browser can show, and returns it."""
    _run(page, f"--screenshot={picture}", f"--window-size={width},{height}", "--virtual-time-budget=2000")
    return picture.read_bytes()


def text_of(html: str, identity: str) -> str:
    """The text inside the element with this id; the element has no other elements inside."""
    found = re.search(rf'<(\w+)[^>]*\bid="{identity}"[^>]*>([^<]*)</\1>', html)
    assert found, f"no element {identity}"
    return found[2]


def _run(page: pathlib.Path, *arguments: str) -> str:
    with tempfile.TemporaryDirectory() as profile:  # several may run at once
        done = subprocess.run(
            [
                *(chromium(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
                *("--no-first-run", "--disable-extensions", "--host-resolver-rules=MAP * ~NOTFOUND"),
                *(f"--user-data-dir={profile}", *arguments, page.resolve().as_uri()),
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return done.stdout
