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
_UNKNOWN = [math.nan] * len(_FEATURES)
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
        self._known: dict[int, list[float] | None] = {}
        self._of: RunSummary | None = None

    def learn(self, rows: npt.NDArray[np.void]) -> None:
        """Read the origins of the segments of a frame."""
        summary, session = self._document.summary, self._document.session
        if summary is not self._of:
            self._of, self._known = summary, {}
        if session is None:
            # A live source has no session to read from, and only segments in view are kept: it may run for ever.
            here = zip(rows["id"].tolist(), _features(rows).tolist(), strict=True)
            self._known = {id: self._known.get(id, features) for id, features in here}
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
        features = dict(zip(rows["id"].tolist(), _features(rows).tolist(), strict=True))
        for id in ids:
            self._known[id] = features.get(id)

    def drifts(self, rows: npt.NDArray[np.void]) -> list[Drift | None]:
        """Return how far segments are from their origins; None where the origin is not known."""
        origins = [self._known.get(id) for id in rows["id"].tolist()]
        known = np.array([_UNKNOWN if origin is None else origin for origin in origins])
        off = _features(rows) - known.reshape(len(rows), len(_FEATURES))
        pixels, colours = np.hypot(off[:, 0], off[:, 1]), np.sqrt((off[:, 2:] ** 2).sum(axis=1)) / _WHOLE
        facts = self._document.facts
        diagonal = math.hypot(facts.width, facts.height) if facts is not None else math.inf
        sizes = pixels / diagonal + colours
        values = zip(origins, pixels.tolist(), colours.tolist(), sizes.tolist(), strict=True)
        return [None if origin is None else Drift(*drift) for origin, *drift in values]


def _features(rows: npt.NDArray[np.void]) -> npt.NDArray[np.float64]:
    """Return the features of segments, one row each."""
    return np.stack([rows[name] for name in _FEATURES], axis=-1)
