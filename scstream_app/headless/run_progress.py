"""Progress of a run: counters and times per frame, and callbacks."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from scstream.sampler.genealogy import Kind
from scstream_app.errors import ExportError
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.pipeline.run import Notice
from scstream_app.sources import Source

if TYPE_CHECKING:
    from scstream import Event, Preview, VideoSegmenter

#: Number of recent frames that define the current rate.
_RECENT = 30


@dataclass(frozen=True, slots=True)
class RunCallbacks:
    """Callbacks of a job, and the event that cancels it."""

    cancel: threading.Event = field(default_factory=threading.Event)
    on_preview: Callable[[Preview], None] | None = None
    on_notice: Callable[[Notice], None] | None = None
    on_repeated: Callable[[int], None] | None = None
    on_failure: Callable[[ExportError], None] | None = None


@dataclass(slots=True)
class RunProgress:
    """Counters and times of a run, updated after every frame.

    The first frame needs more sweeps and is timed separately (``init_seconds``; None for a resumed run). Rates refer to
    the other frames. ``failures`` are the errors of formats that could not be completed.
    """

    width: int
    height: int
    fresh: bool = True
    init_seconds: float | None = None
    segments_last: int = 0
    stages: dict[str, array[float]] = field(default_factory=dict)
    frame_milliseconds: array[float] = field(default_factory=lambda: array("d"))
    notices: list[Notice] = field(default_factory=list)
    failures: list[ExportError] = field(default_factory=list)
    _objects: dict[str, list[tuple[int, int, float]]] = field(default_factory=dict)
    _ids: set[int] = field(default_factory=set)
    _frame_start: float = field(default_factory=perf_counter)

    @property
    def frames(self) -> int:
        """Number of frames processed."""
        return len(self.frame_milliseconds)

    @property
    def segments_ever(self) -> int:
        """Number of segments so far, including those that have ended."""
        return len(self._ids)

    @property
    def rate(self) -> float | None:
        """Current frames per second; None before the second frame."""
        recent = self.frame_milliseconds[max(1, self.frames - _RECENT) :]
        return 1000.0 * len(recent) / sum(recent) if recent else None

    def add(self, result: FrameResult, objects: Sequence[str] = ()) -> None:
        """Add a frame that was just read, segmented and written; ``objects`` are the names of its objects."""
        now = perf_counter()
        self.frame_milliseconds.append(1000.0 * (now - self._frame_start))
        self._frame_start = now
        for stage, milliseconds in result.milliseconds.items():
            self.stages.setdefault(stage, array("d")).append(milliseconds)
        self.segments_last = len(result.statistics)
        if result.objects is not None:
            rows = zip(objects, result.objects.areas, result.objects.confidences, strict=True)
            for name, area, confidence in rows:
                self._objects.setdefault(name, []).append((result.index, area, confidence))
        self.count_ids(result.events)
        if self.fresh and self.frames == 1:
            self.init_seconds = result.milliseconds.get("engine", 0.0) / 1000.0

    def count_ids(self, events: Iterable[Event]) -> None:
        """Count the segments that begin in these events."""
        self._ids.update(event.ids[-1] for event in events if event.kind in (Kind.BIRTH, Kind.SPLIT))

    def report(self, segmenter: VideoSegmenter) -> dict[str, Any]:
        """The figures that `scstream segment --json` prints; None for those that need more than one frame."""
        totals = np.array(self.frame_milliseconds[1:])
        # The first two are always there, also if there was no frame to measure.
        stages = {stage: np.array(self.stages.get(stage, ())[1:]) for stage in ("decode", "engine", *self.stages)}
        several = len(totals) > 0
        engine = float(stages["engine"].sum()) if several else 0.0
        return {
            "frames": self.frames,
            "width": self.width,
            "height": self.height,
            "ms_per_frame_median": _rounded(np.median(totals)) if several else None,
            "ms_per_frame_p95": _rounded(np.percentile(totals, 95)) if several else None,
            **{
                f"ms_{stage}_median": _rounded(np.median(times)) if len(times) else None
                for stage, times in stages.items()
            },
            "share_not_engine": _rounded(1.0 - engine / totals.sum()) if several else None,
            "fps": _rounded(1000.0 / totals.mean()) if several else None,
            "segments_last": self.segments_last,
            "segments_ever": self.segments_ever,
            "init_seconds": None if self.init_seconds is None else _rounded(self.init_seconds),
            "seed": segmenter.seed or 0,
            "threads": segmenter.parameters.n_threads,
            "objects": [
                {
                    "name": name,
                    "frames": [frame for frame, _, _ in rows],
                    "area": [area for _, area, _ in rows],
                    "confidence": [_rounded(confidence) for _, _, confidence in rows],
                }
                for name, rows in self._objects.items()
            ],
            "notices": [{"kind": n.kind, "frame": n.frame, "text": n.text} for n in self.notices],
            "failures": [str(failure) for failure in self.failures],
        }


def expected_frames(source: Source, start: int, stop: int | None) -> int | None:
    """Number of frames of a run; None if the source does not know its length."""
    ends = [end for end in (source.length, stop) if end is not None]
    return max(1, min(ends) - start) if ends else None


def _rounded(value: float) -> float:
    return round(float(value), 3)
