"""Decoded pictures, whatever their pixel format, as RGB arrays."""

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
    """Turns pictures into RGB, upright. One is kept for a whole video: setting swscale up costs more than using it.

    The matrix and range of colours are those that the stream names; alpha is dropped. One thread does it: with several,
    swscale gets some pixels wrong in some formats, and the cores are wanted by the engine.
    """

    def __init__(self) -> None:
        self._reformatter = VideoReformatter()

    def rgb(self, picture: VideoFrame) -> Picture:
        """RGB with the rotation of the metadata (counterclockwise, in degrees) applied."""
        converted = self._converted(picture)
        rgb = np.asarray(converted.to_ndarray(), np.uint8)
        turn = _TURNS.get(round(picture.rotation / 90) % 4)
        if turn is not None:
            return np.asarray(cv2.rotate(rgb, turn), np.uint8)
        # A picture that was RGB already is still the decoder's own.
        return rgb.copy() if converted is picture else np.ascontiguousarray(rgb)

    def _converted(self, picture: VideoFrame) -> VideoFrame:
        try:
            return self._reformatter.reformat(picture, format="rgb24", threads=1)
        except av.error.FFmpegError:
            # swscale refuses matrices that it does not know.
            picture.colorspace, picture.color_range = _UNSPECIFIED_MATRIX, _UNSPECIFIED_RANGE
            return self._reformatter.reformat(picture, format="rgb24", threads=1)
