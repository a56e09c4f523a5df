"""Scene cut detection: cuts are found, and nothing else is taken for a cut."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from helpers.clips import moving_square
from helpers.paths import SAMPLES
from scstream_app.pipeline import scene_cuts
from scstream_app.pipeline.run import segment_frames
from scstream_app.settings import Settings
from scstream_app.sources import open_source


def test_distance_depends_on_the_colours_only() -> None:
    frame = moving_square(1)[0]
    assert scene_cuts.distance(scene_cuts.histogram(frame), scene_cuts.histogram(frame[::-1, ::-1])) == 0.0
    half = frame.copy()
    half[:24] = 255
    assert scene_cuts.distance(scene_cuts.histogram(frame), scene_cuts.histogram(half)) == pytest.approx(0.5, abs=0.1)


def test_histograms_of_large_and_tiny_pictures() -> None:
    large = np.zeros((1080, 1920, 3), np.uint8)
    large[:, 960:] = 255
    shares = scene_cuts.histogram(large)
    assert shares.sum() == pytest.approx(1.0)
    assert shares[[0, -1]] == pytest.approx([0.5, 0.5], abs=0.01)
    assert scene_cuts.histogram(np.full((1, 1, 3), 255, np.uint8))[-1] == 1.0


@pytest.mark.parametrize(("clip", "first", "cuts"), [("cut", 30, [40]), ("lighting", 20, []), ("crossing", 0, [])])
def test_the_cuts_of_the_samples(clip: str, first: int, cuts: list[int]) -> None:
    settings = Settings(scale=0.5, max_init_sweeps=20)
    with open_source(str(SAMPLES / f"{clip}.mp4")) as source:
        found = [r.index for r in segment_frames(source, settings.segmenter(), start=first, stop=first + 20) if r.cut]
    assert found == cuts


def test_a_trial_is_of_the_bare_model() -> None:
    first, second = moving_square(2)
    bare = Settings(max_init_sweeps=20, smoothing=0.0, steadiness=0.0).segmenter()
    before = bare.segment(first)
    steady = bare.copy().set_params(smoothing=10.0, steadiness=2.0)
    other = np.ascontiguousarray(255 - second[:, ::-1])
    for frame, same_scene in ((second, True), (other, False)):
        churns = [scene_cuts.churn(segmenter, before, frame, 1.0, lambda _: None) for segmenter in (bare, steady)]
        assert churns[0] == churns[1]
        assert (churns[0] < scene_cuts.CHURN) == same_scene
    assert (steady.smoothing, steady.steadiness) == (10.0, 2.0)
    np.testing.assert_array_equal(steady.ids_, before)


def test_missing_frames_are_no_cut() -> None:
    first, second = moving_square(2)
    steady = Settings(max_init_sweeps=20, steadiness=1.0).segmenter()
    before = steady.segment(first, 0.0)
    # So many frames are missing that the bare model would have forgotten the past; the steady one has not.
    assert steady.copy().set_params(steadiness=0.0).has_faded(5.0)
    assert not steady.has_faded(5.0)
    assert scene_cuts.churn(steady, before, second, 5.0, lambda _: None) < scene_cuts.CHURN


def test_slowly_changing_light_is_no_candidate() -> None:
    with open_source(str(SAMPLES / "lighting.mp4")) as source:
        colours = [scene_cuts.histogram(frame.rgb) for frame in source.frames()]
    steps = [scene_cuts.distance(a, b) for a, b in pairwise(colours)]
    assert max(steps) < scene_cuts.CANDIDATE
    # Over the whole clip the colours change as much as at a cut.
    assert scene_cuts.distance(colours[0], colours[-1]) > scene_cuts.CANDIDATE
