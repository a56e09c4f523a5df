"""The states of a document (empty, opening, segmenting, ...), and its read-only interface `OpenClip`."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from scstream_app.session import MarkedObject, Names, Session, SourceFacts
from scstream_app.session.run_summary import RunSummary


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


class OpenClip(Protocol):
    """The open clip, read-only: what `Display` and `Bookmarks` need to know of their `Document`."""

    @property
    def session(self) -> Session | None:
        """The open session; None for a live source, and if nothing is open."""

    @property
    def facts(self) -> SourceFacts | None:
        """Facts about the source; None if nothing is open."""

    @property
    def summary(self) -> RunSummary:
        """Numbers and events of every frame so far."""

    @property
    def state(self) -> State:
        """What the document is doing."""

    @property
    def names(self) -> Names:
        """Names, colours and visibility of segments."""

    @property
    def objects(self) -> tuple[MarkedObject, ...]:
        """The user's objects."""

    @property
    def saving(self) -> bool:
        """Whether the session is closed because it is being moved."""

    @property
    def read_only(self) -> bool:
        """Whether the session cannot be written to."""

    @property
    def live(self) -> bool:
        """Whether the source is live and has no session."""

    def colour_at(self, index: int) -> str:
        """Return the colour space in which a frame was segmented."""
