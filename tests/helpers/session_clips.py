"""Sessions for tests: a tiny clip with a scene cut, and how it is recorded."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from helpers.clips import moving_square
from helpers.fake_source import FakeSource, Picture
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.pipeline.run import segment_frames
from scstream_app.session import Session, write_run
from scstream_app.settings import Settings

QUICK = Settings(max_init_sweeps=10, threads=1)


def clip(count: int = 12, cut: int | None = 7) -> list[Picture]:
    """Frames of a moving square; from ``cut`` on of a quite different picture."""
    frames = moving_square(count)
    if cut is None:
        return frames
    return frames[:cut] + [np.ascontiguousarray(255 - frame[:, ::-1]) for frame in frames[cut:]]


def recording(
    path: Path, frames: list[Picture], settings: Settings = QUICK, masks: Picture | None = None, **options: Any
) -> Generator[tuple[Session, FrameResult]]:
    """Record the frames; yields after each one is written. With ``masks``, the session is like an older one."""
    source, segmenter = FakeSource(frames), settings.segmenter()
    with Session.create(path, source, settings, **options) as session:
        if masks is not None:
            cv2.imwrite(str(path / "masks.png"), masks)
        results = segment_frames(
            source,
            segmenter,
            start=session.manifest.start,
            stop=session.manifest.stop,
            masks=session.masks,
            scene_cuts=settings.scene_cuts,
        )
        for result in write_run(session, results, segmenter):
            yield session, result


def recorded(path: Path, frames: list[Picture], settings: Settings = QUICK, **options: Any) -> list[FrameResult]:
    """A whole session at ``path``, and what went into it."""
    return [result for _, result in recording(path, frames, settings, **options)]


def volume(session: Session) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Ids of all frames."""
    return np.stack([session.ids(int(index)) for index in session.frames])
