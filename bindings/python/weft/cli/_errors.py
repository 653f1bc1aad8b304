"""What a user can set right, said on one line."""

from __future__ import annotations


class UsageError(Exception):
    """A wrong argument, or a file that cannot be used: one line, and exit status 2."""
