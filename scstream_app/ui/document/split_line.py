"""Find the line along which the selected segment would be split, for the preview."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from scstream_app.pipeline.frame_result import FrameResult

if TYPE_CHECKING:
    from scstream import VideoSegmenter

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class PendingSplit:
    """The line (H, W) along which a segment would be split on a frame."""

    index: int
    id: int
    line: Mask


class SplitWatcher:
    """Finds the split line of one segment: the window chooses the segment, the worker's thread finds the line."""

    def __init__(self) -> None:
        self._wanted: int | None = None
        self._newest: tuple[FrameResult, VideoSegmenter] | None = None
        self._reported: tuple[int, int] | None = None

    def watch(self, id: int | None) -> None:
        """Find the line of this segment from now on, on the newest frame too; None: of no segment."""
        self._wanted = id
        self._reported = None

    def set_newest(self, newest: tuple[FrameResult, VideoSegmenter] | None) -> None:
        """Set the newest frame and the segmenter that made it; None if there is none."""
        self._newest, self._reported = newest, None

    def find(self) -> PendingSplit | None:
        """Return the line, once for each frame and segment; None if there is nothing new."""
        # The window may change either attribute meanwhile.
        id, newest = self._wanted, self._newest
        if id is None or newest is None or self._reported == (newest[0].index, id):
            return None
        result, segmenter = newest
        self._reported = result.index, id
        try:
            return PendingSplit(result.index, id, division(result.ids == id, segmenter.split_mask(id)))
        except KeyError:
            # The segment has died.
            return None


def division(own: Mask, second: Mask) -> Mask:
    """Return the line between the two parts of a segment, one pixel wide, without the segment's outline.

    >>> own = np.array([[False, True, True, True]])
    >>> division(own, np.array([[False, False, False, True]])).astype(int).tolist()
    [[0, 0, 1, 0]]
    """
    line = np.zeros_like(own)
    line[:, :-1] = own[:, :-1] & own[:, 1:] & (second[:, :-1] != second[:, 1:])
    line[:-1] |= own[:-1] & own[1:] & (second[:-1] != second[1:])
    return line
