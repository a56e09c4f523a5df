"""Tables of segments, events, tracks and objects, shared by the CSV and Parquet formats.

segments
    One row per frame and live segment: frame, time in seconds, id, name, pixels, mean red, green and blue from 0 to 1,
    centroid as row and column in pixels, and cov_11 to cov_55: the upper triangle of the covariance over the colour
    space's three channels (0 to about 1), row and column (in pixels).
events
    frame, time, kind, id (the segment that survived, was born or died), other (the segment split off or absorbed),
    log_hastings (of splits and merges), count, other_count (weighted numbers of pixels).
tracks
    track_id, frame, row, column: the data of a napari Tracks layer.
objects
    One row per frame and object, if there are objects: frame, time in seconds, object (its name), area in pixels,
    confidence from 0 to 1 (missing if it was not measured).
graph
    track_id, parent: the graph of the Tracks layer. The CSV format writes it as JSON, {track_id: [parent]}.

A missing number is null in Parquet; in CSV it is NaN in a column of floats and -1 in a column of integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from scstream import Event
from scstream_app.export.ancestry import closest_ancestor
from scstream_app.pipeline.frame_result import FrameResult

_UPPER = tuple((i, j) for i in range(5) for j in range(i, 5))

#: Columns and their types, one mapping per table.
SEGMENTS: Mapping[str, type] = {
    "frame": int,
    "time": float,
    "id": int,
    "name": str,
    "pixels": int,
    "red": float,
    "green": float,
    "blue": float,
    "row": float,
    "column": float,
    **{f"cov_{i + 1}{j + 1}": float for i, j in _UPPER},
}
EVENTS: Mapping[str, type] = {
    "frame": int,
    "time": float,
    "kind": str,
    "id": int,
    "other": int,
    "log_hastings": float,
    "count": float,
    "other_count": float,
}
TRACKS: Mapping[str, type] = {"track_id": int, "frame": int, "row": float, "column": float}
OBJECTS: Mapping[str, type] = {"frame": int, "time": float, "object": str, "area": int, "confidence": float}
GRAPH: Mapping[str, type] = {"track_id": int, "parent": int}

Row = tuple[Any, ...]


def segments(result: FrameResult, names: Mapping[int, str]) -> list[Row]:
    """Rows of the segments table for one frame."""
    rows = result.statistics
    ids = rows["id"].tolist()
    pixels = rows["pixels"].tolist()
    plain = [_as_stored(rows[name]) for name in ("red", "green", "blue", "row", "column")]
    spread = [_as_stored(rows["covariance"][:, i, j]) for i, j in _UPPER]
    return [
        (result.index, result.time, id, names.get(id, ""), *values)
        for id, *values in zip(ids, pixels, *plain, *spread, strict=True)
    ]


def _as_stored(values: npt.NDArray[np.float64]) -> list[float]:
    """Round to float32, the precision of a session, so that direct and later exports are identical."""
    rounded: list[float] = values.astype(np.float32).tolist()
    return rounded


def events(result: FrameResult) -> list[Row]:
    """Rows of the events table for one frame."""
    return [
        (
            result.index,
            result.time,
            str(event.kind),
            event.ids[0],
            event.ids[1] if len(event.ids) == 2 else None,
            None if np.isnan(event.log_hastings) else event.log_hastings,
            event.counts[0],
            event.counts[1] if len(event.counts) == 2 else None,
        )
        for event in result.events
    ]


def tracks(result: FrameResult) -> list[Row]:
    """Rows of the tracks table for one frame: the visible segments."""
    rows = result.statistics[result.statistics["pixels"] > 0]
    columns = rows["id"].tolist(), _as_stored(rows["row"]), _as_stored(rows["column"])
    return [(id, result.index, row, column) for id, row, column in zip(*columns, strict=True)]


def objects(result: FrameResult, names: Sequence[str]) -> list[Row]:
    """Rows of the objects table for one frame."""
    if result.objects is None:
        return []
    return [
        (result.index, result.time, name, area, None if np.isnan(confidence) else confidence)
        for name, area, confidence in zip(names, result.objects.areas, result.objects.confidences, strict=True)
    ]


class Lineage:
    """The splits of a clip, as the graph of a napari Tracks layer.

    The graph has no merges: the larger segment keeps its id, and a graph can only give the parent of a track that
    begins.
    """

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}
        self._seen: set[int] = set()

    def add(self, result: FrameResult) -> None:
        """Add the splits and the visible segments of a frame."""
        self.note((row[0] for row in tracks(result)), result.events)

    def note(self, visible: Iterable[int], events: Iterable[Event]) -> None:
        """Add the visible segments and the events of a frame."""
        self._seen.update(visible)
        for event in events:
            if event.kind == "split":
                self._parent[event.ids[1]] = event.ids[0]

    def graph(self) -> dict[int, list[int]]:
        """Map each track to its parents; all of them are in the tracks table."""
        parents = {id: closest_ancestor(id, self._parent, self._seen) for id in sorted(self._seen)}
        return {id: [parent] for id, parent in parents.items() if parent is not None}
