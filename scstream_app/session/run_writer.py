"""Filling a session from a run: every frame as it comes, and now and then the model."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.session.inherited_births import inherited_births
from scstream_app.session.session import Session

if TYPE_CHECKING:
    from scstream import VideoSegmenter


def write_run(
    session: Session,
    results: Generator[FrameResult],
    segmenter: VideoSegmenter,
    cancel: threading.Event | None = None,
) -> Generator[FrameResult]:
    """Write results as they come, and hand them on.

    ``segmenter`` is the one that makes them: it is kept after the first frame of every scene, every so many frames,
    and when the results end or this generator is left. The session is finished if the results end uncancelled; results
    that fail, as those of `segment_frames` do for a source that ends before its time, leave it to be resumed.
    """
    appended = False
    with closing(results):
        for result in results:
            session.append(result)
            appended = True
            if session.snapshot_due:
                session.snapshot(segmenter)
            try:
                yield result
            except BaseException:
                keep(session, segmenter)
                raise
    # Not when the results fail: the segmenter is then somewhere in the next frame.
    if appended:
        keep(session, segmenter)
    if len(session) and not (cancel is not None and cancel.is_set()):
        session.finish()


def with_inherited_births(results: Generator[FrameResult]) -> Generator[FrameResult]:
    """Results from the start of a run on: segments that its model brought along begin to live on the first frame."""
    with closing(results):
        for first in results:
            yield replace(first, events=(*inherited_births(first), *first.events))
            break
        yield from results


def keep(session: Session, segmenter: VideoSegmenter) -> None:
    """Have a snapshot of the segmenter, which has just segmented the session's last frame."""
    if session.latest_snapshot() != session.frames[-1]:
        session.snapshot(segmenter)
