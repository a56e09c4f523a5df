"""Paints a part of the lanes of objects, in the places that the timeline gives to frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from PySide6.QtCore import QPointF, QRect, QRectF
from PySide6.QtGui import QColor, QPainter, QPalette

from scstream_app.objects import MarkedObject
from scstream_app.ui.document.objects.object_confidence import ObjectCurve
from scstream_app.ui.timeline.lanes.lane_keys import HALF, LANE, MIDDLE, Key
from scstream_app.ui.timeline.lanes.object_lanes_painting import (
    LaneColours,
    lane_picture,
    paint_group,
    paint_hint,
    paint_key,
    paint_name,
    paint_picture,
    paint_reach,
    per_pixel,
)


class FramePlaces(Protocol):
    """Where frames are, in pixels."""

    def track(self) -> QRect: ...
    def x_of(self, index: float, /) -> float: ...


class DrawnLanes(Protocol):
    """What the painter needs of the lanes."""

    keys: list[Key]
    current: Key | None
    target: int | None
    highlight: str | None
    curves: list[ObjectCurve]

    @property
    def timeline(self) -> FramePlaces: ...
    @property
    def objects(self) -> Sequence[MarkedObject]: ...
    @property
    def head(self) -> float | None: ...
    def palette(self) -> QPalette: ...
    def hasFocus(self) -> bool: ...
    def height(self) -> int: ...
    def width(self) -> int: ...
    def devicePixelRatioF(self) -> float: ...


class LanesPainter:
    """Paints the lanes within a rectangle."""

    def __init__(self, lanes: DrawnLanes, painter: QPainter) -> None:
        self._lanes, self._painter = lanes, painter
        self._palette = lanes.palette()
        self._track = lanes.timeline.track()
        self._origin = lanes.timeline.x_of(0)
        self._step = lanes.timeline.x_of(1) - self._origin

    def _x_of(self, index: float) -> float:
        """Horizontal centre of a frame; asking the timeline for every key would take longer."""
        return self._origin + self._step * index

    def paint(self, rect: QRect) -> None:
        """Paint everything within ``rect``."""
        lanes, painter = self._lanes, self._painter
        painter.fillRect(rect, self._palette.color(QPalette.ColorRole.Window))
        if not lanes.objects:
            paint_hint(painter, self._track.left(), lanes.width(), self._palette)
        visible = range(max(rect.top() // LANE, 0), min(rect.bottom() // LANE + 1, len(lanes.objects)))
        for lane in visible:
            self._paint_curves(lane, rect)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if rect.left() < self._track.left():
            for lane in visible:
                one = lanes.objects[lane]
                box = QRectF(0.0, lane * LANE, self._track.left() - 4.0, LANE - 1.0)
                paint_name(painter, box, one.name, QColor(*one.colour), self._palette, one.name == lanes.highlight)
        # Keys of frames out of view must not cover the names.
        painter.setClipRect(rect & QRect(self._track.left() - HALF, 0, lanes.width(), lanes.height()))
        self._paint_keys(visible, rect)

    def paint_moving(self) -> None:
        """Paint what moves: the playhead, and a key that is being dragged."""
        lanes, painter = self._lanes, self._painter
        head = lanes.head
        if lanes.objects and head is not None and self._track.left() <= head <= self._track.right() + 1:
            text = self._palette.color(QPalette.ColorRole.WindowText)
            painter.fillRect(QRectF(head - 0.75, 0.0, 1.5, lanes.height()), text)
            # Through a minus, the line would make a plus of it.
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_keys(range(len(lanes.objects)), QRect(round(head), 0, 1, lanes.height()))
        if lanes.target is not None and lanes.current is not None:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setOpacity(0.7)
            lane = lanes.current.lane
            centre = QPointF(self._x_of(lanes.target), LANE * lane + MIDDLE)
            own = QColor(*lanes.objects[lane].colour)
            paint_key(painter, lanes.current.edit.kind, centre, own, self._palette, True)

    def _paint_curves(self, lane: int, rect: QRect) -> None:
        area = rect & self._track.adjusted(0, -self._track.top(), 0, self._lanes.height())
        if area.isEmpty():
            return
        ratio = self._lanes.devicePixelRatioF()
        edges = area.left() + np.arange(round(area.width() * ratio) + 1) / ratio
        curve = self._lanes.curves[lane]
        areas, confidences = per_pixel(curve, (edges - self._origin) / self._step + 0.5)
        colours = LaneColours.of(self._palette, QColor(*self._lanes.objects[lane].colour))
        peak = float(curve.areas.max()) if len(curve.areas) else 0.0
        picture = lane_picture(areas, confidences, peak, colours, ratio)
        paint_picture(self._painter, QRectF(area.left(), lane * LANE, area.width(), LANE), picture)

    def _paint_keys(self, visible: range, rect: QRect) -> None:
        lanes = self._lanes
        focused = lanes.current if lanes.hasFocus() else None
        for key in lanes.keys:
            if key.lane not in visible:
                continue
            centre, edit = key.centre(self._x_of), key.edit
            reach = key.reach(self._x_of)
            if reach is not None:
                paint_reach(self._painter, reach, self._palette)
            if key.turn == 0 and key.together > 1:
                paint_group(self._painter, centre, key.together, self._palette)
            if rect.left() - 2 * HALF <= centre.x() <= rect.right() + 2 * HALF:
                own = QColor(*lanes.objects[key.lane].colour)
                paint_key(self._painter, edit.kind, centre, own, self._palette, key is focused)
