"""Numbers and times of the frames in a volume, whose first axis counts the frames written."""

from __future__ import annotations

import math
from typing import Any

from scstream_app.pipeline.frame_result import FrameResult


class FrameTimes:
    """Record the frames of a volume as they are written.

    Parameters
    ----------
    rate : float
        Frames per second of the source; used where the frames themselves have no times.

    Attributes
    ----------
    frames : list of int
        Number of each frame in the source.
    times : list of float
        Presentation time of each frame in seconds.
    """

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.frames: list[int] = []
        self.times: list[float] = []

    def add(self, result: FrameResult) -> None:
        """Append a frame."""
        self.frames.append(result.index)
        self.times.append(result.time)

    @property
    def interval(self) -> float:
        """Mean time in seconds from one frame to the next."""
        if len(self.times) > 1:
            mean = (self.times[-1] - self.times[0]) / (len(self.times) - 1)
            # To the nanosecond: 0.08, not 0.07999999999999999.
            if math.isfinite(mean) and round(mean, 9) > 0.0:
                return round(mean, 9)
        return 1.0 / self.rate

    @property
    def begin(self) -> float:
        """Time of the first frame in seconds."""
        return self.times[0] if self.times and math.isfinite(self.times[0]) else 0.0

    def attributes(self) -> dict[str, Any]:
        """The record as metadata of a volume; times that are unknown are null."""
        times = [time if math.isfinite(time) else None for time in self.times]
        return {"label": "id + 1", "rate": self.rate, "frames": self.frames, "times": times}
