"""YOLO-seg polygons: one text file per frame, coordinates from 0 to 1."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
from scipy import ndimage

from scstream_app.export import atomic_files
from scstream_app.export.job import Job
from scstream_app.export.writer import ImageWriter
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render.image_types import IdMap


class Yolo(ImageWriter):
    """Writes yolo/NNNNN.txt, and yolo/classes.txt with the names of the classes: objects or, without objects, ids.

    A polygon is an outer contour: holes are filled, every connected part of a segment becomes a polygon, and parts
    with fewer than three contour points are omitted.
    """

    format = "yolo"
    title = "YOLO-seg"
    group = "Masks and ids"
    position = 5
    about = "YOLO-seg polygons: holes are filled, and every part of a segment becomes a polygon"
    warning = "YOLO-seg: polygons have no holes, and every part of a segment becomes a polygon."
    suffix = ".txt"

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job)
        self._classes = len(job.objects)
        self._keep_classes = atomic_files.should_keep(self.path / "classes.txt", job.options.overwrite)

    def _write(self, result: FrameResult) -> None:
        if self.job.objects:
            ids = self.job.numbers(result).astype(np.int32) - 1
        else:
            ids = self.job.ids(result)
            self._classes = max(self._classes, int(ids.max()) + 1)
        self._put(result, lambda: "".join(_lines(ids)).encode("ascii"))

    def _finish(self) -> None:
        super()._finish()
        if self._keep_classes:
            return
        path = self.path / "classes.txt"
        names = [object_.name for object_ in self.job.objects] or [
            self.job.names.get(id, f"segment {id}") for id in range(self._classes)
        ]
        # A line break in a name would shift all classes after it.
        lines = "".join(" ".join(name.split()) + "\n" for name in names)
        atomic_files.write_bytes(path, lines.encode("utf-8"))


def _lines(ids: IdMap) -> Iterator[str]:
    # Format every row and column once: a frame has far more points than rows and columns.
    rows, columns = (_texts(n) for n in ids.shape)
    for id, contour in _contours(ids):
        points = (f" {columns[column]} {rows[row]}" for column, row in contour.tolist())
        yield f"{id}{''.join(points)}\n"


def _texts(n: int) -> list[str]:
    """The centres of ``n`` pixels as text, from 0 to 1."""
    return [f"{(place + 0.5) / n:.6f}" for place in range(n)]


def _contours(ids: IdMap) -> Iterator[tuple[int, npt.NDArray[np.int32]]]:
    """Yield each id with each of its outer contours (n, 2) as column and row."""
    for id, box in enumerate(ndimage.find_objects(np.maximum(ids, -1) + 1)):
        if box is None:
            continue
        part = (ids[box] == id).astype(np.uint8)
        contours, _ = cv2.findContours(part, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
        for contour in contours:
            if len(contour) >= 3:
                yield id, contour.reshape(-1, 2) + np.array([box[1].start, box[0].start], np.int32)
