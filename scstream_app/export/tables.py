"""Rows about frames, as CSV and Parquet both hold them.

segments
    One row per frame and live segment: frame, time in seconds, id, name, pixels, mean red, green and blue from 0 to 1,
    centroid as row and column in pixels, and cov_11 to cov_55: the upper triangle of the covariance over the colour
    space's three channels, row / height and column / width.
events
    frame, time, kind, id (who lives on, was born or died), other (split off or absorbed, else empty),
    log_hastings (of splits and merges), count, other_count (pixels by weight).
tracks
    track_id, frame, row, column: the data of a napari Tracks layer.
graph
    track_id, parent: the layer's graph. Beside CSV it is a JSON file, {track_id: [parent]}, as napari takes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from scstream_app.pipeline.frame_result import FrameResult

_UPPER = tuple((i, j) for i in range(5) for j in range(i, 5))

#: Column -> type, table by table.
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
GRAPH: Mapping[str, type] = {"track_id": int, "parent": int}

Row = tuple[Any, ...]


def segments(result: FrameResult, names: Mapping[int, str]) -> list[Row]:
    """The frame's rows of the table of segments."""
    rows = result.statistics
    ids = rows["id"].tolist()
    pixels = rows["pixels"].tolist()
    plain = [_short(rows[name]) for name in ("red", "green", "blue", "row", "column")]
    spread = [_short(rows["covariance"][:, i, j]) for i, j in _UPPER]
    return [
        (result.index, result.time, id, names.get(id, ""), *values)
        for id, *values in zip(ids, pixels, *plain, *spread, strict=True)
    ]


def _short(values: npt.NDArray[np.float64]) -> list[float]:
    """To seven digits, as a session keeps them: a table is the same written at once or from the session."""
    rounded: list[float] = values.astype(np.float32).tolist()
    return rounded


def events(result: FrameResult) -> list[Row]:
    """The frame's rows of the table of events."""
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
    """The frame's rows of the table of tracks: segments that are to be seen."""
    rows = result.statistics[result.statistics["pixels"] > 0]
    columns = rows["id"].tolist(), _short(rows["row"]), _short(rows["column"])
    return [(id, result.index, row, column) for id, row, column in zip(*columns, strict=True)]


class Lineage:
    """Who was split from whom, as the graph of a napari Tracks layer.

    Merges are left out: there the larger segment lives on under its own id, and a graph can only say where a track
    comes from when it begins.
    """

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}
        self._seen: set[int] = set()

    def add(self, result: FrameResult) -> None:
        """Take note of a frame."""
        self._seen.update(row[0] for row in tracks(result))
        for event in result.events:
            if event.kind == "split":
                self._parent[event.ids[1]] = event.ids[0]

    def graph(self) -> dict[int, list[int]]:
        """Track -> the tracks it comes from; all of them are in the table of tracks."""
        parents = {id: self._nearest_above(id) for id in sorted(self._seen)}
        return {id: [parent] for id, parent in parents.items() if parent is not None}

    def _nearest_above(self, id: int) -> int | None:
        # A segment may come and go within one frame and have no track of its own.
        above = self._parent.get(id)
        while above is not None and above not in self._seen:
            above = self._parent.get(above)
        return above
