"""Where the selected segment would divide: found between two frames, and only when somebody asks."""

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
    """The line (H, W) along which a segment would be split, on the frame with this index."""

    index: int
    id: int
    line: Mask


class SplitWatcher:
    """The window says which segment it wants to know about, the engine's thread finds it out."""

    def __init__(self) -> None:
        self._wanted: int | None = None
        self._at: tuple[FrameResult, VideoSegmenter] | None = None
        self._told: tuple[int, int] | None = None

    def ask(self, id: int | None) -> None:
        """Want to know about this segment, once more if need be; None: about none, and nothing is done."""
        self._wanted = id
        self._told = None

    def move_on(self, at: tuple[FrameResult, VideoSegmenter] | None) -> None:
        """The newest frame and the segmenter that has just made it; None: there is none yet."""
        self._at, self._told = at, None

    def find(self) -> PendingSplit | None:
        """What is wanted, once for each frame and segment; None if there is nothing new to say."""
        # Either may be changed by the window meanwhile.
        id, at = self._wanted, self._at
        if id is None or at is None or self._told == (at[0].index, id):
            return None
        result, segmenter = at
        self._told = result.index, id
        try:
            return PendingSplit(result.index, id, division(result.ids == id, segmenter.split_mask(id)))
        except KeyError:
            # It has died.
            return None


def division(own: Mask, second: Mask) -> Mask:
    """The line between the two parts of a segment, one pixel wide, without its outline.

    >>> own = np.array([[False, True, True, True]])
    >>> division(own, np.array([[False, False, False, True]])).astype(int).tolist()
    [[0, 0, 1, 0]]
    """
    line = np.zeros_like(own)
    line[:, :-1] = own[:, :-1] & own[:, 1:] & (second[:, :-1] != second[:, 1:])
    line[:-1] |= own[:-1] & own[1:] & (second[:-1] != second[1:])
    return line
