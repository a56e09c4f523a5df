"""The pictures of a source as the data of an image layer."""

from __future__ import annotations

import weakref
from collections.abc import Callable

import numpy as np

from scstream_app.errors import SourceError
from scstream_app.napari_plugin.frame_stack import FrameStack
from scstream_app.render.image_types import Picture, Size, resized
from scstream_app.sources import Source


def picture_stack(source: Source, frames: range, size: Size, report: Callable[[str], None]) -> FrameStack:
    """Pictures (frames, H, W, 3) of these frames; the stack closes the source when it is no longer used."""
    reader = _PictureReader(source, frames, size)
    stack = FrameStack(reader.read, (len(frames), *size, 3), np.uint8, report)
    weakref.finalize(stack, source.close)
    return stack


class _PictureReader:
    """Reads single pictures of a source; seeks only if they are not asked for one after another."""

    def __init__(self, source: Source, frames: range, size: Size) -> None:
        self._source, self._frames, self._size = source, frames, size
        self._next: int | None = None

    def read(self, place: int) -> Picture:
        """Picture at a place of the stack."""
        index, expected = self._frames[place], self._next
        # Unknown until the frame has been read.
        self._next = None
        if index != expected:
            self._source.seek(index)
        frame = self._source.read()
        if frame is None or frame.index != index:
            raise SourceError(f"Cannot read frame {index} of '{self._source.name}': the frame is missing.")
        self._next = index + 1
        return resized(frame.rgb, self._size)
