"""Segment ids of all frames as one TIFF stack, which napari opens as labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import tifffile

from scstream_app.export import atomic_files
from scstream_app.export.job import Job
from scstream_app.export.writer import FileWriter
from scstream_app.pipeline.frame_result import FrameResult

#: Largest size of a classic TIFF file, which has 32-bit offsets, less a margin larger than any page.
_CLASSIC_BYTES = 2**32 - 2**28


class Tiff(FileWriter):
    """Writes ids.tif: a stack (frames, H, W) of labels id + 1, 0 for no segment.

    Labels are int32, because napari opens 16-bit stacks as images. The file starts as classic TIFF, which all programs
    read, and is rewritten as BigTIFF if it grows too large.
    """

    format = "tiff"
    title = "TIFF stack"
    group = "Tables and volumes"
    position = 4
    about = "Segment ids as one compressed TIFF stack, opens as labels in napari: id + 1, 0 for no segment"

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job, "ids.tif")
        self._classic_path = atomic_files.temporary_path(folder / "ids.smaller.tif")
        self._file: tifffile.TiffWriter | None = None
        self._big = False
        if not self.kept:
            with self._opening():
                self._file = tifffile.TiffWriter(self._staged[0])

    def _write(self, result: FrameResult) -> None:
        labels = np.maximum(self.job.ids(result), -1) + 1
        # The data that is not on disk yet is smaller than a page.
        if not self._big and self._staged[0].stat().st_size + 2 * labels.nbytes > _CLASSIC_BYTES:
            self._convert_to_big()
        self._add(labels, first=not self.count)

    def _convert_to_big(self) -> None:
        assert self._file is not None
        self._file.close()
        self._staged[0].replace(self._classic_path)
        self._big = True
        self._file = tifffile.TiffWriter(self._staged[0], bigtiff=True)
        if self.count:
            with tifffile.TiffFile(self._classic_path) as file:
                for place, page in enumerate(file.pages):
                    self._add(page.asarray(), first=not place)
        atomic_files.discard(self._classic_path)

    def _add(self, labels: npt.NDArray[Any], first: bool) -> None:
        assert self._file is not None
        self._file.write(
            labels,
            photometric="minisblack",
            compression="zlib",
            compressionargs={"level": 3},
            contiguous=False,
            metadata=None,
            # The description of the first page holds the shape of the stack; `_finish` fills in the length.
            description=self._describe(0) if first else None,
        )

    def _describe(self, length: int) -> str:
        return json.dumps({"shape": [length, *self.job.shape], "axes": "TYX", "label": "id + 1", "rate": self.job.rate})

    def _finish(self) -> None:
        assert self._file is not None
        self._file.close()
        with tifffile.TiffFile(self._staged[0], mode="r+") as file:
            file.pages.first.tags["ImageDescription"].overwrite(self._describe(self.count))
        self._staged.commit()

    def _release(self) -> None:
        if self._file is not None:
            atomic_files.close_quietly(self._file)
        atomic_files.discard(self._classic_path)
        super()._release()
