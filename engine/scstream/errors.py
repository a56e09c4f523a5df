"""Errors that callers of the engine may want to catch."""

from __future__ import annotations


class NotSegmentedError(RuntimeError, AttributeError):
    """A `VideoSegmenter` has no result yet: no frame has been segmented.

    Also an AttributeError, so that ``hasattr(segmenter, "statistics_")`` is False.
    """


class ModelFileError(ValueError):
    """The file is not a usable model; the message gives the reason."""
