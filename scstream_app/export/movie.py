"""H.264 movies that every player opens: yuv420p, even sizes."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import cv2
import imageio.v3 as iio
import numpy as np
import numpy.typing as npt

from scstream_app.export import files

_ENCODER = {"preset": "veryfast", "crf": "18"}


class Movie:
    """Writes pictures (H, W, 3) into an MP4 file at a constant rate; use it in a with statement.

    The file appears when the statement ends. If other work fails inside the statement, or is interrupted, the
    pictures so far make a whole movie; if the movie itself cannot be written, nothing is left behind.
    """

    def __init__(self, path: Path, rate: float) -> None:
        self.path = path
        self.count = 0
        self._broken = False
        self._temporary = files.partial(path)
        files.make_folder(path.parent)
        try:
            # What keeps a file from being written is said more clearly here than by the encoder.
            self._temporary.write_bytes(b"")
            self._file = _open(self._temporary, rate)
        except Exception as error:
            files.discard(self._temporary)
            raise files.failure(path, error) from error

    def write(self, rgb: npt.NDArray[np.uint8]) -> None:
        """Append one picture."""
        try:
            self._file.write_frame(_even(rgb))
        except Exception as error:
            self._broken = True
            raise files.failure(self.path, error) from error
        self.count += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._broken or self.count == 0:
            self._abandon()
        else:
            self._finish()

    def _finish(self) -> None:
        try:
            self._file.close()
            os.replace(self._temporary, self.path)
        except Exception as error:
            raise files.failure(self.path, error) from error
        finally:
            files.discard(self._temporary)

    def _abandon(self) -> None:
        try:
            self._file.close()
        except Exception:
            pass  # Why it was abandoned is the error to report, not that closing what is left failed too.
        finally:
            files.discard(self._temporary)


def _open(path: Path, rate: float) -> Any:
    file = iio.imopen(path, "w", plugin="pyav")
    file.init_video_stream("libx264", fps=rate, pixel_format="yuv420p")
    stream = file._video_stream
    assert stream is not None
    # imageio has no public way to pass these on; they halve the time that encoding takes.
    stream.codec_context.options = _ENCODER
    return file


def _even(rgb: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Repeat the last row or column where their number is odd: chroma is stored for squares of four pixels."""
    height, width = rgb.shape[:2]
    if height % 2 == 0 and width % 2 == 0:
        return rgb
    padded = cv2.copyMakeBorder(rgb, 0, height % 2, 0, width % 2, cv2.BORDER_REPLICATE)
    return np.asarray(padded, np.uint8)
