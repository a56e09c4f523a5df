"""Drift: how far a segment has moved from what it was when it was first seen."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scstream.pixels.statistics import STATISTICS
from scstream_app.errors import StudioError
from scstream_app.session.run_summary import RunSummary
from scstream_app.ui.document.document import Document

#: Frames that are read for it at a time, a quarter of a millisecond each: what is beyond is learnt with the next frame
#: that is shown.
_MOST_READS = 4
#: Segments that are remembered; of hours of video there are more.
_MOST_KNOWN = 4096
_FEATURES = ("column", "row", "red", "green", "blue")
#: From black to white.
_WHOLE = math.sqrt(3.0)


@dataclass(frozen=True, slots=True)
class Drift:
    """Pixels that the centre has moved, and how far the mean colour has: 1 is from black to white.

    >>> str(Drift(12.3, 0.042, 0.1))
    '12 px, 4 %'
    """

    pixels: float
    colour: float
    size: float

    def __str__(self) -> str:
        return f"{self.pixels:.0f} px, {100.0 * self.colour:.0f} %"


class Origins:
    """Where segments came from: centre and mean colour on the first frame of their lives, read when first needed."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._known: dict[int, npt.NDArray[np.float64] | None] = {}
        self._of: RunSummary | None = None

    def learn(self, rows: npt.NDArray[np.void]) -> None:
        """Get to know the segments of a frame."""
        summary, session = self._document.summary, self._document.session
        if summary is not self._of:
            self._of, self._known = summary, {}
        if session is None:
            # Of a stream that is not recorded only what one sees is known, and it may go on for ever.
            self._known = {int(row["id"]): self._known.get(int(row["id"]), _features(row)) for row in rows}
        # What is just being saved cannot be read, and would count as unknown for good.
        if session is None or not len(summary) or self._document.saving:
            return
        if len(self._known) > _MOST_KNOWN:
            shown = frozenset(rows["id"].tolist())
            self._known = {id: origin for id, origin in self._known.items() if id in shown}
        births: dict[int, list[int]] = {}
        for id in rows["id"].tolist():
            if id not in self._known:
                life = summary.lives.get(id)
                births.setdefault(summary.frames[0] if life is None else life.born, []).append(id)
        for frame in sorted(births)[:_MOST_READS]:
            self._read(frame, births[frame])

    def _read(self, frame: int, ids: list[int]) -> None:
        session = self._document.session
        assert session is not None
        try:
            rows = session.statistics(frame)
        except StudioError:
            rows = np.empty(0, STATISTICS)
        features = {int(row["id"]): _features(row) for row in rows if row["id"] in ids}
        for id in ids:
            self._known[id] = features.get(id)

    def drift(self, row: np.void) -> Drift | None:
        """How far a segment is from its origin; None if that is not known."""
        origin = self._known.get(int(row["id"]))
        if origin is None:
            return None
        off = _features(row) - origin
        pixels, colour = math.hypot(*off[:2]), math.sqrt(float(off[2:] @ off[2:])) / _WHOLE
        facts = self._document.facts
        diagonal = math.hypot(facts.width, facts.height) if facts is not None else math.inf
        return Drift(pixels, colour, pixels / diagonal + colour)


def _features(row: np.void) -> npt.NDArray[np.float64]:
    return np.array([float(row[name]) for name in _FEATURES])
