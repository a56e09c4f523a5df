"""Choose the processing size at which the engine keeps up with a live source."""

from __future__ import annotations

from collections import deque
from statistics import median

#: Processing sizes to choose from, the largest first.
LADDER = (1.0, 0.75, 0.5, 0.35, 0.25)

# Share of the target's frame interval that the engine may use: drawing, recording and the window need the rest.
_ENGINE_SHARE = 0.6
# Share of the source's frame interval that the engine may use. It is larger, because a frame of a slower source is late
# only if the next one arrives before it is done.
_SOURCE_SHARE = 0.75
# A larger size is tried only if its expected time is at most this share of the budget.
_UPGRADE_MARGIN = 0.8
# Number of frames that decide on a smaller size, and on a larger one (at first, at most).
_QUICK, _PATIENT, _MOST_PATIENT = 9, 45, 1440
# A smaller size has helped if a frame takes at most this share of the previous time.
_HELPED = 0.85
# Frames ignored after a change: they were already in the pipeline, or include the cost of the change.
_IGNORED_FRAMES = 3
# A longer time between two frames of the source, in seconds, is a pause or a stall: it says nothing about its rate.
_GAP = 1.0


class AdaptiveScale:
    """Chooses the processing size at which the engine holds a target frame rate, or that of a slower source.

    The time per frame is assumed to be proportional to the number of pixels. The size decreases after a few slow
    frames, if the source has dropped frames meanwhile because newer ones arrived, and increases only after many fast
    ones. A size that turns out too large is tried again after longer and longer intervals, so that the size does not
    oscillate. If a smaller size has not helped, no smaller one is tried: then the pixels are not the bottleneck.

    Parameters
    ----------
    target : float
        Target rate in frames per second.
    scale : float
        Initial processing size.

    Examples
    --------
    A camera at 50 frames per second, of which every other one is dropped:

    >>> pace = AdaptiveScale(target=25.0)
    >>> [scale for n in range(20) if (scale := pace.note(40.0, time=0.04 * n, dropped=n))]
    [0.75]
    >>> pace.scale
    0.75
    """

    def __init__(self, target: float, scale: float = 1.0) -> None:
        self.target, self.scale = target, scale
        self._times: deque[float] = deque(maxlen=_PATIENT)
        # Time of each frame, and number of frames dropped until then.
        self._arrivals: deque[tuple[float, int]] = deque(maxlen=_PATIENT)
        self._quick = 0
        self._ignored = 0
        self._tried: float | None = None
        self._before: float | None = None
        self._patience = _PATIENT

    @property
    def budget(self) -> float:
        """Time in milliseconds that the engine may take per frame."""
        return 1000.0 * max(_ENGINE_SHARE / self.target, _SOURCE_SHARE * self._source_interval())

    def _source_interval(self) -> float:
        """Mean time in seconds between two frames of the source, dropped ones included; 0 if it is unknown."""
        if len(self._arrivals) < _QUICK:
            return 0.0
        (first, dropped_first), (last, dropped_last) = self._arrivals[0], self._arrivals[-1]
        return (last - first) / (len(self._arrivals) - 1 + dropped_last - dropped_first)

    def note(self, milliseconds: float, time: float, dropped: int) -> float | None:
        """Record a frame; returns the new size, or None to keep the current one.

        Parameters
        ----------
        milliseconds : float
            The engine's time for the frame.
        time : float
            The source's time of the frame, in seconds.
        dropped : int
            Number of frames that the source has dropped so far.
        """
        self._note_arrival(time, dropped)
        if self._ignored:
            self._ignored -= 1
            return None
        self._times.append(milliseconds)
        typical = median(list(self._times)[-_QUICK:])
        if len(self._times) >= _QUICK and typical > self.budget and self._is_late():
            return self._decrease(typical)
        larger = min((scale for scale in LADDER if scale > self.scale), default=None)
        fits = larger is not None and self._expected(typical, larger) <= _UPGRADE_MARGIN * self.budget
        self._quick = self._quick + 1 if fits else 0
        if larger is not None and self._quick >= self._patience:
            self._tried, self._before = larger, None
            return self._change_scale(larger)
        if len(self._times) == _PATIENT:
            # The engine keeps up with this size.
            self._before = None
            if self._tried == self.scale:
                self._tried, self._patience = None, _PATIENT
        return None

    def _note_arrival(self, time: float, dropped: int) -> None:
        if self._arrivals:
            before, dropped_before = self._arrivals[-1]
            if not 0.0 < time - before < _GAP * (1 + dropped - dropped_before):
                self._arrivals.clear()
        self._arrivals.append((time, dropped))

    def _is_late(self) -> bool:
        """Whether frames were dropped lately, since newer ones arrived before the engine was done."""
        recent = list(self._arrivals)[-_QUICK:]
        return recent[-1][1] > recent[0][1]

    def _decrease(self, typical: float) -> float | None:
        smaller = [scale for scale in LADDER if scale < self.scale]
        useless = self._before is not None and typical > _HELPED * self._before
        if not smaller or useless:
            return None
        self._before = typical
        if self._tried == self.scale:
            self._patience = min(2 * self._patience, _MOST_PATIENT)
        fitting = (scale for scale in smaller if self._expected(typical, scale) <= self.budget)
        return self._change_scale(next(fitting, smaller[-1]))

    def _change_scale(self, scale: float) -> float:
        self.scale, self._ignored, self._quick = scale, _IGNORED_FRAMES, 0
        self._times.clear()
        return scale

    def _expected(self, milliseconds: float, scale: float) -> float:
        return milliseconds * (scale / self.scale) ** 2
