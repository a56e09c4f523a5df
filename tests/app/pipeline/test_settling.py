"""Tests of the progress of a first frame."""

from __future__ import annotations

import pytest

from helpers.clips import busy
from scstream import VideoSegmenter
from scstream_app.pipeline.settling import SettlingProgress

#: Seconds, stride and sweep of previews at 2160p, and whether the segments had settled.
PREVIEWS = [
    (0.3, 16, 10, False),
    (3.0, 16, 100, False),
    (6.0, 16, 197, True),
    (9.0, 4, 10, False),
    (18.0, 4, 120, True),
    (30.0, 1, 10, False),
    (42.0, 1, 20, False),
    (54.0, 1, 30, False),
]


def test_the_fraction_grows_with_every_preview_and_between_them() -> None:
    progress = SettlingProgress(200, 0.0)
    assert progress.fraction(0.2) == 0.0
    fractions = []
    for now, stride, sweep, converged in PREVIEWS:
        progress.note(stride, sweep, converged, now)
        fractions += [progress.fraction(now), progress.fraction(now + 1.0)]
    assert fractions == sorted(fractions)
    assert len(set(fractions)) > len(PREVIEWS)
    assert 0.3 < fractions[-1] < 0.5


def test_the_time_left_is_the_longest_one_and_known_at_full_resolution_only() -> None:
    progress = SettlingProgress(200, 0.0)
    for now, stride, sweep, converged in PREVIEWS:
        progress.note(stride, sweep, converged, now)
        assert (progress.seconds_left(now) is None) == (stride > 1)
    assert progress.seconds_left(54.0) == pytest.approx(120 * 1.2)
    assert progress.seconds_left(60.0) == pytest.approx(120 * 1.2 - 6.0)
    assert progress.seconds_left(1000.0) == 0.0


def test_a_preview_that_is_late_does_not_set_it_back() -> None:
    progress = SettlingProgress(200, 0.0)
    progress.note(4, 10, False, 1.0)
    between = progress.fraction(2.0)
    progress.note(4, 11, False, 60.0)
    assert progress.fraction(60.0) >= between


def test_a_second_start_does_not_go_back() -> None:
    progress = SettlingProgress(200, 0.0)
    progress.note(4, 200, False, 10.0)
    before = progress.fraction(10.0)
    progress.note(4, 10, False, 12.0)
    assert progress.fraction(12.0) >= before


def test_previews_of_the_engine_reach_the_end() -> None:
    fractions: list[float] = []
    progress = SettlingProgress(60, 0.0)

    def note(preview: object) -> None:
        state = preview.progress
        progress.note(preview.stride, state.sweep, state.converged, float(len(fractions) + 1))
        fractions.append(progress.fraction(float(len(fractions) + 1)))

    VideoSegmenter(threads=1, seed=1, max_init_sweeps=60).segment(busy(1, 256, 320)[0], on_preview=note)
    assert fractions == sorted(fractions)
    assert len(set(fractions)) >= 5
    assert fractions[-1] == pytest.approx(1.0)
