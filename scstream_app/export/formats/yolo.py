"""Segments as YOLO polygons: one text file a frame, coordinates from 0 to 1."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
from scipy import ndimage

from scstream_app.export import files
from scstream_app.export.job import Job
from scstream_app.export.objects import Following, number
from scstream_app.export.writer import Images
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render.image_types import IdMap


class Yolo(Images):
    """yolo/NNNNN.txt, and yolo/classes.txt, which names the classes: ids or, where objects are given, objects.

    A polygon is an outer outline: holes are filled, the parts of a segment become polygons of their own, and parts
    too thin to have an inside are left out.
    """

    format = "yolo"
    about = "YOLO-seg polygons: holes are filled and parts become polygons of their own"
    suffix = ".txt"

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job)
        self._following = Following(job.objects)
        self._classes = len(job.objects)
        self._keep_names = files.keep(self.path / "classes.txt", job.options.overwrite)

    def _write(self, result: FrameResult) -> None:
        ids = self.job.ids(result)
        objects = self._following.at(result)
        if objects:
            ids = number(ids, objects).astype(np.int32) - 1
        else:
            self._classes = max(self._classes, int(ids.max()) + 1)
        self._put(result, lambda: "".join(_lines(ids)).encode("ascii"))

    def _finish(self) -> None:
        super()._finish()
        if self._keep_names:
            return
        path = self.path / "classes.txt"
        names = [thing.name for thing in self.job.objects] or [
            self.job.names.get(id, f"segment {id}") for id in range(self._classes)
        ]
        # Line breaks would shift all that follow.
        lines = "".join(" ".join(name.split()) + "\n" for name in names)
        files.write_bytes(path, lines.encode("utf-8"))


def _lines(ids: IdMap) -> Iterator[str]:
    # Text for every row and column once: there are far more points than those.
    rows, columns = (_texts(n) for n in ids.shape)
    for id, outline in _outlines(ids):
        points = (f" {columns[column]} {rows[row]}" for column, row in outline.tolist())
        yield f"{id}{''.join(points)}\n"


def _texts(n: int) -> list[str]:
    """The centres of ``n`` pixels between 0 and 1."""
    return [f"{(place + 0.5) / n:.6f}" for place in range(n)]


def _outlines(ids: IdMap) -> Iterator[tuple[int, npt.NDArray[np.int32]]]:
    """Each outer outline (n, 2) of each id, as column and row."""
    for id, box in enumerate(ndimage.find_objects(np.maximum(ids, -1) + 1)):
        if box is None:
            continue
        part = (ids[box] == id).astype(np.uint8)
        outlines, _ = cv2.findContours(part, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
        for outline in outlines:
            if len(outline) >= 3:
                yield id, outline.reshape(-1, 2) + np.array([box[1].start, box[0].start], np.int32)
