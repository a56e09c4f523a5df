"""LabelMe annotations: a picture and a JSON file per frame."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from scstream_app.export import jpeg, png
from scstream_app.export.polygons import Part, track_parts
from scstream_app.export.writer import ImageWriter
from scstream_app.pipeline.frame_result import FrameResult

#: The version of LabelMe whose files have this layout.
_VERSION = "5.3.0"


class Labelme(ImageWriter):
    """Writes labelme/NNNNN.jpg and labelme/NNNNN.json.

    A shape is a connected part. A part with holes, and one that is a single pixel or a line, is a mask; all others are
    polygons. The label is the object or, if there are none, the name of the segment, and the group is the track.
    """

    format = "labelme"
    title = "LabelMe"
    group = "Masks and ids"
    position = 8
    about = "A picture and a JSON file with polygons per frame, to edit in LabelMe"
    suffix = ".json"
    needs_picture = True
    prefers_objects = True

    def _existing(self) -> Iterable[Path]:
        return chain(super()._existing(), self.path.glob("*.jpg"))

    def _write(self, result: FrameResult) -> None:
        self._put(result, lambda: jpeg.encode(self.job.picture(result)), suffix=".jpg")
        self._put(result, lambda: json.dumps(self._annotation(result), ensure_ascii=False).encode("utf-8"))

    def _annotation(self, result: FrameResult) -> dict[str, Any]:
        height, width = self.job.shape
        return {
            "version": _VERSION,
            "flags": {},
            "shapes": [
                self._shape(track, part) for track, parts in track_parts(self.job.tracks(result)) for part in parts
            ],
            "imagePath": f"{self.job.stem(result, self.format)}.jpg",
            "imageData": None,
            "imageHeight": height,
            "imageWidth": width,
        }

    def _shape(self, track: int, part: Part) -> dict[str, Any]:
        named = self.job.objects or track in self.job.names
        shape = {
            "label": self.job.track_name(track) if named else "segment",
            "group_id": track,
            "description": "",
            "flags": {},
        }
        if part.holes or len(part.outline) < 3:
            left, top, mask = part.cut_out()
            corners = [[left, top], [left + mask.shape[1] - 1, top + mask.shape[0] - 1]]
            picture = base64.b64encode(png.greys(mask.astype(np.uint8) * np.uint8(255))).decode("ascii")
            return {**shape, "shape_type": "mask", "points": corners, "mask": picture}
        return {**shape, "shape_type": "polygon", "points": part.outline.tolist(), "mask": None}
