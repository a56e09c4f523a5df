"""Frames of any size with the detail of real ones: mosaics of several clips at their own resolution."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import cv2
import numpy as np
import numpy.typing as npt

from scstream_app.errors import SourceError
from scstream_app.samples import sample_clips
from scstream_app.sources import open_source

Picture = npt.NDArray[np.uint8]

#: Frames by which a clip that appears once more in a mosaic is ahead.
_AHEAD = 7
_FEWEST_FRAMES = 3


class Mosaics:
    """Frames of any size from the first frames of several clips.

    A frame that is larger than the clips is tiled with them, without enlarging: every tile shows another clip, or the
    same clip mirrored and at another time. A smaller frame is the first clip, reduced. Clips are played to and fro, so
    that there are no cuts.
    """

    def __init__(self, clips: Sequence[Sequence[Picture]]) -> None:
        self.height = min(clip[0].shape[0] for clip in clips)
        self.width = min(clip[0].shape[1] for clip in clips)
        self._clips = [[_centre(frame, self.height, self.width) for frame in clip] for clip in clips]

    @classmethod
    def open(cls, sources: Sequence[str], n_frames: int) -> Mosaics:
        """Read the first frames of these sources, or of the sample clips if there are none."""
        names = list(sources) or [str(sample.path) for sample in sample_clips()]
        if not names:
            raise SourceError("Cannot find the sample clips. Name one or more videos.")
        clips = []
        for name in names:
            with open_source(name) as source:
                frames = [frame.rgb for frame in islice(source.frames(), n_frames)]
            if len(frames) < _FEWEST_FRAMES:
                raise SourceError(
                    f"Cannot measure on '{name}': it has {len(frames)} frames, at least {_FEWEST_FRAMES} are needed."
                )
            clips.append(frames)
        return cls(clips)

    def frame(self, index: int, width: int, height: int) -> Picture:
        """Frame ``index`` of the mosaic with this size."""
        if width <= self.width and height <= self.height:
            reduced = cv2.resize(self._tile(0, index), (width, height), interpolation=cv2.INTER_AREA)
            return np.asarray(reduced, np.uint8)
        rows, columns = -(-height // self.height), -(-width // self.width)
        bands = [np.hstack([self._tile(r * columns + c, index) for c in range(columns)]) for r in range(rows)]
        return np.ascontiguousarray(np.vstack(bands)[:height, :width])

    def _tile(self, number: int, index: int) -> Picture:
        again, which = divmod(number, len(self._clips))
        clip = self._clips[which]
        period = 2 * (len(clip) - 1)
        place = (index + _AHEAD * again) % period
        frame = clip[min(place, period - place)]
        return frame[:, ::-1] if again % 2 else frame


def _centre(frame: Picture, height: int, width: int) -> Picture:
    top, left = (frame.shape[0] - height) // 2, (frame.shape[1] - width) // 2
    return frame[top : top + height, left : left + width]
