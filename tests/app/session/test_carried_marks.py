"""Marks of segments go over to a run with other ids by the overlap of the segments."""

from __future__ import annotations

import numpy as np
import pytest

from scstream_app.objects import MarkedObject, ObjectEdit, mask_to_png
from scstream_app.session import Names
from scstream_app.session.carried_marks import divided_marks, match_marks, most_alike, segments_inside, with_matches
from scstream_app.session.run_summary import Life
from scstream_app.session.storage.branch_point import WaitingMarks

RED = (200, 0, 0)
#: The same picture in two runs: segment 5 of the old run is 8 and 9 in the new one, and 6 is 7.
OLD = np.array([[0, 5, 5, 6], [0, 5, 5, 6]], np.int32)
NEW = np.array([[0, 8, 9, 7], [0, 8, 9, 7]], np.int32)


def test_marks_before_the_frame_stay_and_later_ones_wait() -> None:
    names = Names({0: "sea", 5: "boat"}, {5: RED}, frozenset({0, 6}))
    kite = MarkedObject("kite", RED, (ObjectEdit("made", 2, {0}), ObjectEdit("added", 30, {5})))
    late = MarkedObject.made("late", RED, 20, {6})
    lives = {0: Life(0, 0), 5: Life(5, 20, died=31), 6: Life(6, 22)}
    kept, objects, waiting = divided_marks(names, (late, kite), lives, frame=20, last=40)
    assert kept == Names({0: "sea"}, {}, frozenset({0}))
    assert objects == (MarkedObject.made("kite", RED, 2, {0}),)
    assert waiting.names == Names({5: "boat"}, {5: RED}, frozenset({6}))
    assert waiting.frames == {5: 25, 6: 31}
    assert [(one.name, one.edits) for one in waiting.objects] == [
        ("late", (ObjectEdit("made", 20, {6}),)),
        ("kite", (ObjectEdit("added", 30, {5}),)),
    ]
    assert (waiting.first, waiting.order) == (20, ("late", "kite"))


def test_segments_are_found_by_overlap() -> None:
    waiting = WaitingMarks(
        Names({6: "kite"}, {5: RED}, frozenset({5})),
        {5: 3, 6: 3},
        (MarkedObject.made("boat", RED, 3, {5, 6}),),
        ("boat",),
    )
    found = match_marks(waiting, 4, lambda _frame: OLD, lambda _frame: NEW)
    assert found.names == Names({7: "kite"}, {8: RED, 9: RED}, frozenset({8, 9}))
    assert found.edits == (("boat", RED, ObjectEdit("made", 3, {7, 8, 9})),)
    assert not found.rest
    assert found.lost == ()


def test_marks_of_later_frames_wait_on() -> None:
    waiting = WaitingMarks(Names({6: "kite"}), {6: 9}, (MarkedObject.made("boat", RED, 3, {5}),), ("boat",))
    found = match_marks(waiting, 9, lambda _frame: OLD, lambda _frame: NEW)
    assert len(found.edits) == 1
    assert (found.rest.names, found.rest.frames, found.rest.objects) == (Names({6: "kite"}), {6: 9}, ())


def test_what_has_no_counterpart_is_named() -> None:
    everything = np.zeros((2, 4), np.int32)
    speck = np.array([[0, 0, 0, 5], [0, 0, 0, 0]], np.int32)
    waiting = WaitingMarks(Names({5: "bird"}), {5: 3}, (MarkedObject.made("boat", RED, 3, {5}),), ("boat",))
    found = match_marks(waiting, 4, lambda _frame: speck, lambda _frame: everything)
    assert found.lost == ("the marks of segment 5 ('bird')", "an edit of object 'boat' on frame 3")
    missing = match_marks(waiting, 4, lambda _frame: OLD, lambda _frame: None)
    assert len(missing.lost) == 2


def test_a_painted_mask_stays_as_it_is() -> None:
    mask = mask_to_png(NEW == 8)
    painted = MarkedObject("boat", RED, (ObjectEdit("painted", 3, {5}, mask),))
    found = match_marks(WaitingMarks(objects=(painted,)), 4, lambda _frame: OLD, lambda _frame: NEW)
    assert found.edits == (("boat", RED, ObjectEdit("painted", 3, {8}, mask)),)


def test_without_the_run_before_painted_masks_stay_and_others_are_named() -> None:
    mask = mask_to_png(NEW == 8)
    painted = MarkedObject("boat", RED, (ObjectEdit("painted", 3, {5}, mask), ObjectEdit("added", 3, {6})))
    waiting = WaitingMarks(Names({6: "kite"}), {6: 3}, (painted,), ("boat",))
    found = match_marks(waiting, 4, lambda _frame: None, lambda _frame: NEW)
    assert found.edits == (("boat", RED, ObjectEdit("painted", 3, {8}, mask)),)
    assert found.lost == ("the marks of segment 6 ('kite')", "an edit of object 'boat' on frame 3")


def test_added_marks_keep_the_order_and_what_the_user_did_meanwhile() -> None:
    waiting = WaitingMarks(Names({6: "kite"}, {6: RED}), {6: 3}, (MarkedObject.made("a", RED, 3, {5}),), ("a", "b"))
    found = match_marks(waiting, 4, lambda _frame: OLD, lambda _frame: NEW)
    mine = (MarkedObject.made("b", RED, 0, {0}), MarkedObject.made("new", RED, 0, {0}))
    names, objects = with_matches(Names({7: "mine"}), mine, found)
    assert names == Names({7: "mine"}, {7: RED})
    assert [one.name for one in objects] == ["a", "b", "new"]
    # The same marks again, as after a crash between two files.
    assert with_matches(names, objects, found) == (names, objects)


@pytest.mark.parametrize(
    ("region", "best", "inside"), [(OLD == 6, 7, {7}), (OLD == 5, 8, {8, 9}), (OLD == 1, None, set())]
)
def test_overlap(region: np.ndarray, best: int | None, inside: set[int]) -> None:
    assert most_alike(region, NEW) == best
    assert segments_inside(region, NEW) == inside
