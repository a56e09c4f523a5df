"""Ids of all frames as one Zarr array, which napari opens as labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from scstream_app.export.job import Job
from scstream_app.export.writer import Single
from scstream_app.pipeline.frame_result import FrameResult


class Zarr(Single):
    """ids.zarr: an array (frames, H, W) int32 of labels id + 1, 0 where there is none, one chunk a frame.

    Its attributes hold the frames' places in the source and their times. The format is version 2, which older
    programs read too.
    """

    format = "zarr"
    about = "Ids of all frames as one Zarr array, opens as labels in napari: id + 1, 0 where there is none"

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job, "ids.zarr", folders=True)
        self._frames: list[int] = []
        self._times: list[float] = []
        # Only now: importing it takes longer than a short export.
        import zarr

        if not self.kept:
            with self._opening():
                self._array = zarr.create_array(
                    self._staged[0], shape=(0, *job.shape), chunks=(1, *job.shape), dtype="int32", zarr_format=2
                )

    def _write(self, result: FrameResult) -> None:
        labels = np.maximum(self.job.ids(result), -1) + 1
        self._array.resize((self.count + 1, *self.job.shape))
        self._array[self.count] = labels
        self._frames.append(result.index)
        self._times.append(result.time)

    def _finish(self) -> None:
        self._array.attrs.update(
            {
                "label": "id + 1",
                "rate": self.job.rate,
                "frames": self._frames,
                "times": self._times,
                "_ARRAY_DIMENSIONS": ["frame", "row", "column"],
            }
        )
        self._staged.place()
