"""A YOLO-seg data set: pictures, one text file with polygons per picture, and data.yaml."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from scstream_app.export import atomic_files
from scstream_app.export.encodings import jpeg
from scstream_app.export.encodings.polygons import Points, join, track_parts
from scstream_app.export.job import Job
from scstream_app.export.writer import ImageWriter
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render.image_types import IdMap

_IMAGES, _LABELS = "images", "labels"
#: Half the width of the polygon around a part that is a single pixel or a line, in pixels.
_THIN = 0.25


class Yolo(ImageWriter):
    """Writes yolo/images/NNNNN.jpg, yolo/labels/NNNNN.txt, yolo/data.yaml and yolo/classes.txt.

    The classes are the objects or, if there are none, the single class "segment". An instance is one polygon, in which
    bridges of no width join its parts and the outlines of its holes.
    """

    format = "yolo"
    title = "YOLO-seg data set"
    group = "Masks and ids"
    position = 6
    about = "A YOLO-seg data set to train on: pictures, polygons and data.yaml"
    warning = "YOLO-seg: an instance is one polygon, in which thin bridges join parts and holes."
    suffix = ".txt"
    needs_picture = True
    prefers_objects = True

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job)
        self._make_folders((_IMAGES, _LABELS))
        self._kept = {
            name: atomic_files.should_keep(self.path / name, job.options.overwrite)
            for name in ("data.yaml", "classes.txt")
        }

    def _existing(self) -> Iterable[Path]:
        # Earlier versions wrote the labels directly into the folder.
        return chain(self.path.glob("*.txt"), self.path.glob(f"{_LABELS}/*.txt"), self.path.glob(f"{_IMAGES}/*.jpg"))

    def _write(self, result: FrameResult) -> None:
        self._put(result, lambda: jpeg.encode(self.job.picture(result)), folder=_IMAGES, suffix=".jpg")
        self._put(result, lambda: "".join(self._rows(result)).encode("ascii"), folder=_LABELS)

    def _rows(self, result: FrameResult) -> Iterator[str]:
        tracks = self.job.tracks(result)
        for track, polygon in _polygons(tracks):
            points = polygon / tracks.shape[::-1]
            yield " ".join([str(self.job.class_of(track)), *(f"{value:.6f}" for value in points.ravel())]) + "\n"

    def _finish(self) -> None:
        # A line break in a name would shift all classes after it.
        names = [" ".join(name.split()) for name in self.job.classes]
        for name, text in {"data.yaml": _data(names), "classes.txt": "".join(f"{name}\n" for name in names)}.items():
            if not self._kept[name]:
                self._put_content(self.path / name, text.encode("utf-8"))
        super()._finish()


def _data(names: list[str]) -> str:
    """The text of data.yaml. JSON texts are valid in YAML."""
    classes = "".join(f"  {place}: {json.dumps(name, ensure_ascii=False)}\n" for place, name in enumerate(names))
    return (
        "# Without a 'path', the folders are relative to this file, wherever it is moved.\n"
        "# The clip has no separate pictures for validation: replace 'val' by those of another clip.\n"
        f"train: {_IMAGES}\nval: {_IMAGES}\nnames:\n{classes}"
    )


def _polygons(tracks: IdMap) -> Iterator[tuple[int, npt.NDArray[np.float64]]]:
    """Yield each track with its polygon (n, 2), as column and row in pixels."""
    for track, parts in track_parts(tracks):
        if len(parts) == 1 and len(parts[0].outline) < 3:
            yield track, _around(parts[0].outline)
        else:
            # A reader cuts coordinates down to whole pixels: the centre of a pixel is safe from rounding.
            outlines = [outline for part in parts for outline in (part.outline, *part.holes)]
            yield track, join(outlines).astype(np.float64) + 0.5


def _around(line: Points) -> npt.NDArray[np.float64]:
    """A polygon with an area within the pixels of a line, which has one or two points."""
    corners = np.array([[-_THIN, -_THIN], [-_THIN, _THIN], [_THIN, -_THIN], [_THIN, _THIN]]) + 0.5
    points = (line[:, None] + corners).reshape(-1, 2).astype(np.float32)
    return np.asarray(cv2.convexHull(points), np.float64).reshape(-1, 2)
