"""States of the tracker: going on from them equals tracking from the beginning, whatever later edits are."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.object_clips import painted, square_at, unseparated
from scstream_app.objects import MarkedObject, ObjectEdit, mask_to_png
from scstream_app.objects.tracker import ObjectTracker
from scstream_app.objects.tracker_states import TrackerStates

RESULTS = unseparated(14)
KITE = painted("kite", 1)
LOW = mask_to_png(square_at(8, row=30))


def edited(*edits: ObjectEdit) -> MarkedObject:
    return KITE.with_edits([*KITE.edits, *edits])


@pytest.mark.parametrize(
    "later",
    [
        (KITE,),
        (edited(ObjectEdit("painted", 8, frozenset(), LOW)),),
        (edited(ObjectEdit("painted", 8, frozenset(), LOW, stop=11)),),
        (edited(ObjectEdit("painted", 8, frozenset(), LOW)), painted("board", 9)),
        (KITE, painted("board", 12)),
    ],
    ids=["same", "edit", "edit with an end", "edit and object", "object"],
)
def test_going_on_with_other_later_edits_equals_starting_with_them(later: tuple[MarkedObject, ...]) -> None:
    states, begun = TrackerStates(), ObjectTracker([edited(ObjectEdit("added", 7, frozenset({0}), stop=9))])
    for one in RESULTS[:6]:
        begun.advance(one)
    states.keep(5, begun)
    found = states.latest(later, 14)
    assert found is not None
    frame, tracker = found
    whole = ObjectTracker(later)
    expected = [whole.advance(one) for one in RESULTS]
    assert frame == 5
    for one, masks in zip(RESULTS[6:], expected[6:], strict=True):
        again = tracker.advance(one)
        np.testing.assert_array_equal(again.numbers, masks.numbers)
        assert again.confidences == masks.confidences


def test_a_state_holds_only_for_the_edits_that_led_to_it() -> None:
    temporary = KITE.with_edits([ObjectEdit("painted", 1, frozenset(), KITE.edits[0].mask, stop=9)])
    states = TrackerStates()
    states.keep(5, ObjectTracker([KITE]))
    assert states.latest([painted("kite", 2)], 9) is None
    assert states.latest([KITE, painted("board", 5)], 9) is None
    # The masks of frame 5 are the same, but what follows is not.
    assert states.latest([temporary], 9) is None
    assert states.latest([KITE], 5) is None
    states.drop_unusable([temporary])
    assert states.latest([KITE], 9) is None


def test_the_number_of_states_is_limited() -> None:
    states = TrackerStates(most=8)
    for index in range(1, 101):
        states.keep(index, ObjectTracker([KITE]))
    left = [index for index in range(1, 101) if (states.latest([KITE], index + 1) or (0, None))[0] == index]
    assert len(left) <= 8
    assert left[-1] == 100
    for index in range(200, 220):
        states.note(index, ObjectTracker([KITE]))
    found = states.latest([KITE], 200)
    assert found is not None
    assert found[0] == 100
