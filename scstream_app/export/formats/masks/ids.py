"""Segment ids as 16-bit grey PNG images, one per frame: id + 1, 0 for no segment."""

from __future__ import annotations

import numpy as np

from scstream_app.export import png
from scstream_app.export.writer import ImageWriter
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render.image_types import IdMap

_LARGEST_ID = 2**16 - 2


class Ids(ImageWriter):
    """Writes ids/NNNNN.png."""

    format = "ids"
    title = "Ids, 16-bit PNG"
    group = "Masks and ids"
    position = 1
    about = "Segment ids as 16-bit grey PNG images: id + 1, 0 for no segment"

    def _write(self, result: FrameResult) -> None:
        self._put(result, lambda: _encode(self.job.ids(result)))


def _encode(ids: IdMap) -> bytes:
    largest = int(ids.max())
    if largest > _LARGEST_ID:
        raise ValueError(
            f"id {largest} does not fit into 16 bits (at most {_LARGEST_ID}); use npz, tiff or zarr instead"
        )
    return png.greys((np.maximum(ids, -1) + 1).astype(np.uint16))
