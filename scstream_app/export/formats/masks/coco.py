"""COCO for video, in the layout of YouTube-VIS: one annotation per track, with run-length encoded masks."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, TextIO

from scstream_app.export import atomic_files
from scstream_app.export.encodings.run_lengths import track_shapes
from scstream_app.export.job import Job
from scstream_app.export.writer import FileWriter
from scstream_app.pipeline.frame_result import FrameResult

_VIDEO = 1


class Coco(FileWriter):
    """Writes coco.json. A track is an object or, if the clip has no objects, a segment.

    The file is ordered by track but frames arrive one by one, so the shapes are buffered in a temporary database and
    memory use stays constant.
    """

    format = "coco"
    title = "COCO video (YouTube-VIS)"
    group = "Masks and ids"
    position = 4
    about = "COCO for video: tracks over all frames in one JSON file, in the layout of YouTube-VIS"
    prefers_objects = True
    lists_files = True
    files = ("coco.json",)

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job)
        self._names: list[str] = []
        self._spool_path = atomic_files.temporary_path(folder / "coco.spool")
        self._spool: sqlite3.Connection | None = None
        if not self.kept:
            with self._opening():
                self._spool = _open(self._spool_path)

    def _write(self, result: FrameResult) -> None:
        assert self._spool is not None
        shapes = track_shapes(self.job.tracks(result))
        place = len(self._names)
        self._spool.executemany("INSERT INTO shapes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", ((place, *s) for s in shapes))
        self._names.append(self.job.file_name(result))

    def _finish(self) -> None:
        assert self._spool is not None
        self._spool.execute("CREATE INDEX by_track ON shapes (track, place)")
        with self._staged[0].open("w", encoding="utf-8") as file:
            self._write_json(file, self._spool)
        self._staged.commit()

    def _write_json(self, file: TextIO, spool: sqlite3.Connection) -> None:
        height, width = self.job.shape
        length = len(self._names)
        video = {"id": _VIDEO, "width": width, "height": height, "length": length, "file_names": self._names}
        file.write(f'{{"info": {{"description": "ScStream Studio"}}, "licenses": [], "videos": [{as_json(video)}],\n')
        file.write(f'"categories": {as_json(categories(self.job))},\n"annotations": [')
        rows = spool.execute("SELECT track, place, area, x, y, w, h, counts FROM shapes ORDER BY track, place")
        for place, (track, shapes) in enumerate(groupby(rows, itemgetter(0))):
            file.write(",\n" if place else "\n")
            self._write_track(file, place + 1, track, shapes)
        file.write("\n]}\n")

    def _write_track(self, file: TextIO, number: int, track: int, shapes: Iterable[tuple[Any, ...]]) -> None:
        length = len(self._names)
        areas: list[int | None] = [None] * length
        boxes: list[list[float] | None] = [None] * length
        file.write(f'{as_json(self._track_fields(number, track))[:-1]}, "segmentations": [')
        done = 0
        for _, place, area, *box, counts in shapes:
            areas[place], boxes[place] = area, box
            shape = as_json({"size": self.job.shape, "counts": counts.decode("ascii")})
            file.write((", " if done else "") + "null, " * (place - done) + shape)
            done = place + 1
        file.write(", null" * (length - done))
        file.write(f'], "areas": {as_json(areas)}, "bboxes": {as_json(boxes)}}}')

    def _track_fields(self, number: int, track: int) -> dict[str, Any]:
        height, width = self.job.shape
        return {
            "id": number,
            "video_id": _VIDEO,
            "category_id": self.job.class_of(track) + 1,
            "track_id": track,
            "name": self.job.track_name(track),
            "iscrowd": 0,
            "height": height,
            "width": width,
        }

    def _release(self) -> None:
        if self._spool is not None:
            atomic_files.close_quietly(self._spool)
        atomic_files.discard(self._spool_path)
        super()._release()


def categories(job: Job) -> list[dict[str, Any]]:
    """The categories of a COCO file, numbered from 1."""
    return [{"id": place, "name": name, "supercategory": "object"} for place, name in enumerate(job.classes, 1)]


def as_json(value: Any) -> str:
    """JSON in one line."""
    return json.dumps(value, ensure_ascii=False)


def _open(path: Path) -> sqlite3.Connection:
    atomic_files.discard(path)
    # One thread opens the connection and another uses it, never both at the same time.
    spool = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    try:
        # The database is temporary and need not survive a crash.
        spool.execute("PRAGMA journal_mode = OFF")
        spool.execute("PRAGMA synchronous = OFF")
        spool.execute("CREATE TABLE shapes (place, track, area, x, y, w, h, counts)")
    except BaseException:
        spool.close()
        raise
    return spool
