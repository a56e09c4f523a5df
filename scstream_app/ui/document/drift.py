"""Drift: how far the position and the colour of a segment have moved since its first frame."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scstream.pixels.statistics import STATISTICS
from scstream_app.errors import StudioError
from scstream_app.session.run_summary import RunSummary
from scstream_app.ui.document.document import Document

#: Maximum number of frames read per call, a quarter of a millisecond each; the next call reads more.
_MOST_READS = 4
#: Maximum number of remembered segments; hours of video have more.
_MOST_KNOWN = 4096
_FEATURES = ("column", "row", "red", "green", "blue")
#: Distance from black to white.
_WHOLE = math.sqrt(3.0)


@dataclass(frozen=True, slots=True)
class Drift:
    """How far a segment has drifted.

    Attributes
    ----------
    pixels : float
        Distance that the centre has moved.
    colour : float
        Distance that the mean colour has moved; 1 is from black to white.
    size : float
        Sum of both, with the distance relative to the frame's diagonal.

    Examples
    --------
    >>> str(Drift(12.3, 0.042, 0.1))
    '12 px, 4 %'
    """

    pixels: float
    colour: float
    size: float

    def __str__(self) -> str:
        return f"{self.pixels:.0f} px, {100.0 * self.colour:.0f} %"


class Origins:
    """Centres and mean colours of segments on their first frames, read from the session when first needed."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._known: dict[int, npt.NDArray[np.float64] | None] = {}
        self._of: RunSummary | None = None

    def learn(self, rows: npt.NDArray[np.void]) -> None:
        """Read the origins of the segments of a frame."""
        summary, session = self._document.summary, self._document.session
        if summary is not self._of:
            self._of, self._known = summary, {}
        if session is None:
            # A live source has no session to read from, and only segments in view are kept: it may run for ever.
            self._known = {int(row["id"]): self._known.get(int(row["id"]), _features(row)) for row in rows}
        # A session that is being moved cannot be read, and its segments would stay unknown.
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
        """Return how far a segment is from its origin; None if the origin is not known."""
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
