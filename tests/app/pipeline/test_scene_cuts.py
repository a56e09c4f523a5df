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


def test_slowly_changing_light_is_no_candidate() -> None:
    with open_source(str(SAMPLES / "lighting.mp4")) as source:
        colours = [scene_cuts.histogram(frame.rgb) for frame in source.frames()]
    steps = [scene_cuts.distance(a, b) for a, b in pairwise(colours)]
    assert max(steps) < scene_cuts.CANDIDATE
    # Over the whole clip the colours change as much as at a cut.
    assert scene_cuts.distance(colours[0], colours[-1]) > scene_cuts.CANDIDATE
