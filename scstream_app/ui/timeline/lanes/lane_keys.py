"""Keys in the lanes of objects: one for each edit, and where it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QLineF, QPointF

from scstream_app.objects import MarkedObject, ObjectEdit

#: Height of a lane, vertical centre of its keys, and half the size of a key, in pixels.
LANE, MIDDLE, HALF = 28, 12, 6
#: Distance of two keys of the same frame, in pixels.
BESIDE = 2 * HALF + 1
#: How far beside the bar at the end of a reach the mouse still finds it, in pixels.
_NEAR_END = 3.0


@dataclass(frozen=True, slots=True)
class Key:
    """An edit of an object, as a key in its lane.

    Parameters
    ----------
    lane : int
        Place of the object.
    number : int
        Place of the edit among those of its object.
    name : str
        Name of the object.
    edit : ObjectEdit
    turn, together : int
        Place among the edits of its frame, and their number: keys of one frame are side by side.
    """

    lane: int
    number: int
    name: str
    edit: ObjectEdit
    turn: int
    together: int

    def centre(self, x_of: Callable[[float], float]) -> QPointF:
        """Centre of the key; ``x_of`` gives the horizontal place of a frame."""
        return QPointF(x_of(self.edit.frame) + BESIDE * self.turn, LANE * self.lane + MIDDLE)

    def reach(self, x_of: Callable[[float], float]) -> QLineF | None:
        """Line from the key to its last frame; None if the edit holds on its frame alone, or to the end."""
        stop = self.edit.stop
        if stop is None or stop <= self.edit.frame + 1:
            return None
        centre = self.centre(x_of)
        return QLineF(centre, QPointF(x_of(stop - 1), centre.y()))


def keys_of(objects: Iterable[MarkedObject]) -> Iterator[Key]:
    """Yield the keys of all objects, lane by lane in the order of their frames."""
    for lane, one in enumerate(objects):
        together, turns = Counter(edit.frame for edit in one.edits), Counter[int]()
        for number, edit in enumerate(one.edits):
            yield Key(lane, number, one.name, edit, turns[edit.frame], together[edit.frame])
            turns[edit.frame] += 1


def key_at(keys: Sequence[Key], point: QPointF, x_of: Callable[[float], float]) -> Key | None:
    """The key at a point; of several, the one that is painted last."""
    for key in reversed(keys):
        off = key.centre(x_of) - point
        if abs(off.x()) <= HALF + 1 and abs(off.y()) <= HALF + 2:
            return key
    return None


def reach_at(keys: Sequence[Key], point: QPointF, x_of: Callable[[float], float]) -> Key | None:
    """The key whose reach is shown at a point; of several, the one that is painted last."""
    for key in reversed(keys):
        line = key.reach(x_of)
        if line is None or abs(line.y1() - point.y()) > HALF:
            continue
        if line.x1() <= point.x() <= line.x2() + _NEAR_END:
            return key
    return None
