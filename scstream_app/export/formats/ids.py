"""Ids as 16-bit greyscale PNG images, one a frame: id + 1, so that 0 is free to mean none."""

from __future__ import annotations

import numpy as np

from scstream_app.export import png
from scstream_app.export.writer import Images
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render.image_types import IdMap

_LARGEST_ID = 2**16 - 2


class Ids(Images):
    """ids/NNNNN.png."""

    format = "ids"
    about = "Ids as 16-bit grey PNG images: id + 1, 0 where there is none"

    def _write(self, result: FrameResult) -> None:
        self._put(result, lambda: _encode(self.job.ids(result)))


def _encode(ids: IdMap) -> bytes:
    largest = int(ids.max())
    if largest > _LARGEST_ID:
        raise ValueError(
            f"id {largest} does not fit into 16 bits, which hold ids up to {_LARGEST_ID}; npz, tiff and zarr hold any"
        )
    return png.greys((np.maximum(ids, -1) + 1).astype(np.uint16))
