"""Choose the processing size at which the engine keeps up with a live source."""

from __future__ import annotations

from collections import deque
from statistics import median

#: Processing sizes to choose from, the largest first.
LADDER = (1.0, 0.75, 0.5, 0.35, 0.25)

# Share of the frame interval that the engine may use: drawing, recording and the window need the rest.
_ENGINE_SHARE = 0.6
# A larger size is tried only if its expected time is at most this share of the budget.
_UPGRADE_MARGIN = 0.8
# Number of frames that decide on a smaller size, and on a larger one (at first, at most).
_QUICK, _PATIENT, _MOST_PATIENT = 9, 45, 1440
# A smaller size has helped if a frame takes at most this share of the previous time.
_HELPED = 0.85
# Frames ignored after a change: they were already in the pipeline, or include the cost of the change.
_IGNORED_FRAMES = 3


class AdaptiveScale:
    """Chooses the processing size at which the engine holds a target frame rate.

    The time per frame is assumed to be proportional to the number of pixels. The size decreases after a few slow frames
    and increases only after many fast ones. A size that turns out too large is tried again after longer and longer
    intervals, so that the size does not oscillate. If a smaller size has not helped, no smaller one is tried: then
    the pixels are not the bottleneck.

    Parameters
    ----------
    target : float
        Target rate in frames per second.
    scale : float
        Initial processing size.

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
        self._ignored = 0
        self._tried: float | None = None
        self._before: float | None = None
        self._patience = _PATIENT

    @property
    def budget(self) -> float:
        """Time in milliseconds that the engine may take per frame."""
        return 1000.0 * _ENGINE_SHARE / self.target

    def note(self, milliseconds: float) -> float | None:
        """Record the engine's time for a frame; returns the new size, or None to keep the current one."""
        if self._ignored:
            self._ignored -= 1
            return None
        self._times.append(milliseconds)
        typical = median(list(self._times)[-_QUICK:])
        if len(self._times) >= _QUICK and typical > self.budget:
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
