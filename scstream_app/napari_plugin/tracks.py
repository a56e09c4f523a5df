"""Tracks of segments and their genealogy as a layer of napari."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from scstream import Event
from scstream_app.export.tables import Lineage
from scstream_app.napari_plugin.colours import track_colours
from scstream_app.render.palette import Colouring

LayerData = tuple[Any, dict[str, Any], str]


class TrackCollector:
    """Collects where each segment is on each frame, and what it split from.

    Examples
    --------
    >>> collector = TrackCollector()
    >>> rows = np.array([(4, 60, 1.0, 2.0)], [("id", int), ("pixels", int), ("row", float), ("column", float)])
    >>> collector.add(0, rows, ())
    >>> collector.add(1, rows, ())
    >>> collector.features({4: "kite"})["name"].tolist(), collector.points().tolist()
    (['kite'], [[5.0, 0.0, 1.0, 2.0], [5.0, 1.0, 1.0, 2.0]])
    """

    def __init__(self) -> None:
        self._points: list[npt.NDArray[np.float64]] = []
        self._lineage = Lineage()

    def add(self, position: int, statistics: npt.NDArray[np.void], events: Iterable[Event]) -> None:
        """Add the visible segments of the frame at a position of the layer."""
        rows = statistics[statistics["pixels"] > 0]
        frame = np.full(len(rows), position)
        self._points.append(np.column_stack([rows["id"] + 1, frame, rows["row"], rows["column"]]))
        self._lineage.note(rows["id"].tolist(), events)

    def points(self) -> npt.NDArray[np.float64]:
        """Label, frame, row and column of each segment on each frame, sorted by label."""
        points = np.concatenate([np.zeros((0, 4)), *self._points])
        return np.asarray(points[np.lexsort((points[:, 1], points[:, 0]))])

    def features(self, names: Mapping[int, str]) -> dict[str, npt.NDArray[Any]]:
        """One row per segment: its label, id, name, first and last frame."""
        points = self.points()
        labels, first, count = np.unique(points[:, 0].astype(int), return_index=True, return_counts=True)
        frames = points[:, 1].astype(int)
        # napari shows no property that is None.
        name = np.array([names.get(label - 1) for label in labels.tolist()], object)
        last = frames[first + count - 1]
        return {"index": labels, "id": labels - 1, "name": name, "first frame": frames[first], "last frame": last}

    def layer(self, colouring: Colouring, options: Mapping[str, Any]) -> LayerData | None:
        """Layer with these options of all tracks, in the colours of their segments; None if there are none."""
        points = self.points()
        if not len(points):
            return None
        labels = points[:, 0].astype(int)
        graph = {id + 1: [parent + 1 for parent in parents] for id, parents in self._lineage.graph().items()}
        place, colormap = track_colours(colouring, labels)
        own = {
            "features": {"id": labels - 1, "segment colour": place},
            "graph": graph,
            "color_by": "segment colour",
            "colormaps_dict": {"segment colour": colormap},
        }
        return points, {**options, **own}, "tracks"
