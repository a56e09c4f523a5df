"""EventFilter: which events the timeline and the table of events show, and N and P go to."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable

from PySide6.QtCore import QObject, Signal, Slot

from scstream.sampler.genealogy import Kind
from scstream_app.plural import listed
from scstream_app.session import MarkedObject
from scstream_app.session.run_summary import RunSummary
from scstream_app.ui.document.events.event_text import TITLES
from scstream_app.ui.document.state import OpenClip

ALL_KINDS = frozenset(TITLES)


class EventFilter(QObject):
    """Chooses events by their kind, and by the segments or the object that they concern.

    ``changed`` is emitted when other events pass.

    Parameters
    ----------
    clip : OpenClip
        The document.
    parent : QObject, optional

    Attributes
    ----------
    kinds : frozenset of Kind
        Kinds of events that pass.
    object_name : str or None
        The object whose events pass; None if the filter is not about an object.
    """

    changed = Signal()

    def __init__(self, clip: OpenClip, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._clip = clip
        self._forget()

    def _forget(self) -> None:
        self.kinds = ALL_KINDS
        self.object_name: str | None = None
        self._ids: set[int] | None = None
        # The run, and the number of its events, in which parts of the object's segments were looked for.
        self._of: RunSummary | None = None
        self._seen = 0

    # --- choosing

    def toggle_kind(self, kind: Kind) -> None:
        """Hide the events of a kind, or show them again."""
        self.set_kinds(self.kinds ^ {kind})

    def set_kinds(self, kinds: Iterable[Kind]) -> None:
        """Let only events of these kinds pass."""
        chosen = frozenset(kinds)
        if chosen != self.kinds:
            self.kinds = chosen
            self.changed.emit()

    def set_segments(self, ids: Iterable[int] | None) -> None:
        """Let only events of these segments pass; None: of all segments."""
        self.object_name, self._ids = None, None if ids is None else set(ids)
        self.changed.emit()

    def set_object(self, object_: MarkedObject) -> None:
        """Let only events pass of the segments that an object has had, and of their parts."""
        self.object_name = object_.name
        self._ids = set[int]().union(*(edit.ids for edit in object_.edits))
        self._of, self._seen = None, 0
        self.changed.emit()

    @Slot()
    def clear(self) -> None:
        """Let all events pass."""
        if self.active:
            self._forget()
            self.changed.emit()

    # --- what passes

    @property
    def active(self) -> bool:
        """Whether some events do not pass."""
        return self.by_segments or self.kinds != ALL_KINDS

    @property
    def by_segments(self) -> bool:
        """Whether only events of some segments or of an object pass."""
        return self._ids is not None

    @property
    def text(self) -> str:
        """Description of the events that pass, such as "Splits of 3 segments"; empty if all do."""
        return kinds_text(self.kinds) + self._subject() if self.active else ""

    def _subject(self) -> str:
        if self.object_name is not None:
            return f" of '{self.object_name}'"
        if self._ids is None:
            return ""
        return f" of {len(self._ids)} segments" if len(self._ids) != 1 else f" of segment {min(self._ids)}"

    def places(self, first: int = 0) -> list[int]:
        """Return the positions in the event log, from ``first`` on, of the events that pass."""
        if self.object_name is not None:
            self._find_parts()
        return self._clip.summary.events.matching(self.kinds, self._ids, first)

    def _find_parts(self) -> None:
        """Add the segments that have split off from those of the object since the last call."""
        assert self._ids is not None
        log = self._clip.summary.events
        if self._clip.summary is not self._of:
            self._of, self._seen = self._clip.summary, 0
        for place in log.matching({Kind.SPLIT}, None, max(self._seen - log.forgotten, 0)):
            parent, part = log[place][1].ids
            if parent in self._ids:
                self._ids.add(part)
        self._seen = len(log) + log.forgotten

    def next_event(self, index: int) -> int | None:
        """First frame after ``index`` with an event that passes or, without a filter, a cut; None if there is none."""
        return self._find(index, self._clip.summary.next_event, _after)

    def previous_event(self, index: int) -> int | None:
        """Last frame before ``index`` with an event that passes or, without a filter, a cut; None if there is none."""
        return self._find(index, self._clip.summary.previous_event, _before)

    def _find(
        self, index: int, among_all: Callable[[int], int | None], among: Callable[[list[int], int], int | None]
    ) -> int | None:
        if not self.active:
            return among_all(index)
        frames = self._clip.summary.events.frames
        return among([frames[place] for place in self.places()], index)


def _after(frames: list[int], index: int) -> int | None:
    place = bisect_right(frames, index)
    return frames[place] if place < len(frames) else None


def _before(frames: list[int], index: int) -> int | None:
    place = bisect_left(frames, index)
    return frames[place - 1] if place else None


def kinds_text(kinds: Iterable[Kind]) -> str:
    """Describe kinds of events.

    >>> kinds_text([Kind.SPLIT, Kind.BIRTH]), kinds_text(Kind), kinds_text([])
    ('Births and splits', 'Events', 'No events')
    """
    chosen = frozenset(kinds)
    if chosen == ALL_KINDS:
        return "Events"
    words = [title.lower() for kind, title in TITLES.items() if kind in chosen]
    text = listed(words) or "no events"
    return text[0].upper() + text[1:]
