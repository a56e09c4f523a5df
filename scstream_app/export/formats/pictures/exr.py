"""EXR images for compositing: the picture in linear light, ids, and Cryptomatte layers; needs the extra `exr`."""

from __future__ import annotations

import io
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from scstream_app.export import cryptomatte
from scstream_app.export.writer import ImageWriter
from scstream_app.pipeline.frame_result import FrameResult

#: Primaries and white of sRGB and Rec. 709: x and y of red, green, blue and white.
_CHROMATICITIES = (0.64, 0.33, 0.3, 0.6, 0.15, 0.06, 0.3127, 0.329)

#: Name of a Cryptomatte layer, what is at every pixel, and the names of these things.
_Layer = tuple[str, npt.NDArray[np.integer], dict[int, str]]


class Exr(ImageWriter):
    """Writes exr/NNNNN.exr.

    Channels are R, G, B, A (half: linear light, premultiplied), id (uint: id + 1, 0 for no segment), and the
    Cryptomatte layers "segments" and, if there are objects, "objects". With objects, A is their opacity; otherwise 1.
    """

    format = "exr"
    title = "EXR with id mattes"
    group = "Pictures"
    position = 5
    about = (
        "OpenEXR images for compositing: linear RGBA, ids, and Cryptomatte layers of segments and objects; "
        "needs the extra 'exr'"
    )
    suffix = ".exr"
    needs_picture = True
    view = "original"
    library = "OpenEXR"
    extra = "exr"

    def _write(self, result: FrameResult) -> None:
        self._put(result, lambda: self._encode(result))

    def _encode(self, result: FrameResult) -> bytes:
        exr = self.load_library(self.path)
        ids = self.job.ids(result)
        layers: list[_Layer] = [("segments", ids, self._segment_names(ids))]
        if self.job.objects:
            layers.append(("objects", self.job.numbers(result), self._object_names()))
        channels: dict[str, npt.NDArray[Any]] = {"RGBA": self._rgba(result)}
        channels["id"] = (np.maximum(ids, -1) + 1).astype(np.uint32)
        header: dict[str, Any] = {
            # Compresses single rows, which compositing programs read fastest.
            "compression": exr.ZIPS_COMPRESSION,
            "type": exr.scanlineimage,
            "chromaticities": _CHROMATICITIES,
            "framesPerSecond": Fraction(self.job.rate).limit_denominator(65_535),
            "scstream/frame": result.index,
            "scstream/time": repr(float(result.time)),
        }
        for layer, things, names in layers:
            channels |= cryptomatte.channels(layer, things, names)
            header |= cryptomatte.metadata(layer, names)
        stream = io.BytesIO()
        exr.File(header, channels).write(stream)
        return stream.getvalue()

    def _rgba(self, result: FrameResult) -> npt.NDArray[np.float16]:
        linear = _linear_table()[self.job.picture(result)]
        alpha = np.ones(linear.shape[:2], np.float32)
        if self.job.objects:
            alpha = self.job.alpha(result).astype(np.float32) / np.float32(255.0)
        return np.dstack([linear * alpha[..., None], alpha]).astype(np.float16)

    def _segment_names(self, ids: npt.NDArray[np.integer]) -> dict[int, str]:
        """A name for each segment of a frame, distinct because it contains the id."""
        seen = [id for id in np.unique(ids).tolist() if id >= 0]
        names = self.job.names
        return {id: f"{names[id]} ({id})" if names.get(id) else f"segment {id}" for id in seen}

    def _object_names(self) -> dict[int, str]:
        return {number: object_.name for number, object_ in enumerate(self.job.objects, 1)}


def _linear_table() -> npt.NDArray[np.float32]:
    """Linear light, from 0 to 1, of the 256 levels of sRGB."""
    levels = np.arange(256) / 255.0
    linear = np.where(levels <= 0.04045, levels / 12.92, ((levels + 0.055) / 1.055) ** 2.4)
    return linear.astype(np.float32)
