"""Objects as DAVIS annotations: indexed PNG images with the VOC colour table, 0 for the background."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from scstream import TrackedObject
from scstream_app.errors import ExportError
from scstream_app.export import files, png
from scstream_app.export.job import Job
from scstream_app.export.objects import ExportObject, Following, number
from scstream_app.export.writer import Images
from scstream_app.pipeline.frame_result import FrameResult

#: The evaluation of DAVIS stops above that many.
MOST_OBJECTS = 20


class Davis(Images):
    """davis/NNNNN.png, and davis.json, which says which number is which object.

    Where no object is given, the largest segments of the first frame stand in for objects.
    """

    format = "davis"
    about = (
        f"Objects as DAVIS annotations: indexed PNG images, at most {MOST_OBJECTS}; "
        "where there are none, the largest segments"
    )

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job)
        self._table = voc_colours()
        self._legend = folder / "davis.json"
        self._keep_legend = files.keep(self._legend, job.options.overwrite)
        self._following: Following | None = Following(job.objects) if job.objects else None
        self._entries: dict[str, Any] = {}
        self._cuts: list[int] = []

    @classmethod
    def check(cls, folder: Path, job: Job) -> None:
        super().check(folder, job)
        if len(job.objects) > MOST_OBJECTS:
            raise ExportError(
                f"Cannot write '{folder / cls.format}': DAVIS holds at most {MOST_OBJECTS} objects, got "
                f"{len(job.objects)}."
            )

    def _write(self, result: FrameResult) -> None:
        if self._following is None:
            self._following = Following(_largest(result, self.job))
        objects = self._following.at(result)
        self._put(result, lambda: png.indexed(number(self.job.ids(result), objects), self._table))
        if not self.count:
            self._entries = self._describe(result.index, objects)
            self._write_legend()
        elif result.cut:
            self._cuts.append(result.index)

    def _describe(self, frame: int, objects: tuple[TrackedObject, ...]) -> dict[str, Any]:
        entries = [
            {"number": place, "name": thing.name, "ids": sorted(thing.ids), "colour": self._table[place].tolist()}
            for place, thing in enumerate(objects, 1)
        ]
        return {
            "frame": frame,
            "background": 0,
            "chosen": "marked" if self.job.objects else "largest segments of the first frame",
            "objects": entries,
            "palette": self._table.tolist(),
        }

    def _write_legend(self) -> None:
        if self._keep_legend:
            return
        legend = dict(self._entries)
        if self._cuts:
            legend["cuts"] = self._cuts
            legend["note"] = "A new scene begins at these frames: no segment, and so no object, lives through that."
        files.write_bytes(self._legend, json.dumps(legend, ensure_ascii=False).encode())

    def _finish(self) -> None:
        super()._finish()
        if self._cuts:
            self._write_legend()


def voc_colours() -> npt.NDArray[np.uint8]:
    """The colour table (256, 3) of PASCAL VOC and DAVIS: the bits of the number, dealt out to red, green and blue."""
    numbers = np.arange(256)
    table = np.zeros((256, 3), np.uint8)
    for bit in range(8):
        for channel in range(3):
            table[:, channel] |= ((numbers >> (3 * bit + channel) & 1) << (7 - bit)).astype(np.uint8)
    return table


def _largest(result: FrameResult, job: Job) -> tuple[ExportObject, ...]:
    sizes = np.bincount(result.ids[result.ids >= 0])
    largest = [id for id in np.argsort(-sizes, kind="stable")[:MOST_OBJECTS].tolist() if sizes[id] > 0]
    return tuple(
        ExportObject(job.names.get(id, f"segment {id}"), frozenset({id}), since=result.index) for id in largest
    )
