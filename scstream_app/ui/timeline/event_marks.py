"""Events as marks of the timeline: their frames by kind, and their descriptions."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field

from scstream import Event
from scstream.sampler.genealogy import Kind
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.events import event_text

#: The lanes of the timeline from top to bottom.
LANES = (Kind.BIRTH, Kind.SPLIT, Kind.MERGE, Kind.DEATH)
_LINES_IN_TIP = 6


@dataclass(slots=True)
class Ticks:
    """Frames of the events of one kind, and the position of each event in the event log."""

    frames: array[int] = field(default_factory=lambda: array("q"))
    places: array[int] = field(default_factory=lambda: array("q"))


class EventMarks:
    """The events that pass the document's filter, by kind.

    Attributes
    ----------
    ticks : dict of Kind to Ticks
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self.reset()

    def reset(self) -> None:
        """Forget all events."""
        self.ticks = {kind: Ticks() for kind in LANES}
        self._taken = 0

    def __bool__(self) -> bool:
        return self._taken > 0

    def take(self) -> None:
        """Add the events since the last call."""
        log = self._document.summary.events
        for place in self._document.event_filter.places(self._taken):
            ticks = self.ticks[log.kind(place)]
            ticks.frames.append(log.frames[place])
            ticks.places.append(place)
        self._taken = len(log)

    def nearest(self, kind: Kind, index: int) -> int | None:
        """Return the frame of the event of a kind nearest to ``index``; None if there is none."""
        return nearest(self.ticks[kind].frames, index)

    def events(self, kind: Kind, frame: int) -> list[Event]:
        """Return the events of a kind on a frame."""
        ticks, log = self.ticks[kind], self._document.summary.events
        places = ticks.places[bisect_left(ticks.frames, frame) : bisect_right(ticks.frames, frame)]
        return [log[place][1] for place in places]

    def describe(self, kind: Kind, frame: int) -> list[str]:
        """Describe the first events of a kind on a frame, a line each."""
        lines = [self._text(event) for event in self.events(kind, frame)]
        more = [f"and {len(lines) - _LINES_IN_TIP} more"] if len(lines) > _LINES_IN_TIP else []
        return [*lines[:_LINES_IN_TIP], *more]

    def _text(self, event: Event) -> str:
        ratio = event_text.describe_ratio(event)
        return event_text.describe(event, self._document.names.names) + (
            f" (log Hastings ratio {ratio})" if ratio else ""
        )


def nearest(frames: array[int] | list[int], index: int) -> int | None:
    """Frame of a sorted sequence nearest to ``index``."""
    place = bisect_left(frames, index)
    near = frames[max(place - 1, 0) : place + 1]
    return min(near, key=lambda frame: abs(frame - index), default=None)
