"""Tracks in the layout of the Cell Tracking Challenge: label images and a table of tracks with their parents."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import tifffile

from scstream_app.export.contiguous_tracks import ContiguousTracks
from scstream_app.export.encodings.sixteen_bits import LARGEST_LABEL
from scstream_app.export.job import Job
from scstream_app.export.writer import FileWriter
from scstream_app.pipeline.frame_result import FrameResult

_DIGITS = 3


class _CtcWriter(FileWriter):
    """Writes a folder of 16-bit TIFF images with the labels of tracks, 0 elsewhere, and a table of the tracks.

    The images are numbered from 0 without gaps, beginning with the first frame that is exported. A frame that could not
    be read has an empty image.
    """

    group = "Masks and ids"
    prefers_objects = True
    are_folders = True
    #: The start of the names of images in the folder, and the table of tracks.
    images: ClassVar[tuple[str, ...]]
    table: ClassVar[str]

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job)
        self._tracks = ContiguousTracks()
        self._first = self._next = 0
        if not self.kept:
            with self._opening():
                for image in self.images:
                    (self._staged[0] / image).parent.mkdir(exist_ok=True)

    def _write(self, result: FrameResult) -> None:
        if not self.count:
            self._first = result.index
        time = result.index - self._first
        while self._next < time:
            self._write_image(np.zeros(self.job.shape, np.uint16))
        self._write_image(self._labels(result, time))

    def _labels(self, result: FrameResult, time: int) -> npt.NDArray[np.uint16]:
        tracks = self.job.tracks(result)
        visible = np.unique(tracks[tracks >= 0])
        # Objects have no genealogy.
        events = () if self.job.objects else result.events
        splits = [(event.ids[0], event.ids[1]) for event in events if event.kind == "split"]
        labels = self._tracks.advance(time, visible.tolist(), splits)
        if len(self._tracks.tracks) > LARGEST_LABEL:
            raise ValueError(f"more than {LARGEST_LABEL} tracks do not fit into 16 bits; use zarr or csv instead")
        # The first place is that of no track, -1.
        table = np.zeros(2 + (int(visible[-1]) if len(visible) else -1), np.uint16)
        table[visible + 1] = list(labels.values())
        return np.asarray(table[tracks + 1])

    def _write_image(self, labels: npt.NDArray[np.uint16]) -> None:
        encoded = BytesIO()
        options = {"level": 3}
        tifffile.imwrite(
            encoded, labels, photometric="minisblack", compression="zlib", compressionargs=options, metadata=None
        )
        for image in self.images:
            (self._staged[0] / f"{image}{self._next:0{_DIGITS}d}.tif").write_bytes(encoded.getvalue())
        self._next += 1

    def _finish(self) -> None:
        self._lengthen_numbers()
        rows = (f"{label} {one.begin} {one.end} {one.parent}\n" for label, one in self._tracks.tracks.items())
        (self._staged[0] / self.table).write_text("".join(rows), encoding="ascii")
        self._staged.commit()

    def _lengthen_numbers(self) -> None:
        """Give all numbers as many digits as the last one: readers sort the images by name."""
        digits = len(str(self._next - 1))
        for image in self.images if digits > _DIGITS else ():
            for number in range(10 ** (digits - 1)):
                old = self._staged[0] / f"{image}{number:0{_DIGITS}d}.tif"
                old.rename(self._staged[0] / f"{image}{number:0{digits}d}.tif")


class CtcResult(_CtcWriter):
    """Writes 01_RES: the results of a tracker."""

    format = "ctc"
    title = "Cell Tracking result"
    position = 9
    about = "Tracks with parents, as a result of the Cell Tracking Challenge (01_RES)"
    files = ("01_RES",)
    images = ("mask",)
    table = "res_track.txt"


class CtcTruth(_CtcWriter):
    """Writes 01_GT: a ground truth, with the same masks for tracking and for segmentation."""

    format = "ctc_gt"
    title = "Cell Tracking ground truth"
    position = 10
    about = "Tracks with parents, as a ground truth of the Cell Tracking Challenge (01_GT)"
    files = ("01_GT",)
    images = ("TRA/man_track", "SEG/man_seg")
    table = "TRA/man_track.txt"
