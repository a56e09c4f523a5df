"""Segment ids of all frames as one TIFF stack with a time axis, for ImageJ and Fiji."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from scstream_app.export.encodings.sixteen_bits import LARGEST_LABEL
from scstream_app.export.encodings.tiff_pages import TiffPages
from scstream_app.export.frame_times import FrameTimes
from scstream_app.export.job import Job
from scstream_app.export.writer import FileWriter
from scstream_app.pipeline.frame_result import FrameResult

#: Largest label that a pixel of float32 holds exactly.
_LARGEST_FLOAT = 2**24


class ImageJ(FileWriter):
    """Writes ids_imagej.tif: a hyperstack (T, Y, X) of labels id + 1, 0 for no segment, with the frame interval.

    ImageJ knows no 32-bit integers. Labels are uint16; the stack is rewritten as float32 if an id does not fit. It is
    not compressed, because ImageJ expects the pages of its own stacks without gaps.
    """

    format = "imagej"
    title = "ImageJ stack"
    group = "Tables and volumes"
    position = 6
    about = "Segment ids as one TIFF stack for ImageJ and Fiji, of 16 bits if they fit: id + 1, 0 for no segment"
    files = ("ids_imagej.tif",)

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job)
        self._times = FrameTimes(job.rate)
        self._largest = 0
        self._pages: TiffPages | None = None
        if not self.kept:
            with self._opening():
                self._pages = TiffPages(self._staged[0], np.uint16, compressed=False)

    def _write(self, result: FrameResult) -> None:
        assert self._pages is not None
        labels = self.job.labels(result)
        self._largest = max(self._largest, int(labels.max()))
        if self._largest > _LARGEST_FLOAT:
            raise ValueError(f"id {self._largest - 1} is too large for ImageJ (at most {_LARGEST_FLOAT - 1}); use tiff")
        if self._largest > LARGEST_LABEL and self._pages.kind != np.float32:
            self._pages.rewrite(np.float32)
        if self._pages.is_full(labels):
            raise ValueError("ImageJ reads no TIFF file beyond 4 GB; export fewer frames, a smaller scale, or use tiff")
        self._pages.add(labels)
        self._times.add(result)

    def _finish(self) -> None:
        assert self._pages is not None
        self._pages.finish(self._description())
        self._staged.commit()

    def _description(self) -> str:
        interval, count = self._times.interval, len(self._times.frames)
        fields = {
            "ImageJ": "1.54f",
            "images": count,
            "frames": count,
            "hyperstack": "true",
            "mode": "grayscale",
            "unit": "pixel",
            "finterval": repr(interval),
            "fps": repr(1.0 / interval),
            "loop": "false",
            "min": "0.0",
            "max": repr(float(self._largest)),
        }
        return "".join(f"{name}={value}\n" for name, value in fields.items())

    def _release(self) -> None:
        if self._pages is not None:
            self._pages.close()
        super()._release()
