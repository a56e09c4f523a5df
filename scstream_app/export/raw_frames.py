"""Write frames as raw video into a pipe, frame by frame, for FFmpeg and other programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from scstream_app.errors import ExportError
from scstream_app.export.encodings.sixteen_bits import sixteen_bits
from scstream_app.export.job import Job
from scstream_app.option_values import RAW_CONTENTS
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render import views
from scstream_app.render.image_types import IdMap

_FORMATS = {3: "rgb24", 4: "rgba"}


class RawFrames:
    """Writes every frame as soon as it is segmented, without a header.

    Ids are 16-bit little-endian grey (FFmpeg's gray16le): id + 1, and 0 for no segment. A view is rgb24; the view
    "matte" is rgba.

    Parameters
    ----------
    stream : binary file
    content : str
        One of `RAW_CONTENTS`.
    job : Job
    announce : callable
        Called before the first frame with the options that FFmpeg needs to read the stream.
    """

    def __init__(self, stream: BinaryIO, content: str, job: Job, announce: Callable[[str], None]) -> None:
        if content not in RAW_CONTENTS:
            raise ExportError(f"Raw frames must show one of {', '.join(RAW_CONTENTS)}; got '{content}'.")
        self._stream, self._content, self._job, self._announce = stream, content, job, announce
        self._begun = False

    def write(self, result: FrameResult) -> None:
        """Write a frame; raises BrokenPipeError if the reading program has ended."""
        frame = _ids(self._job.labels(result)) if self._content == "ids" else self._drawn(result)
        if not self._begun:
            pixels = "gray16le" if frame.ndim == 2 else _FORMATS[frame.shape[2]]
            size = f"{frame.shape[1]}x{frame.shape[0]}"
            self._announce(f"-f rawvideo -pix_fmt {pixels} -s {size} -r {self._job.rate:g}")
            self._begun = True
        self._stream.write(frame.tobytes())
        self._stream.flush()

    def _drawn(self, result: FrameResult) -> npt.NDArray[np.uint8]:
        return views.draw(self._content, self._job.scene(result))


def _ids(labels: IdMap) -> npt.NDArray[np.uint16]:
    try:
        return sixteen_bits(labels).astype("<u2", copy=False)
    except ValueError as error:
        raise ExportError(f"Cannot write raw ids: {error}.") from error
