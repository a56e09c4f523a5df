"""Tracks as COCO run lengths, in the layout of YouTube-VIS: one annotation a track, null where it is absent."""

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

from scstream_app.export import files
from scstream_app.export.job import Job
from scstream_app.export.objects import Following
from scstream_app.export.writer import Single
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render import views
from scstream_app.render.image_types import IdMap

#: Track, area, bounding box (left, top, width, height), compressed counts.
_Shape = tuple[int, int, float, float, float, float, bytes]
_VIDEO = 1
_AT_ONCE = 200


class Coco(Single):
    """coco.json: a track is an id or, where objects are given, an object.

    Frames come one by one but the file goes track by track, so shapes wait in a database file: memory stays flat.
    """

    format = "coco"
    about = "Tracks as COCO RLE in one JSON file, in the layout of YouTube-VIS"

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job, "coco.json")
        self._following = Following(job.objects)
        self._names: list[str] = []
        self._spool_path = files.partial(folder / "coco.spool")
        self._spool: sqlite3.Connection | None = None
        if not self.kept:
            with self._opening():
                self._spool = _open(self._spool_path)

    def _write(self, result: FrameResult) -> None:
        assert self._spool is not None
        ids = self.job.ids(result)
        shapes = self._objects(result, ids) if self.job.objects else segment_shapes(ids)
        place = len(self._names)
        self._spool.executemany("INSERT INTO shapes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", ((place, *s) for s in shapes))
        self._names.append(f"{self.job.stem(result, 'frame')}.png")

    def _objects(self, result: FrameResult, ids: IdMap) -> list[_Shape]:
        masks = [(track, views.select(ids, thing.ids)) for track, thing in enumerate(self._following.at(result))]
        seen = [(track, coco_mask.encode(np.asfortranarray(mask))) for track, mask in masks if mask.any()]
        return _shapes([track for track, _ in seen], [rle for _, rle in seen])

    def _finish(self) -> None:
        assert self._spool is not None
        self._spool.execute("CREATE INDEX by_track ON shapes (track, place)")
        with self._staged[0].open("w", encoding="utf-8") as file:
            self._write_json(file, self._spool)
        self._staged.place()

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
        file.write(f'{_json(self._head(number, track))[:-1]}, "segmentations": [')
        done = 0
        for _, place, area, *box, counts in shapes:
            areas[place], boxes[place] = area, box
            shape = _json({"size": self.job.shape, "counts": counts.decode("ascii")})
            file.write((", " if done else "") + "null, " * (place - done) + shape)
            done = place + 1
        file.write(", null" * (length - done))
        file.write(f'], "areas": {_json(areas)}, "bboxes": {_json(boxes)}}}')

    def _head(self, number: int, track: int) -> dict[str, Any]:
        height, width = self.job.shape
        names = {place: thing.name for place, thing in enumerate(self.job.objects)} or self.job.names
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
        names = [thing.name for thing in self.job.objects] or ["segment"]
        return [{"id": place, "name": name, "supercategory": "object"} for place, name in enumerate(names, 1)]

    def _release(self) -> None:
        if self._spool is not None:
            files.close_quietly(self._spool)
        files.discard(self._spool_path)
        super()._release()


def segment_shapes(ids: IdMap) -> list[_Shape]:
    """The shape of every id in a frame (H, W), all from one pass over its runs."""
    height, width = ids.shape
    # Runs go down the columns, and on from the foot of one to the head of the next.
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
    """Lengths of runs in turn outside and inside, beginning outside, which may be nothing."""
    edges = np.empty(2 * len(begin) + 1, np.intp)
    edges[0], edges[1::2], edges[2::2] = 0, begin, end
    return np.diff(edges if end[-1] == size else np.append(edges, size)).astype(np.uint32)


def _shapes(tracks: list[int], encoded: list[dict[str, Any]]) -> list[_Shape]:
    shapes: list[_Shape] = []
    # The library counts what it measures in eight bits.
    for start in range(0, len(tracks), _AT_ONCE):
        some = encoded[start : start + _AT_ONCE]
        areas, boxes = coco_mask.area(some).tolist(), coco_mask.toBbox(some).tolist()
        rows = zip(tracks[start : start + _AT_ONCE], areas, boxes, some, strict=True)
        shapes += [(track, area, *box, rle["counts"]) for track, area, box, rle in rows]
    return shapes


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _open(path: Path) -> sqlite3.Connection:
    files.discard(path)
    # The connection is made in one thread and used in another, never in two at once.
    spool = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    # What a crash leaves is of no use to anyone: no need to make it safe.
    spool.execute("PRAGMA journal_mode = OFF")
    spool.execute("PRAGMA synchronous = OFF")
    spool.execute("CREATE TABLE shapes (place, track, area, x, y, w, h, counts)")
    return spool
