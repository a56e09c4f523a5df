"""What a document is doing, in one word."""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """What the document is doing."""

    EMPTY = "empty"
    OPENING = "opening"
    WARMING = "warming up"
    SETTLING = "settling"
    SEGMENTING = "segmenting"
    PAUSED = "paused"
    STOPPED = "stopped"
    DONE = "done"
