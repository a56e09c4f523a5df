"""Convert decoded pictures of any pixel format to RGB arrays."""

from __future__ import annotations

import av
import cv2
import numpy as np
from av.video.frame import VideoFrame
from av.video.reformatter import VideoReformatter

from scstream_app.render.image_types import Picture

_UNSPECIFIED_MATRIX, _UNSPECIFIED_RANGE = 2, 0
_TURNS = {1: cv2.ROTATE_90_COUNTERCLOCKWISE, 2: cv2.ROTATE_180, 3: cv2.ROTATE_90_CLOCKWISE}


class RgbConverter:
    """Converts pictures to upright RGB. Use one for a whole video: setting up swscale costs more than a conversion.

    The colour matrix and range are those of the stream; alpha is dropped. It uses one thread: with several, swscale
    computes wrong pixels for some formats, and the engine needs the cores.
    """

    def __init__(self) -> None:
        self._reformatter = VideoReformatter()

    def rgb(self, picture: VideoFrame) -> Picture:
        """RGB array of the picture, rotated according to its metadata (counterclockwise, in degrees)."""
        converted = self._converted(picture)
        rgb = np.asarray(converted.to_ndarray(), np.uint8)
        turn = _TURNS.get(round(picture.rotation / 90) % 4)
        if turn is not None:
            return np.asarray(cv2.rotate(rgb, turn), np.uint8)
        # A picture that was already RGB shares its memory with the decoder.
        return rgb.copy() if converted is picture else np.ascontiguousarray(rgb)

    def _converted(self, picture: VideoFrame) -> VideoFrame:
        try:
            return self._reformatter.reformat(picture, format="rgb24", threads=1)
        except av.error.FFmpegError:
            # swscale rejects unknown colour matrices.
            picture.colorspace, picture.color_range = _UNSPECIFIED_MATRIX, _UNSPECIFIED_RANGE
            return self._reformatter.reformat(picture, format="rgb24", threads=1)
