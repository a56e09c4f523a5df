"""A place for a label over a picture, away from the mouse and from other labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from PySide6.QtCore import QPointF, QRect

#: Logical pixels around the mouse where one is at work.
_CLEAR = 96.0


def clearest(places: Sequence[QRect], mouse: QPointF | None, others: Iterable[QRect] = ()) -> QRect:
    """The first place that is free of others and not near the mouse; if there is none, the best one.

    >>> lower, upper = QRect(0, 200, 50, 20), QRect(0, 0, 50, 20)
    >>> clearest((lower, upper), QPointF(300, 210)).top(), clearest((lower, upper), QPointF(60, 190)).top()
    (200, 0)
    """
    taken = list(others)

    def merit(place: QRect) -> tuple[bool, float]:
        room = _CLEAR if mouse is None else min(_distance(place, mouse), _CLEAR)
        return not any(place.intersects(other) for other in taken), room

    return max(places, key=merit)


def _distance(place: QRect, point: QPointF) -> float:
    """Distance of a point from a rectangle, 0 inside."""
    across = max(place.left() - point.x(), point.x() - place.right(), 0.0)
    down = max(place.top() - point.y(), point.y() - place.bottom(), 0.0)
    return math.hypot(across, down)
