"""Births of the segments that a run begins with, where they were born in another one."""

from __future__ import annotations

import math

from scstream import Event
from scstream.sampler.genealogy import Kind
from scstream_app.pipeline.frame_result import FrameResult


def inherited_births(result: FrameResult) -> list[Event]:
    """Births of the segments that a first frame has from before: here their lives begin."""
    born = {event.ids[-1] for event in result.events if event.kind in (Kind.BIRTH, Kind.SPLIT)}
    return [
        Event(Kind.BIRTH, float(result.index), 0, (int(row["id"]),), math.nan, (float(row["pixels"]),))
        for row in result.statistics
        if int(row["id"]) not in born
    ]
