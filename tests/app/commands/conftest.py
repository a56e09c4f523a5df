"""A clip, and an engine that is warm already."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.clips import moving_square, write_video


@pytest.fixture(autouse=True)
def _ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine is warm in tests: nothing is gained by warming it up for each."""
    monkeypatch.setattr("scstream.warm_up", lambda on_progress: None)


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    return write_video(tmp_path / "clip.mp4", moving_square(6))
