"""COCO files with run-length encoded masks, laid out as in YouTube-VIS: one annotation per track."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import numpy.typing as npt
from pycocotools import mask as coco_mask  # type: ignore[import-untyped]

from scstream_app.export import atomic_files
from scstream_app.export.job import Job
from scstream_app.export.writer import FileWriter
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render.image_types import IdMap

#: Track, area, bounding box (left, top, width, height), compressed run lengths.
_Shape = tuple[int, int, float, float, float, float, bytes]
_VIDEO = 1
#: pycocotools counts the masks of one call in eight bits.
_CHUNK = 200


class Coco(FileWriter):
    """Writes coco.json. A track is an object or, if the clip has no objects, a segment id.

    The file is ordered by track but frames arrive one by one, so the shapes are buffered in a temporary database and
    memory use stays constant.
    """

    format = "coco"
    title = "COCO / YouTube-VIS"
    group = "Masks and ids"
    position = 4
    about = "Tracks as COCO RLE in one JSON file, in the layout of YouTube-VIS"

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job, "coco.json")
        self._names: list[str] = []
        self._spool_path = atomic_files.temporary_path(folder / "coco.spool")
        self._spool: sqlite3.Connection | None = None
        if not self.kept:
            with self._opening():
                self._spool = _open(self._spool_path)

    def _write(self, result: FrameResult) -> None:
        assert self._spool is not None
        shapes = segment_shapes(self._tracks(result))
        place = len(self._names)
        self._spool.executemany("INSERT INTO shapes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", ((place, *s) for s in shapes))
        self._names.append(f"{self.job.stem(result, 'frame')}.png")

    def _tracks(self, result: FrameResult) -> IdMap:
        """Map (H, W) of tracks; -1 where there is none."""
        return self.job.numbers(result).astype(np.int32) - 1 if self.job.objects else self.job.ids(result)

    def _finish(self) -> None:
        assert self._spool is not None
        self._spool.execute("CREATE INDEX by_track ON shapes (track, place)")
        with self._staged[0].open("w", encoding="utf-8") as file:
            self._write_json(file, self._spool)
        self._staged.commit()

    def _write_json(self, file: TextIO, spool: sqlite3.Connection) -> None:
        video = {
            "id": _VIDEO,
            "width": self.job.shape[1],
            "height": self.job.shape[0],
            "length": len(self._names),
            "file_names": self._names,
        }
        file.write(f'{{"info": {{"description": "ScStream Studio"}}, "licenses": [], "videos": [{_json(video)}],\n')
        file.write(f'"categories": {_json(self._categories())},\n"annotations": [')
        rows = spool.execute("SELECT track, place, area, x, y, w, h, counts FROM shapes ORDER BY track, place")
        for place, (track, shapes) in enumerate(groupby(rows, itemgetter(0))):
            file.write(",\n" if place else "\n")
            self._write_track(file, place + 1, track, shapes)
        file.write("\n]}\n")

    def _write_track(self, file: TextIO, number: int, track: int, shapes: Iterable[tuple[Any, ...]]) -> None:
        length = len(self._names)
        areas: list[int | None] = [None] * length
        boxes: list[list[float] | None] = [None] * length
        file.write(f'{_json(self._track_fields(number, track))[:-1]}, "segmentations": [')
        done = 0
        for _, place, area, *box, counts in shapes:
            areas[place], boxes[place] = area, box
            shape = _json({"size": self.job.shape, "counts": counts.decode("ascii")})
            file.write((", " if done else "") + "null, " * (place - done) + shape)
            done = place + 1
        file.write(", null" * (length - done))
        file.write(f'], "areas": {_json(areas)}, "bboxes": {_json(boxes)}}}')

    def _track_fields(self, number: int, track: int) -> dict[str, Any]:
        height, width = self.job.shape
        names = {place: one.name for place, one in enumerate(self.job.objects)} or self.job.names
        return {
            "id": number,
            "video_id": _VIDEO,
            "category_id": track + 1 if self.job.objects else 1,
            "track_id": track,
            "name": names.get(track, f"segment {track}"),
            "iscrowd": 0,
            "height": height,
            "width": width,
        }

    def _categories(self) -> list[dict[str, Any]]:
        names = [one.name for one in self.job.objects] or ["segment"]
        return [{"id": place, "name": name, "supercategory": "object"} for place, name in enumerate(names, 1)]

    def _release(self) -> None:
        if self._spool is not None:
            atomic_files.close_quietly(self._spool)
        atomic_files.discard(self._spool_path)
        super()._release()


def segment_shapes(ids: IdMap) -> list[_Shape]:
    """The shape of every track in a frame (H, W), computed from one pass over the runs of equal ids."""
    height, width = ids.shape
    # COCO runs go down the columns and continue from the bottom of one column at the top of the next.
    flat = ids.ravel(order="F")
    begin = np.flatnonzero(np.concatenate([[True], flat[1:] != flat[:-1]]))
    end = np.append(begin[1:], flat.size)
    order = np.argsort(flat[begin], kind="stable")
    begin, end, owner = begin[order], end[order], flat[begin[order]]
    starts = np.flatnonzero(np.concatenate([[True], owner[1:] != owner[:-1]]))
    pieces = [
        (int(owner[a]), {"size": [height, width], "counts": _counts(begin[a:b], end[a:b], flat.size)})
        for a, b in zip(starts, np.append(starts[1:], len(owner)), strict=True)
        if owner[a] >= 0
    ]
    encoded = coco_mask.frPyObjects([piece for _, piece in pieces], height, width) if pieces else []
    return _shapes([id for id, _ in pieces], encoded)


def _counts(begin: npt.NDArray[np.intp], end: npt.NDArray[np.intp], size: int) -> npt.NDArray[np.uint32]:
    """Alternating lengths of runs outside and inside the mask; the first, outside, may be 0."""
    edges = np.empty(2 * len(begin) + 1, np.intp)
    edges[0], edges[1::2], edges[2::2] = 0, begin, end
    return np.diff(edges if end[-1] == size else np.append(edges, size)).astype(np.uint32)


def _shapes(tracks: list[int], encoded: list[dict[str, Any]]) -> list[_Shape]:
    shapes: list[_Shape] = []
    for start in range(0, len(tracks), _CHUNK):
        some = encoded[start : start + _CHUNK]
        areas, boxes = coco_mask.area(some).tolist(), coco_mask.toBbox(some).tolist()
        rows = zip(tracks[start : start + _CHUNK], areas, boxes, some, strict=True)
        shapes += [(track, area, *box, rle["counts"]) for track, area, box, rle in rows]
    return shapes


def _json(value: Any) -> str:
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
