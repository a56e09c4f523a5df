"""Settings of a model file, with which a session starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.clips import moving_square
from scstream import VideoSegmenter, persistence
from scstream_app.session import model_transfer
from scstream_app.settings import Settings


@pytest.fixture
def model(tmp_path: Path) -> Path:
    segmenter = VideoSegmenter(max_init_sweeps=10, smoothing=0.5, steadiness=1.5)
    segmenter.segment(moving_square(1)[0])
    segmenter.save(tmp_path / "model.npz")
    return tmp_path / "model.npz"


def test_settings_are_those_of_the_model(model: Path) -> None:
    settings = model_transfer.settings_of(model_transfer.load(model), Settings(threads=2, scene_cuts=False))
    assert settings == Settings(max_init_sweeps=10, smoothing=0.5, steadiness=1.5, threads=2, scene_cuts=False)


def test_a_model_from_before_smoothing_and_steadiness_goes_on_without(model: Path) -> None:
    meta, arrays = persistence.read(model)
    del meta["video"]["smoothing"], meta["video"]["steadiness"]
    persistence.write(model, meta, arrays)
    settings = model_transfer.settings_of(model_transfer.load(model), Settings())
    assert settings == Settings(max_init_sweeps=10, smoothing=0.0, steadiness=0.0)
