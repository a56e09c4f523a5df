"""DAVIS annotations: indexed PNG images with the VOC colour table; 0 is the background."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from scstream_app.errors import ExportError
from scstream_app.export import atomic_files
from scstream_app.export.encodings import png
from scstream_app.export.job import Job
from scstream_app.export.writer import ImageWriter
from scstream_app.objects import MarkedObject, Membership, member_masks
from scstream_app.objects.membership import Members
from scstream_app.pipeline.frame_result import FrameResult

_LEGEND = "davis.json"
#: The DAVIS evaluation supports no more objects.
MOST_OBJECTS = 20


class Davis(ImageWriter):
    """Writes davis/NNNNN.png, and davis.json, which maps numbers to objects.

    If the clip has no objects, the largest segments of the first frame take their place.
    """

    format = "davis"
    title = "DAVIS"
    group = "Masks and ids"
    position = 3
    about = (
        f"At most {MOST_OBJECTS} objects as DAVIS annotations (indexed PNG images); "
        "the largest segments if there are no objects"
    )
    prefers_objects = True

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job)
        self._table = voc_colours()
        self._legend = folder / _LEGEND
        self._keep_legend = atomic_files.should_keep(self._legend, job.options.overwrite)
        self._membership = Membership(job.objects)
        self._titles: dict[str, str] = {}
        self._entries: dict[str, Any] = {}
        self._cuts: list[int] = []

    @classmethod
    def check(cls, folder: Path, job: Job) -> None:
        super().check(folder, job)
        if len(job.objects) > MOST_OBJECTS:
            raise ExportError(
                f"Cannot write '{folder / cls.format}': DAVIS allows at most {MOST_OBJECTS} objects, got "
                f"{len(job.objects)}."
            )

    @classmethod
    def target_names(cls, job: Job) -> tuple[str, ...]:
        return (cls.format, _LEGEND)

    def _write(self, result: FrameResult) -> None:
        if not self.count and not self.job.objects:
            self._membership = self._follow_largest(result)
        members = self._membership.advance(result.index, result.events, result.cut)
        self._put(result, lambda: png.indexed(self._numbers(result, members), self._table))
        if not self.count:
            self._entries = self._describe(result.index, members)
            if self._staged is None:
                self._write_legend()
        elif result.cut:
            self._cuts.append(result.index)

    def _numbers(self, result: FrameResult, members: Members) -> npt.NDArray[np.uint8]:
        if self.job.objects:
            return self.job.numbers(result)
        return member_masks(self.job.ids(result), members).numbers

    def _follow_largest(self, result: FrameResult) -> Membership:
        largest = {f"segment {id}": id for id in _largest(result)}
        # The name of a segment may contain characters that that of an object must not have.
        self._titles = {name: self.job.names.get(id, name) for name, id in largest.items()}
        return Membership(MarkedObject.made(name, (0, 0, 0), result.index, {id}) for name, id in largest.items())

    def _describe(self, frame: int, members: Members) -> dict[str, Any]:
        entries = [
            {
                "number": place,
                "name": self._titles.get(object_.name, object_.name),
                "ids": sorted(ids),
                "colour": self._table[place].tolist(),
            }
            for place, (object_, ids) in enumerate(zip(self._membership.objects, members, strict=True), 1)
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
        atomic_files.write_bytes(self._legend, json.dumps(legend, ensure_ascii=False).encode())

    def _finish(self) -> None:
        super()._finish()
        if self._cuts or self._staged is not None:
            self._write_legend()


def voc_colours() -> npt.NDArray[np.uint8]:
    """The colour table (256, 3) of PASCAL VOC and DAVIS: the bits of each index, distributed to red, green and blue."""
    numbers = np.arange(256)
    table = np.zeros((256, 3), np.uint8)
    for bit in range(8):
        for channel in range(3):
            table[:, channel] |= ((numbers >> (3 * bit + channel) & 1) << (7 - bit)).astype(np.uint8)
    return table


def _largest(result: FrameResult) -> list[int]:
    """Ids of the largest segments, in descending order of size."""
    sizes = np.bincount(result.ids[result.ids >= 0])
    return [id for id in np.argsort(-sizes, kind="stable")[:MOST_OBJECTS].tolist() if sizes[id] > 0]
