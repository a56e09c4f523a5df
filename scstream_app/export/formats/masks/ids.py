"""Segment ids as 16-bit grey PNG images, one per frame: id + 1, 0 for no segment."""

from __future__ import annotations

from scstream_app.export.encodings import png
from scstream_app.export.encodings.sixteen_bits import sixteen_bits
from scstream_app.export.writer import ImageWriter
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render.image_types import IdMap


class Ids(ImageWriter):
    """Writes ids/NNNNN.png."""

    format = "ids"
    title = "Ids, 16-bit PNG"
    group = "Masks and ids"
    position = 1
    about = "Segment ids as 16-bit grey PNG images: id + 1, 0 for no segment"

    def _write(self, result: FrameResult) -> None:
        self._put(result, lambda: _encode(self.job.labels(result)))


def _encode(labels: IdMap) -> bytes:
    try:
        fitting = sixteen_bits(labels)
    except ValueError as error:
        raise ValueError(f"{error}; use npz, tiff or zarr instead") from error
    return png.greys(fitting)
