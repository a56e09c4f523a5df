"""Clips to open: a short one, another, and one that is long enough to be stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.clips import moving_square, write_video


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    return write_video(tmp_path / "clip.mp4", moving_square(6))


@pytest.fixture
def other(tmp_path: Path) -> Path:
    return write_video(tmp_path / "other.mp4", moving_square(4))


@pytest.fixture
def long(tmp_path: Path) -> Path:
    return write_video(tmp_path / "long.mp4", moving_square(16))
