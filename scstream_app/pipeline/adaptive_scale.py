"""Holding a rate: which processing size an engine can keep up with."""

from __future__ import annotations

from collections import deque
from statistics import median

#: Processing sizes to choose from, the largest first.
LADDER = (1.0, 0.75, 0.5, 0.35, 0.25)

# Share of a frame's time that the engine may take: drawing, recording and the window want as much again, and where they
# all have to wait for each other, pictures are late.
_SHARE = 0.6
# A larger size must be expected to fit so well before it is tried.
_ROOM = 0.8
# Frames by which slowness is judged, and those by which there is time to spare.
_QUICK, _PATIENT, _MOST_PATIENT = 9, 45, 1440
# A smaller size has helped if it takes at most this share of the time.
_HELPED = 0.85
# Frames after a change that were still on their way, or pay for it.
_BLIND = 3


class AdaptiveScale:
    """Says when the engine should work on a smaller or a larger picture to hold a target rate.

    The time a frame takes is expected to grow with its pixels. Slowness is acted on within a few frames; a larger size
    is tried only after many quick ones. A size that turns out too large is tried again later and later, so that a scene
    at the limit does not flip to and fro. Where a smaller picture has not helped, a yet smaller one is not tried: then
    it is not the pixels that take the time.

    Parameters
    ----------
    target : float
        Frames a second to hold.
    scale : float
        The processing size to begin with.

    Examples
    --------
    >>> pace = AdaptiveScale(target=25.0)
    >>> [scale for _ in range(20) if (scale := pace.note(40.0))]
    [0.75]
    >>> pace.scale
    0.75
    """

    def __init__(self, target: float, scale: float = 1.0) -> None:
        self.target, self.scale = target, scale
        self._times: deque[float] = deque(maxlen=_PATIENT)
        self._quick = 0
        self._blind = 0
        self._tried: float | None = None
        self._before: float | None = None
        self._patience = _PATIENT

    @property
    def budget(self) -> float:
        """Milliseconds that the engine may take for a frame."""
        return 1000.0 * _SHARE / self.target

    def note(self, milliseconds: float) -> float | None:
        """Take in what the engine took for a frame; the size to go to now, or None to stay."""
        if self._blind:
            self._blind -= 1
            return None
        self._times.append(milliseconds)
        typical = median(list(self._times)[-_QUICK:])
        if len(self._times) >= _QUICK and typical > self.budget:
            return self._go_down(typical)
        larger = min((scale for scale in LADDER if scale > self.scale), default=None)
        fits = larger is not None and self._expected(typical, larger) <= _ROOM * self.budget
        self._quick = self._quick + 1 if fits else 0
        if larger is not None and self._quick >= self._patience:
            self._tried, self._before = larger, None
            return self._go(larger)
        if len(self._times) == _PATIENT:
            # This size has proved itself.
            self._before = None
            if self._tried == self.scale:
                self._tried, self._patience = None, _PATIENT
        return None

    def _go_down(self, typical: float) -> float | None:
        smaller = [scale for scale in LADDER if scale < self.scale]
        useless = self._before is not None and typical > _HELPED * self._before
        if not smaller or useless:
            return None
        self._before = typical
        if self._tried == self.scale:
            self._patience = min(2 * self._patience, _MOST_PATIENT)
        fitting = (scale for scale in smaller if self._expected(typical, scale) <= self.budget)
        return self._go(next(fitting, smaller[-1]))

    def _go(self, scale: float) -> float:
        self.scale, self._blind, self._quick = scale, _BLIND, 0
        self._times.clear()
        return scale

    def _expected(self, milliseconds: float, scale: float) -> float:
        return milliseconds * (scale / self.scale) ** 2
