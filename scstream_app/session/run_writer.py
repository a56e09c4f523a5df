"""Write the results of a run into a session: every frame, and regular snapshots of the model."""

from __future__ import annotations

import math
import threading
from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from scstream import Event
from scstream.sampler.genealogy import Kind
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.session.session import Session

if TYPE_CHECKING:
    from scstream import VideoSegmenter


def write_run(
    session: Session,
    results: Generator[FrameResult],
    segmenter: VideoSegmenter,
    cancel: threading.Event | None = None,
) -> Generator[FrameResult]:
    """Append each result to the session, then yield it.

    ``segmenter`` is the one that produces the results. The session saves a snapshot of it after the first frame of
    every scene, every ``snapshot_every`` frames, and when the results end or the caller closes this generator.
    The session is marked as complete if the results end without cancellation. If the results raise (as `segment_frames`
    does for a source that ends early), the session stays incomplete and can be resumed.
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
                ensure_snapshot(session, segmenter)
                raise
    # Not if the results raise: the segmenter may then be halfway through the next frame.
    if appended:
        ensure_snapshot(session, segmenter)
    if len(session) and not (cancel is not None and cancel.is_set()):
        session.finish()


def with_inherited_births(results: Generator[FrameResult]) -> Generator[FrameResult]:
    """Yield the results of a run, with `inherited_births` added to the events of its first frame."""
    with closing(results):
        for first in results:
            yield replace(first, events=(*inherited_births(first), *first.events))
            break
        yield from results


def inherited_births(result: FrameResult) -> list[Event]:
    """Birth events for the segments of a run's first frame that its model brings from another clip.

    The model reports no birth for them because they were born in the other clip; in this run they begin here.
    """
    born = {event.ids[-1] for event in result.events if event.kind in (Kind.BIRTH, Kind.SPLIT)}
    return [
        Event(Kind.BIRTH, float(result.index), 0, (int(row["id"]),), math.nan, (float(row["pixels"]),))
        for row in result.statistics
        if int(row["id"]) not in born
    ]


def ensure_snapshot(session: Session, segmenter: VideoSegmenter) -> None:
    """Save a snapshot of the segmenter after the session's last frame unless there is one already."""
    if session.latest_snapshot() != session.frames[-1]:
        session.snapshot(segmenter)
