"""Labels for tracks that have no gaps and end before their children begin, as the Cell Tracking Challenge demands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from scstream_app.export.ancestry import closest_ancestor


@dataclass(slots=True)
class Track:
    """First and last frame of a label, and the label of its parent; 0 if it has none."""

    begin: int
    end: int
    parent: int


class ContiguousTracks:
    """Gives labels, numbered from 1, to the ids that are visible on consecutive frames.

    An id keeps its label while it is visible. It gets a new one, whose parent is its last label, when it returns after
    a gap, and when another id splits off from it: both parts then are children of the label that ends there. If the
    parent was not visible on an earlier frame, its closest ancestor that was takes its place.

    Examples
    --------
    >>> tracks = ContiguousTracks()
    >>> tracks.advance(0, [7], [])
    {7: 1}
    >>> tracks.advance(1, [7, 8], [(7, 8)])
    {7: 3, 8: 2}
    >>> tracks.tracks[2], tracks.tracks[3]
    (Track(begin=1, end=1, parent=1), Track(begin=1, end=1, parent=1))
    """

    def __init__(self) -> None:
        self.tracks: dict[int, Track] = {}
        self._labels: dict[int, int] = {}
        self._parents: dict[int, int] = {}
        self._visible: set[int] = set()
        self._frame = -1

    def advance(self, frame: int, visible: Iterable[int], splits: Iterable[tuple[int, int]]) -> dict[int, int]:
        """The label of every id on the next frame.

        Parameters
        ----------
        frame : int
            Number of the frame; larger than that of the last call. Missing numbers end all tracks.
        visible : iterable of int
            The ids on this frame.
        splits : iterable of (int, int)
            Ids that were divided on this frame, with the id that split off.
        """
        self._parents.update({new: kept for kept, new in splits})
        shown = set(visible)
        lasting = shown & self._visible if frame == self._frame + 1 else set()
        origins = {id: self._origin(id) for id in sorted(shown - lasting)}
        divided = {id: label for id in sorted(lasting) if (label := self._labels[id]) in set(origins.values())}
        for id, origin in {**origins, **divided}.items():
            self._labels[id] = len(self.tracks) + 1
            self.tracks[self._labels[id]] = Track(frame, frame, origin)
        for id in lasting - divided.keys():
            self.tracks[self._labels[id]].end = frame
        self._visible, self._frame = shown, frame
        return {id: self._labels[id] for id in sorted(shown)}

    def _origin(self, id: int) -> int:
        """The last label of the id or, if it has none, of its closest ancestor with a label; 0 if there is none."""
        known = id if id in self._labels else closest_ancestor(id, self._parents, self._labels)
        return 0 if known is None else self._labels[known]
