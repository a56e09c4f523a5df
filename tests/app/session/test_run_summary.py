"""RunSummary: following ids along events, columns, and the cache of followed ids."""

from __future__ import annotations

import numpy as np
import pytest

from scstream import Event
from scstream.sampler.genealogy import Kind
from scstream_app.objects import MarkedObject, Membership, ObjectEdit, members_by_frame
from scstream_app.pipeline.edits import Edit
from scstream_app.session import FrameRecord
from scstream_app.session.run_summary import RunSummary


def noted(index: int, *events: Event, cut: bool = False, edits: tuple[Edit, ...] = ()) -> FrameRecord:
    return FrameRecord(index, index / 25, cut, 0.0, {"engine": float(index)}, events, 0, 0, 0, index, 0, edits)


def split(index: int, whole: int, part: int) -> Event:
    return Event(Kind.SPLIT, float(index), 1, (whole, part), 1.0, (5.0, 5.0))


def story(frames: int = 8) -> RunSummary:
    """Segment 0 splits off 1, 2, 3, ..., one per frame."""
    summary = RunSummary()
    summary.extend(noted(index, *([split(index, 0, index)] if index else [])) for index in range(frames))
    return summary


def test_following_continues_from_the_cached_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    summary, looked = story(), []
    events_between = summary.events_between
    monkeypatch.setattr(
        summary, "events_between", lambda after, last: looked.append((after, last)) or events_between(after, last)
    )
    for index in range(8):
        assert summary.followed({0}, 0, index) == set(range(index + 1))
    assert looked == [(0, 0), *((index, index + 1) for index in range(7))]


def test_following_in_any_order_gives_the_same_ids() -> None:
    summary = story()
    expected = {index: set(range(index + 1)) for index in range(8)}
    for index in (5, 2, 7, 0, 3):
        assert summary.followed({0}, 0, index) == expected[index]


def test_the_cache_does_not_go_beyond_the_last_frame() -> None:
    summary = story(4)
    assert summary.followed({0}, 0, 9) == {0, 1, 2, 3}
    summary.add(noted(4, split(4, 0, 4)))
    assert summary.followed({0}, 0, 9) == {0, 1, 2, 3, 4}


def test_nothing_is_followed_beyond_a_cut() -> None:
    summary = story(4)
    summary.add(noted(4, cut=True))
    assert summary.followed({0}, 0, 3) == {0, 1, 2, 3}
    assert summary.followed({0}, 0, 4) == set()
    assert summary.followed({7}, 4, 4) == {7}


def test_following_after_the_oldest_frames_are_forgotten() -> None:
    summary = story()
    assert summary.followed({0}, 3, 4) == {0, 4}
    summary.forget_before(4)
    assert summary.followed({0}, 4, 6) == {0, 5, 6}


# --- objects


EDITED = (
    MarkedObject("kite", (1, 2, 3), (ObjectEdit("made", 1, {0}), ObjectEdit("removed", 5, {3, 4}))),
    MarkedObject("sail", (1, 2, 3), (ObjectEdit("added", 3, {2}, stop=6), ObjectEdit("made", 7, {9}))),
)


def test_members_in_any_order_are_those_of_the_records() -> None:
    records = [noted(index, *([split(index, 0, index)] if index else []), cut=index == 6) for index in range(9)]
    expected = dict(members_by_frame(EDITED, records))
    summary = RunSummary()
    summary.extend(records)
    for index in (*range(9), 5, 2, 7, 0, 3, 8):
        assert summary.members(EDITED, index) == expected[index]


def test_members_of_a_frame_that_comes_are_not_kept() -> None:
    summary = story(4)
    early = (MarkedObject.made("kite", (1, 2, 3), 4, {0}),)
    assert summary.members(early, 3) == (set(),)
    assert summary.members(early, 4) == ({0},)
    assert summary.members(early, 5) == ({0},)
    summary.extend([noted(4, split(4, 0, 4)), noted(5, split(5, 0, 5))])
    assert summary.members(early, 4) == ({0},)
    assert summary.members(early, 5) == ({0, 5},)
    assert RunSummary().members(early, 4) == ({0},)


def test_members_go_on_from_the_cached_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    summary, advanced = story(), []
    advance = Membership.advance
    monkeypatch.setattr(
        Membership, "advance", lambda self, index, *rest: advanced.append(index) or advance(self, index, *rest)
    )
    for index in range(8):
        summary.members(EDITED, index)
    assert advanced == list(range(8))


def test_a_frame_long_past_is_not_followed_from_the_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    summary, looked = story(1000), []
    expected = [summary.members(EDITED, index) for index in (900, 870)]
    again = story(1000)
    assert again.members(EDITED, 999) == summary.members(EDITED, 999)
    events_between = again.events_between
    monkeypatch.setattr(
        again, "events_between", lambda after, last: looked.append(last - after) or events_between(after, last)
    )
    assert [again.members(EDITED, index) for index in (900, 870)] == expected
    assert sum(looked) <= 128


def test_frames_between_two_edits_are_followed_in_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    summary, advanced = story(), []
    advance = Membership.advance
    monkeypatch.setattr(
        Membership, "advance", lambda self, index, *rest: advanced.append(index) or advance(self, index, *rest)
    )
    assert summary.members(EDITED[:1], 7) == ({0, 2, 5, 6, 7},)
    assert advanced == [1, 5, 7]


def test_objects_at_a_frame_have_the_same_members_later() -> None:
    summary = story()
    expected = [summary.members(EDITED, index) for index in range(4, 8)]
    later = summary.objects_at(EDITED, 4)
    assert [object_.frame for object_ in later] == [4, 4]
    assert later[0].edits[-1] == EDITED[0].edits[-1]
    summary.forget_before(4)
    assert [summary.members(later, index) for index in range(4, 8)] == expected
    assert summary.objects_at(later, 4) == later


def test_single_values_and_ends_of_columns() -> None:
    summary = story()
    assert summary.value("segments", 3) == 3.0
    np.testing.assert_array_equal(summary.tail("engine", 5), [5.0, 6.0, 7.0])
    np.testing.assert_array_equal(summary.tail("engine", -2), [6.0, 7.0])
    assert len(summary.tail("engine", 8)) == 0


def test_the_colour_space_of_every_frame() -> None:
    summary = story(3)
    summary.add(noted(3, edits=(Edit("restart", values={"colour": "lab"}),)))
    summary.add(noted(4))
    summary.add(noted(5, edits=(Edit("restart", values={"colour": "rgb"}), Edit("lock", (1,)))))
    colours = [summary.colour(index, "rgb") for index in range(6)]
    assert colours == ["rgb", "rgb", "rgb", "lab", "lab", "rgb"]
    summary.forget_before(4)
    assert [summary.colour(index, "rgb") for index in (4, 5)] == ["lab", "rgb"]
