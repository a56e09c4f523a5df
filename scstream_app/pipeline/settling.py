"""Progress of a first frame, which is segmented from coarse to fine."""

from __future__ import annotations

from math import log

#: Each resolution has four times the pixels of the one before in x and in y.
_STEP = 4
#: Time of a sweep relative to one at the next coarser resolution, at 480p to 2160p.
_SLOWER = 4.0
#: Maximum number of sweeps at each resolution but the coarsest.
_REFINING_SWEEPS = 150
#: Sweeps between two previews.
_BETWEEN = 10
#: Share of the latest measurement in the time of a sweep.
_RECENT = 0.5


class SettlingProgress:
    """Estimates how far a first frame is, from its previews.

    The number of sweeps is known only as a maximum: at every resolution the segments may settle earlier. So the
    fraction never exceeds the true one by more than a resolution's share, and the time left is the longest one.

    Parameters
    ----------
    max_sweeps : int
        Maximum number of sweeps at the coarsest resolution.
    now : float
        Time of the start, in seconds.
    """

    def __init__(self, max_sweeps: int, now: float) -> None:
        self._most = max_sweeps
        self._limits: list[int] = []
        self._stage = self._sweep = 0
        self._fraction = 0.0
        self._last = now
        self._per_sweep: float | None = None

    def note(self, stride: int, sweep: int, converged: bool, now: float) -> None:
        """Take in a preview: its resolution, the number of its sweep, and whether it is the last at its resolution."""
        stage = self._stage_of(stride)
        done = sweep - self._sweep if stage == self._stage else sweep
        if done > 0:
            took = (now - self._last) / done
            known = self._per_sweep if stage == self._stage else None
            self._per_sweep = took if known is None else _RECENT * took + (1.0 - _RECENT) * known
        self._stage, self._sweep, self._last = stage, self._limits[stage] if converged else sweep, now
        self._fraction = max(self._fraction, self._share(self._sweep))

    def fraction(self, now: float) -> float:
        """Part of the work that is done, in [0, 1]; grows between previews at the speed measured last."""
        if self._per_sweep is None:
            return self._fraction
        since = min((now - self._last) / max(self._per_sweep, 1e-9), _BETWEEN)
        # It does not go back if the next preview is late.
        self._fraction = max(self._fraction, self._share(min(self._sweep + since, self._limits[self._stage])))
        return self._fraction

    def seconds_left(self, now: float) -> float | None:
        """Longest time until the frame is done; None before the finest resolution."""
        if self._per_sweep is None or self._stage + 1 < len(self._limits):
            return None
        left = (self._limits[self._stage] - self._sweep) * self._per_sweep
        return max(0.0, left - (now - self._last))

    def _stage_of(self, stride: int) -> int:
        """Number of a resolution; the first preview tells how many there are."""
        finer = round(log(stride, _STEP))
        if not self._limits:
            self._limits = [self._most, *[min(_REFINING_SWEEPS, self._most)] * finer]
        return max(0, len(self._limits) - 1 - finer)

    def _share(self, sweep: float) -> float:
        work = [limit * _SLOWER**stage for stage, limit in enumerate(self._limits)]
        return (sum(work[: self._stage]) + sweep * _SLOWER**self._stage) / sum(work)
