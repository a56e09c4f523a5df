"""Ancestors of segments: the closest one that is visible, also if the splits of a damaged session form a circle."""

from __future__ import annotations

import pytest

from scstream import Event, Kind
from scstream_app.export.contiguous_tracks import ContiguousTracks
from scstream_app.export.tables import Lineage


def split(kept: int, new: int) -> Event:
    return Event(Kind.SPLIT, time=0.0, batch=0, ids=(kept, new), log_hastings=0.0, counts=(1.0, 1.0))


def test_ancestors_without_a_track_are_passed_over() -> None:
    lineage = Lineage()
    lineage.note([3, 9], [split(3, 7), split(7, 9)])
    assert lineage.graph() == {9: [3]}
    tracks = ContiguousTracks()
    tracks.advance(0, [3], [])
    tracks.advance(1, [3, 9], [(3, 7), (7, 9)])
    assert {track.parent for track in tracks.tracks.values()} == {0, 1}


@pytest.mark.parametrize("circle", [[(7, 9), (8, 7), (7, 8)], [(7, 9), (9, 7)]])
def test_a_circle_has_no_visible_ancestor(circle: list[tuple[int, int]]) -> None:
    lineage = Lineage()
    lineage.note([9], [split(*pair) for pair in circle])
    assert lineage.graph() == {}
    assert ContiguousTracks().advance(0, [9], circle) == {9: 1}
