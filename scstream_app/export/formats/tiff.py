"""Ids of all frames as one stack of TIFF pages, which napari opens as labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import tifffile

from scstream_app.export import files
from scstream_app.export.job import Job
from scstream_app.export.writer import Single
from scstream_app.pipeline.frame_result import FrameResult

#: Classic TIFF counts bytes in 32 bits; stay clear of that by more than any page takes.
_CLASSIC_BYTES = 2**32 - 2**28


class Tiff(Single):
    """ids.tif: a stack (frames, H, W) of labels id + 1, 0 where there is none.

    Labels are int32, because napari takes 16 bits for a picture. The file starts as classic TIFF, which everything
    reads, and is rewritten as BigTIFF when it outgrows that.
    """

    format = "tiff"
    about = "Ids of all frames as one compressed TIFF stack, opens as labels in napari: id + 1, 0 where there is none"

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job, "ids.tif")
        self._smaller = files.partial(folder / "ids.smaller.tif")
        self._file: tifffile.TiffWriter | None = None
        self._big = False
        if not self.kept:
            with self._opening():
                self._file = tifffile.TiffWriter(self._staged[0])

    def _write(self, result: FrameResult) -> None:
        labels = np.maximum(self.job.ids(result), -1) + 1
        # What is not on disk yet is less than a page.
        if not self._big and self._staged[0].stat().st_size + 2 * labels.nbytes > _CLASSIC_BYTES:
            self._enlarge()
        self._add(labels, first=not self.count)

    def _enlarge(self) -> None:
        assert self._file is not None
        self._file.close()
        self._staged[0].replace(self._smaller)
        self._big = True
        self._file = tifffile.TiffWriter(self._staged[0], bigtiff=True)
        if self.count:
            with tifffile.TiffFile(self._smaller) as file:
                for place, page in enumerate(file.pages):
                    self._add(page.asarray(), first=not place)
        files.discard(self._smaller)

    def _add(self, labels: npt.NDArray[Any], first: bool) -> None:
        assert self._file is not None
        self._file.write(
            labels,
            photometric="minisblack",
            compression="zlib",
            compressionargs={"level": 3},
            contiguous=False,
            metadata=None,
            # The first page's description speaks for the whole stack, whose length is known at the end.
            description=self._describe(0) if first else None,
        )

    def _describe(self, length: int) -> str:
        return json.dumps({"shape": [length, *self.job.shape], "axes": "TYX", "label": "id + 1", "rate": self.job.rate})

    def _finish(self) -> None:
        assert self._file is not None
        self._file.close()
        with tifffile.TiffFile(self._staged[0], mode="r+") as file:
            file.pages.first.tags["ImageDescription"].overwrite(self._describe(self.count))
        self._staged.place()

    def _release(self) -> None:
        if self._file is not None:
            files.close_quietly(self._file)
        files.discard(self._smaller)
        super()._release()
