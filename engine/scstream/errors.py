"""Errors that callers of the engine may want to catch."""

from __future__ import annotations


class ModelFileError(ValueError):
    """The file is not a usable model; the message gives the reason."""
