"""Objects as DAVIS annotations: indexed PNG images with the VOC colour table, 0 for the background."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt

from scstream import TrackedObject
from scstream_app.errors import ExportError
from scstream_app.export import files, png
from scstream_app.export.job import Job
from scstream_app.export.objects import Following, number
from scstream_app.export.writer import Images
from scstream_app.results import FrameResult, IdMap

#: The evaluation of DAVIS stops above that many.
MOST_OBJECTS = 20


class Davis(Images):
    """davis/NNNNN.png, and davis.json, which says which number is which object."""

    format = "davis"
    about = f"Objects as DAVIS annotations: indexed PNG images, at most {MOST_OBJECTS} objects"

    def __init__(self, folder: Path, job: Job) -> None:
        if len(job.objects) > MOST_OBJECTS:
            raise ExportError(
                f"Cannot write '{folder / self.format}': DAVIS holds at most {MOST_OBJECTS} objects, got "
                f"{len(job.objects)}."
            )
        super().__init__(folder, job)
        self._table = voc_colours()
        self._legend = folder / "davis.json"
        self._keep_legend = files.keep(self._legend, job.overwrite)
        self._following: Following | None = Following(job.objects) if job.objects else None

    def _write(self, result: FrameResult) -> None:
        if self._following is None:
            objects = _largest(result.ids, self.job)
            self._following = Following(objects)
        else:
            objects = self._following.at(result)
        self._put(result, lambda: png.indexed(number(self.job.ids(result), objects), self._table))
        if not self.count and not self._keep_legend:
            files.write_bytes(self._legend, self._describe(result.index, objects))

    def _describe(self, frame: int, objects: tuple[TrackedObject, ...]) -> bytes:
        entries = [
            {"number": place, "name": thing.name, "ids": sorted(thing.ids), "colour": self._table[place].tolist()}
            for place, thing in enumerate(objects, 1)
        ]
        legend = {"frame": frame, "background": 0, "objects": entries, "palette": self._table.tolist()}
        return json.dumps(legend, ensure_ascii=False).encode()


def voc_colours() -> npt.NDArray[np.uint8]:
    """The colour table (256, 3) of PASCAL VOC and DAVIS: the bits of the number, dealt out to red, green and blue."""
    numbers = np.arange(256)
    table = np.zeros((256, 3), np.uint8)
    for bit in range(8):
        for channel in range(3):
            table[:, channel] |= ((numbers >> (3 * bit + channel) & 1) << (7 - bit)).astype(np.uint8)
    return table


def _largest(ids: IdMap, job: Job) -> tuple[TrackedObject, ...]:
    sizes = np.bincount(ids[ids >= 0])
    largest = np.argsort(-sizes, kind="stable")[:MOST_OBJECTS].tolist()
    return tuple(TrackedObject(job.names.get(id, f"segment {id}"), frozenset({id})) for id in largest if sizes[id] > 0)
