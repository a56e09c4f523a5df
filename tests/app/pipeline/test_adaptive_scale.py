"""AdaptiveScale: the processing size follows the speed of the engine and does not oscillate."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count

import numpy as np
import pytest

from scstream_app.pipeline.adaptive_scale import LADDER, AdaptiveScale


def by_pixels(full: float, fixed: float = 0.0) -> Callable[[float], float]:
    """Time per frame by scale: ``fixed`` milliseconds plus ``full`` milliseconds times the share of pixels."""
    return lambda scale: fixed + full * scale**2


class LiveSource:
    """Frames that arrive at given times; while the engine is busy, a newer frame replaces the one that waits."""

    def __init__(self, arrivals: Iterable[float]) -> None:
        self._arrivals = iter(arrivals)
        self._next = next(self._arrivals)
        self.now, self.dropped = 0.0, 0

    @classmethod
    def even(cls, rate: float) -> LiveSource:
        return cls(n / rate for n in count())

    def read(self) -> float:
        """Wait for a frame; its time of arrival."""
        time, self._next = self._next, next(self._arrivals)
        while self._next <= self.now:
            time, self._next = self._next, next(self._arrivals)
            self.dropped += 1
        self.now = max(self.now, time)
        return time


def driven(
    pace: AdaptiveScale, frames: int, engine: Callable[[float], float], source: LiveSource | None = None
) -> list[float]:
    """The sizes that were chosen; by default the source is faster than any engine."""
    source = source or LiveSource.even(200.0)
    changes = []
    for _ in range(frames):
        time, milliseconds = source.read(), engine(pace.scale)
        source.now += milliseconds / 1000.0
        wanted = pace.note(milliseconds, time, source.dropped)
        if wanted is not None:
            changes.append(wanted)
    return changes


def test_a_fast_engine_keeps_its_size() -> None:
    assert driven(AdaptiveScale(25.0), 500, by_pixels(23.0)) == []


@pytest.mark.parametrize(("full", "size"), [(40.0, 0.75), (80.0, 0.5), (150.0, 0.35), (350.0, 0.25)])
def test_the_largest_size_that_holds_the_rate_is_found_at_once(full: float, size: float) -> None:
    pace = AdaptiveScale(25.0)
    assert driven(pace, 40, by_pixels(full)) == [size]
    assert by_pixels(full)(pace.scale) <= pace.budget


def test_the_size_decreases_within_ten_slow_frames() -> None:
    pace = AdaptiveScale(25.0)
    driven(pace, 100, by_pixels(15.0))
    assert driven(pace, 10, by_pixels(80.0)) == [0.5]


def test_single_slow_frames_change_nothing() -> None:
    pace = AdaptiveScale(25.0)
    rng = np.random.default_rng(0)
    assert driven(pace, 400, lambda scale: 300.0 if rng.random() < 0.1 else 20.0) == []


def test_the_size_increases_again_when_the_engine_is_fast() -> None:
    pace = AdaptiveScale(25.0)
    assert driven(pace, 20, by_pixels(450.0)) == [0.25]
    assert driven(pace, 1000, by_pixels(10.0)) == [0.35, 0.5, 0.75, 1.0]


def test_a_scene_at_the_limit_does_not_oscillate() -> None:
    pace = AdaptiveScale(25.0)
    # Larger sizes take longer than expected from their pixels: every attempt is reverted.
    changes = driven(pace, 5000, lambda scale: 40.0 if scale > 0.75 else 10.0)
    tries = changes.count(1.0)
    assert 1 <= tries <= 7
    assert pace.scale == 0.75


def test_a_size_that_worked_is_tried_again_soon() -> None:
    pace = AdaptiveScale(25.0, scale=0.75)
    driven(pace, 400, lambda scale: 40.0 if scale > 0.75 else 10.0)
    driven(pace, 3000, by_pixels(15.0))
    assert pace.scale == 1.0
    driven(pace, 20, by_pixels(40.0))
    assert pace.scale == 0.75
    assert driven(pace, 60, by_pixels(15.0)) == [1.0]


def test_smaller_sizes_that_do_not_help_are_not_tried() -> None:
    assert driven(AdaptiveScale(30.0), 300, lambda scale: 60.0) == [0.5]


def test_only_sizes_of_the_ladder_are_chosen() -> None:
    pace = AdaptiveScale(30.0, scale=0.6)
    changes = driven(pace, 500, by_pixels(5000.0, 1.0))
    assert set(changes) <= set(LADDER)
    assert pace.scale == LADDER[-1]


def test_frames_right_after_a_change_are_ignored() -> None:
    pace = AdaptiveScale(25.0)
    assert driven(pace, 9, by_pixels(40.0)) == [0.75]
    assert [pace.note(500.0, 60.0 + n, n) for n in range(3)] == [None] * 3
    assert driven(pace, 30, by_pixels(40.0)) == []


@pytest.mark.parametrize("target", [15.0, 20.0, 25.0, 30.0])
def test_a_slow_source_that_the_engine_keeps_up_with_is_never_reduced(target: float) -> None:
    assert driven(AdaptiveScale(target), 500, by_pixels(60.0), LiveSource.even(10.0)) == []


def test_jitter_of_a_slow_source_changes_nothing() -> None:
    rng = np.random.default_rng(0)
    # Frames often arrive nearly together, so some are dropped although the engine is fast enough.
    arrivals = np.sort(np.arange(3000) / 10.0 + rng.uniform(0.0, 0.4, 3000))
    source = LiveSource(arrivals.tolist())
    assert driven(AdaptiveScale(20.0), 500, by_pixels(60.0), source) == []
    assert source.dropped > 20


def test_a_slow_source_gets_the_largest_size_that_it_needs() -> None:
    # 75 of 100 ms for the engine: 120 ms at full size are too much, 68 ms at three quarters are not.
    assert driven(AdaptiveScale(30.0), 500, by_pixels(120.0), LiveSource.even(10.0)) == [0.75]


def test_slow_frames_that_no_newer_one_waits_for_are_not_late() -> None:
    assert driven(AdaptiveScale(20.0), 500, by_pixels(95.0), LiveSource.even(10.0)) == []


def test_after_a_stall_a_fast_source_counts_as_fast() -> None:
    pace = AdaptiveScale(20.0)
    stalled = [n / 30.0 + (5.0 if n >= 60 else 0.0) for n in range(3000)]
    assert driven(pace, 60, by_pixels(20.0), LiveSource(stalled)) == []
    assert driven(pace, 20, by_pixels(45.0), LiveSource(stalled)) == [0.75]
