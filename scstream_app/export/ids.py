"""Id maps as 16-bit greyscale PNG images, one a frame: id + 1, so that 0 is free to mean none."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from scstream_app.errors import ExportError
from scstream_app.export import files

_LARGEST_ID = 2**16 - 2


class IdImages:
    """Writes NNNNN.png for frame N into a folder, which is made if need be."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        files.make_folder(folder)

    def write(self, index: int, ids: npt.NDArray[np.int32]) -> None:
        """Write the ids (H, W) of one frame; a negative id means none."""
        path = self.folder / f"{index:05d}.png"
        largest = int(ids.max())
        if largest > _LARGEST_ID:
            raise ExportError(
                f"Cannot write '{path}': id {largest} does not fit into 16 bits, which hold ids up to {_LARGEST_ID}."
            )
        # Filters help photographs; on flat ids they cost time and bytes.
        options = [cv2.IMWRITE_PNG_COMPRESSION, 3, cv2.IMWRITE_PNG_FILTER, cv2.IMWRITE_PNG_FILTER_NONE]
        done, encoded = cv2.imencode(".png", (np.maximum(ids, -1) + 1).astype(np.uint16), options)
        if not done:
            raise ExportError(f"Cannot write '{path}': the image could not be encoded.")
        files.write_bytes(path, encoded.tobytes())
