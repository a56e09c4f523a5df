"""Segment ids of all frames as one Zarr array, which napari opens as labels."""

from __future__ import annotations

from pathlib import Path

from scstream_app.export.frame_times import FrameTimes
from scstream_app.export.job import Job
from scstream_app.export.writer import FileWriter
from scstream_app.pipeline.frame_result import FrameResult


class Zarr(FileWriter):
    """Writes ids.zarr: an int32 array (frames, H, W) of labels id + 1, 0 for no segment, with one chunk per frame.

    The attributes hold the frame numbers in the source and the times. The format is Zarr version 3, as in a session.
    """

    format = "zarr"
    title = "Zarr volume"
    group = "Tables and volumes"
    position = 4
    about = "Segment ids as one Zarr array, opens as labels in napari: id + 1, 0 for no segment"
    files = ("ids.zarr",)
    are_folders = True

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job)
        self._times = FrameTimes(job.rate)
        # Import zarr only when needed: that takes longer than a short export.
        import zarr

        if not self.kept:
            with self._opening():
                self._array = zarr.create_array(
                    self._staged[0],
                    shape=(0, *job.shape),
                    chunks=(1, *job.shape),
                    dtype="int32",
                    dimension_names=("frame", "row", "column"),
                    # Stores all chunks in one folder; the default encoding creates three folders per frame.
                    chunk_key_encoding={"name": "v2", "separator": "."},
                    zarr_format=3,
                )

    def _write(self, result: FrameResult) -> None:
        labels = self.job.labels(result)
        self._array.resize((self.count + 1, *self.job.shape))
        self._array[self.count] = labels
        self._times.add(result)

    def _finish(self) -> None:
        self._array.attrs.update(self._times.attributes())
        self._staged.commit()
