"""Segment ids of all frames as one OME-TIFF stack, which napari opens as labels."""

from __future__ import annotations

import json
import math
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from scstream_app.export.encodings.tiff_pages import TiffPages
from scstream_app.export.frame_times import FrameTimes
from scstream_app.export.job import Job
from scstream_app.export.writer import FileWriter
from scstream_app.pipeline.frame_result import FrameResult

_SCHEMA = "http://www.openmicroscopy.org/Schemas/OME/2016-06"


class Tiff(FileWriter):
    """Writes ids.ome.tif: a stack (T, Y, X) of labels id + 1, 0 for no segment, with the time of every frame.

    Labels are int32, because napari opens 16-bit stacks as images. The file starts as classic TIFF, which all programs
    read, and is rewritten as BigTIFF if it grows too large.
    """

    format = "tiff"
    title = "OME-TIFF stack"
    group = "Tables and volumes"
    position = 5
    about = "Segment ids and times as one OME-TIFF stack, opens as labels in napari: id + 1, 0 for no segment"
    files = ("ids.ome.tif",)

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job)
        self._times = FrameTimes(job.rate)
        self._pages: TiffPages | None = None
        if not self.kept:
            with self._opening():
                self._pages = TiffPages(self._staged[0], np.int32)

    def _write(self, result: FrameResult) -> None:
        assert self._pages is not None
        labels = self.job.labels(result)
        if self._pages.is_full(labels):
            self._pages.rewrite(big=True)
        self._pages.add(labels)
        self._times.add(result)

    def _finish(self) -> None:
        assert self._pages is not None
        self._pages.finish(_ome_xml(self.job.shape, self._times))
        self._staged.commit()

    def _release(self) -> None:
        if self._pages is not None:
            self._pages.close()
        super()._release()


def _ome_xml(shape: tuple[int, int], times: FrameTimes) -> str:
    """The description of the file in the OME data model: sizes, type, and the time of each plane in seconds."""
    root = ElementTree.Element("OME", {"xmlns": _SCHEMA, "Creator": "ScStream Studio"})
    image = ElementTree.SubElement(root, "Image", {"ID": "Image:0", "Name": "segments"})
    ElementTree.SubElement(image, "Description").text = json.dumps(
        {"label": "id + 1", "rate": times.rate, "frames": times.frames}
    )
    count = len(times.frames)
    pixels = ElementTree.SubElement(
        image,
        "Pixels",
        {
            "ID": "Pixels:0",
            "DimensionOrder": "XYCZT",
            "Type": "int32",
            "SizeX": str(shape[1]),
            "SizeY": str(shape[0]),
            "SizeC": "1",
            "SizeZ": "1",
            "SizeT": str(count),
            "TimeIncrement": repr(times.interval),
            "TimeIncrementUnit": "s",
        },
    )
    ElementTree.SubElement(pixels, "Channel", {"ID": "Channel:0:0", "SamplesPerPixel": "1"})
    ElementTree.SubElement(pixels, "TiffData", {"IFD": "0", "PlaneCount": str(count)})
    for place, time in enumerate(times.times):
        known = {"DeltaT": repr(float(time)), "DeltaTUnit": "s"} if math.isfinite(time) else {}
        ElementTree.SubElement(pixels, "Plane", {"TheC": "0", "TheZ": "0", "TheT": str(place), **known})
    return '<?xml version="1.0" encoding="UTF-8"?>' + ElementTree.tostring(root, encoding="unicode")
