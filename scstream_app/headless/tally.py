"""What there is to say about a run, and who hears of it."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from scstream_app.errors import ExportError
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.pipeline.run import Notice

if TYPE_CHECKING:
    from scstream import Preview, VideoSegmenter

#: Frames of which the rate shown is that of the moment.
_RECENT = 30


@dataclass(frozen=True, slots=True)
class Listener:
    """Who hears of what, and how a job is stopped."""

    cancel: threading.Event = field(default_factory=threading.Event)
    on_preview: Callable[[Preview], None] | None = None
    on_notice: Callable[[Notice], None] | None = None
    on_repeated: Callable[[int], None] | None = None
    on_failure: Callable[[ExportError], None] | None = None


@dataclass(slots=True)
class Tally:
    """What there is to say about a run, gathered frame by frame.

    The first frame has to settle and is timed on its own (``init_seconds``, None where a run goes on from an earlier
    one); rates are those of the others. ``failures`` are those of formats that could not be written to the end.
    """

    width: int
    height: int
    fresh: bool = True
    init_seconds: float | None = None
    segments_last: int = 0
    stages: dict[str, array[float]] = field(default_factory=dict)
    whole: array[float] = field(default_factory=lambda: array("d"))
    notices: list[Notice] = field(default_factory=list)
    failures: list[ExportError] = field(default_factory=list)
    _begin: float = field(default_factory=perf_counter)

    @property
    def frames(self) -> int:
        """Frames done."""
        return len(self.whole)

    @property
    def rate(self) -> float | None:
        """Frames a second of late; None while there is only the first."""
        recent = self.whole[max(1, self.frames - _RECENT) :]
        return 1000.0 * len(recent) / sum(recent) if recent else None

    def add(self, result: FrameResult) -> None:
        """Count a frame that has just been finished, from reading to writing."""
        now = perf_counter()
        self.whole.append(1000.0 * (now - self._begin))
        self._begin = now
        for stage, milliseconds in result.milliseconds.items():
            self.stages.setdefault(stage, array("d")).append(milliseconds)
        self.segments_last = len(result.statistics)
        if self.fresh and self.frames == 1:
            self.init_seconds = result.milliseconds.get("engine", 0.0) / 1000.0

    def report(self, segmenter: VideoSegmenter) -> dict[str, Any]:
        """The run in numbers, as `scstream segment --json` prints them; None for what one frame cannot tell."""
        whole = np.array(self.whole[1:])
        stages = {stage: np.array(times[1:]) for stage, times in self.stages.items()}
        several = len(whole) > 0
        engine = float(stages["engine"].sum()) if several else 0.0
        return {
            "frames": self.frames,
            "width": self.width,
            "height": self.height,
            "ms_per_frame_median": _rounded(np.median(whole)) if several else None,
            "ms_per_frame_p95": _rounded(np.percentile(whole, 95)) if several else None,
            **{
                f"ms_{stage}_median": _rounded(np.median(times)) if several else None for stage, times in stages.items()
            },
            "share_not_engine": _rounded(1.0 - engine / whole.sum()) if several else None,
            "fps": _rounded(1000.0 / whole.mean()) if several else None,
            "segments_last": self.segments_last,
            "segments_ever": segmenter.model_.genealogy_.n_ids,
            "init_seconds": None if self.init_seconds is None else _rounded(self.init_seconds),
            "seed": segmenter.seed or 0,
            "threads": segmenter.parameters.n_threads,
            "notices": [{"kind": n.kind, "frame": n.frame, "text": n.text} for n in self.notices],
            "failures": [str(failure) for failure in self.failures],
        }


def _rounded(value: float) -> float:
    return round(float(value), 3)
