"""The tracker on drawn clips: what it follows, what edits do, and what ends an object."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from scstream import Event, metrics
from scstream.sampler.genealogy import Kind
from scstream_app.errors import InvalidData
from scstream_app.objects import MarkedObject, ObjectEdit, mask_to_png
from scstream_app.objects.tracker import ObjectTracker, track_objects
from scstream_app.objects.tracking.weights import Weights
from scstream_app.pipeline.frame_result import FrameResult, ObjectMasks

SHAPE = (96, 128)
SIDE = 24
RED, GREEN = (210, 60, 50), (70, 190, 90)
#: The share of an object's mask that must be right while nothing hides it.
GOOD = 0.85


def background(shift: int = 0) -> npt.NDArray[np.uint8]:
    """A grey texture, moved to the left by a number of pixels."""
    texture = np.random.default_rng(3).integers(70, 150, (SHAPE[0] // 4, 64), np.uint8).repeat(4, 0).repeat(4, 1)
    grey = texture[:, shift : shift + SHAPE[1]]
    return np.repeat(grey[..., None], 3, axis=2).copy()


def square(row: int, column: int, side: int = SIDE) -> npt.NDArray[np.bool_]:
    mask = np.zeros(SHAPE, bool)
    mask[max(row, 0) : max(row + side, 0), max(column, 0) : max(column + side, 0)] = True
    return mask


def result(
    index: int,
    parts: Sequence[tuple[npt.NDArray[np.bool_], tuple[int, int, int]]],
    *,
    ids: npt.NDArray[np.int32] | None = None,
    events: tuple[Event, ...] = (),
    cut: bool = False,
    shift: int = 0,
) -> FrameResult:
    """A frame with coloured parts on the background; by default part i is segment i + 1."""
    rgb, drawn = background(shift), np.zeros(SHAPE, np.int32)
    for place, (mask, colour) in enumerate(parts, 1):
        rgb[mask] = colour
        drawn[mask] = place
    return FrameResult(index, index / 25, rgb, drawn if ids is None else ids, events, np.empty(0), cut=cut)


def painted(frame: int, mask: npt.NDArray[np.bool_], stop: int | None = None) -> ObjectEdit:
    return ObjectEdit("painted", frame, frozenset(), mask_to_png(mask), stop)


def object_of(*edits: ObjectEdit, name: str = "thing") -> MarkedObject:
    return MarkedObject(name, (200, 0, 0), edits)


def tracked(objects: Sequence[MarkedObject], results: Sequence[FrameResult]) -> list[ObjectMasks]:
    with closing(ObjectTracker(objects)) as tracker:
        return [tracker.advance(one) for one in results]


def moving(n: int, step: int = 3, **options: object) -> tuple[list[npt.NDArray[np.bool_]], list[FrameResult]]:
    masks = [square(30, 10 + step * k) for k in range(n)]
    return masks, [result(k, [(mask, RED)], **options) for k, mask in enumerate(masks)]  # type: ignore[arg-type]


def test_follows_a_thing_that_segments_do_not_separate() -> None:
    everything = np.zeros(SHAPE, np.int32)
    masks, results = moving(20, ids=everything)
    found = tracked([object_of(painted(0, masks[0]))], results)
    assert [metrics.jaccard(one.mask(0), mask) > GOOD for one, mask in zip(found, masks, strict=True)] == [True] * 20


def test_follows_a_still_thing_before_a_moving_background() -> None:
    masks = [square(30, 50)] * 20
    results = [result(k, [(masks[k], RED)], shift=4 * k) for k in range(20)]
    found = tracked([object_of(painted(0, masks[0]))], results)
    assert metrics.jaccard(found[-1].mask(0), masks[-1]) > GOOD


def test_segments_that_leave_the_object_take_their_pixels_along() -> None:
    masks, results = moving(12)
    found = tracked([object_of(ObjectEdit("made", 0, frozenset({1})))], results)
    assert np.array_equal(found[0].mask(0), masks[0])
    assert metrics.jaccard(found[-1].mask(0), masks[-1]) > GOOD


def test_what_moves_along_beside_the_object_stays_outside() -> None:
    # Like spray beside a surfer: a segment that was not marked moves as fast, and a part of the object has its colour.
    masks = [square(20, 10 + 3 * k) for k in range(14)]
    results = []
    for k, mask in enumerate(masks):
        one = result(k, [(mask, RED), (square(20 + SIDE, 10 + 3 * k), GREEN)])
        one.picture[mask & square(37, 10 + 3 * k)] = GREEN
        results.append(one)
    found = tracked([object_of(painted(0, masks[0]))], results)
    assert metrics.jaccard(found[-1].mask(0), masks[-1]) > 0.8


def test_a_correction_changes_no_earlier_frame() -> None:
    _, results = moving(12)
    made = object_of(ObjectEdit("made", 0, frozenset({1})))
    elsewhere = square(5, 80)
    before = tracked([made], results)
    after = tracked([made.with_edits([*made.edits, painted(6, elsewhere)])], results)
    for first, second in zip(before[:6], after[:6], strict=True):
        assert np.array_equal(first.numbers, second.numbers)
        assert first.confidences == second.confidences
    assert np.array_equal(after[6].mask(0), elsewhere)
    assert after[6].confidences == (1.0,)


def test_added_and_removed_segments_count_from_their_frame_on() -> None:
    left, right = square(30, 10), square(30, 80)
    results = [result(k, [(left, RED), (right, GREEN)]) for k in range(12)]
    made = ObjectEdit("made", 0, frozenset({1}))
    found = tracked(
        [object_of(made, ObjectEdit("added", 4, frozenset({2})), ObjectEdit("removed", 8, frozenset({1})))], results
    )
    assert not found[3].mask(0)[right].any()
    assert np.array_equal(found[4].mask(0) & right, right)
    assert metrics.jaccard(found[7].mask(0), left | right) > GOOD
    assert metrics.jaccard(found[11].mask(0), right) > GOOD


def pair(n: int, *edits: ObjectEdit) -> tuple[list[FrameResult], list[ObjectMasks]]:
    """Two segments of one colour that move together, side by side, tracked from a painted mask of both."""
    results = [result(k, [(square(30, 10 + 2 * k), RED), (square(30, 34 + 2 * k), RED)]) for k in range(n)]
    return results, tracked([object_of(painted(0, results[0].ids > 0), *edits)], results)


def share_of(segment: int, results: Sequence[FrameResult], found: Sequence[ObjectMasks]) -> list[float]:
    """Share of a segment's pixels in the object, on each frame."""
    return [float(masks.mask(0)[one.ids == segment].mean()) for one, masks in zip(results, found, strict=True)]


def test_a_removed_segment_does_not_come_back() -> None:
    """Its motion and colours are still those of the object, but the user has said that it does not belong."""
    results, found = pair(20, ObjectEdit("removed", 5, frozenset({2})))
    second = share_of(2, results, found)
    assert min(second[:5]) > GOOD
    assert max(second[5:]) < 0.1
    assert min(share_of(1, results, found)) > 0.8


def test_an_added_segment_stays() -> None:
    """Nothing but the user's word makes a part of the still background belong to a moving object."""
    post = square(70, 120)
    results = [result(k, [(square(30, 10 + 2 * k), RED), (post, (110, 110, 110))]) for k in range(20)]
    found = tracked([object_of(painted(0, square(30, 10)), ObjectEdit("added", 5, frozenset({2})))], results)
    added = share_of(2, results, found)
    assert max(added[:5]) < 0.1
    assert min(added[5:]) > GOOD


def test_parts_of_a_removed_segment_stay_outside() -> None:
    results, _ = pair(16)
    divided = []
    for one in results:
        ids = one.ids.copy()
        ids[:42][ids[:42] == 2] = 3 if one.index >= 8 else 2
        split = (Event(Kind.SPLIT, 8.0, 8, (2, 3), 1.0, (300.0, 270.0)),) if one.index == 8 else ()
        divided.append(replace(one, ids=ids, events=split))
    edits = painted(0, results[0].ids > 0), ObjectEdit("removed", 5, frozenset({2}))
    found = tracked([object_of(*edits)], divided)
    assert max(share_of(3, divided[8:], found[8:])) < 0.1


def test_painting_a_removed_segment_takes_it_back() -> None:
    results, _ = pair(16)
    edits = ObjectEdit("removed", 4, frozenset({2})), painted(8, results[8].ids > 0)
    second = share_of(2, *pair(16, *edits))
    assert max(second[4:8]) < 0.1
    assert min(second[8:]) > GOOD


def test_painting_elsewhere_leaves_a_removed_segment_outside() -> None:
    results, _ = pair(16)
    edits = ObjectEdit("removed", 4, frozenset({2})), painted(8, results[8].ids == 1)
    assert max(share_of(2, *pair(16, *edits))[4:]) < 0.1


def test_an_edit_with_an_end_leaves_nothing_behind() -> None:
    _, results = moving(12)
    made = ObjectEdit("made", 0, frozenset({1}))
    plain = tracked([object_of(made)], results)
    ranged = tracked([object_of(made, painted(4, square(5, 80), stop=8))], results)
    assert np.array_equal(ranged[4].mask(0), square(5, 80))
    for first, second in zip(plain[8:], ranged[8:], strict=True):
        assert np.array_equal(first.numbers, second.numbers)


def test_a_pixel_belongs_to_one_object() -> None:
    left, right = square(30, 20), square(30, 44)
    results = [result(k, [(left, RED), (right, GREEN)]) for k in range(8)]
    both = square(30, 20, 2 * SIDE) & (left | right)
    objects = [object_of(painted(0, both), name="both"), object_of(ObjectEdit("made", 3, frozenset({2})), name="right")]
    found = tracked(objects, results)
    assert metrics.jaccard(found[2].mask(0), both) > GOOD
    assert np.array_equal(found[3].mask(1), right)
    assert not found[3].mask(0)[right].any()
    assert metrics.jaccard(found[7].mask(0), left) > GOOD
    assert metrics.jaccard(found[7].mask(1), right) > GOOD


def test_a_cut_ends_objects_until_the_next_edit() -> None:
    masks, results = moving(10)
    results[5] = result(5, [(masks[5], RED)], cut=True)
    made = ObjectEdit("made", 0, frozenset({1}))
    found = tracked([object_of(made, ObjectEdit("made", 8, frozenset({1})))], results)
    assert [one.areas[0] > 0 for one in found] == [True] * 5 + [False] * 3 + [True] * 2
    assert found[6].confidences == (0.0,)


def test_finds_a_hidden_thing_again() -> None:
    wall = np.zeros(SHAPE, bool)
    wall[:, 50:86] = True
    masks, results = [], []
    for k in range(28):
        mask = square(30, 10 + 3 * k) & ~wall
        masks.append(mask)
        results.append(result(k, [(mask, RED), (wall, (40, 60, 160))]))
    found = tracked([object_of(painted(0, masks[0]))], results)
    hidden = [k for k, mask in enumerate(masks) if not mask.any()]
    assert hidden
    assert all(found[k].areas[0] < 60 for k in hidden)
    assert metrics.jaccard(found[-1].mask(0), masks[-1]) > GOOD


def test_keeps_thin_lines() -> None:
    body, line = square(50, 40), np.zeros(SHAPE, bool)
    columns = np.arange(50, 120)
    line[55 - (columns - 50) // 2, columns] = True
    line[56 - (columns - 50) // 2, columns] = True
    results = []
    for k in range(10):
        both = np.roll(body | line, k, axis=1)
        one = result(k, [])
        # Flat surroundings, in which the line is a ridge.
        one.picture[:] = 120
        one.picture[both] = (30, 30, 30)
        results.append(one)
    found = tracked([object_of(painted(0, body | line))], results)
    last = np.roll(line, 9, axis=1) & ~np.roll(body, 9, axis=1)
    assert found[-1].mask(0)[last].mean() > 0.7


def test_less_clear_things_have_less_confidence() -> None:
    masks, clear = moving(10)
    faint = [result(k, [(mask, (112, 108, 108))], ids=np.zeros(SHAPE, np.int32)) for k, mask in enumerate(masks)]
    edits = painted(0, masks[0])
    sure, unsure = (tracked([object_of(edits)], results)[-1].confidences[0] for results in (clear, faint))
    assert 0.0 <= unsure < sure - 0.1
    assert sure <= 1.0


def test_a_copy_and_a_prepared_flow_give_the_same_masks() -> None:
    masks, results = moving(10)
    tracker = ObjectTracker([object_of(painted(0, masks[0]))])
    for one in results[:5]:
        tracker.advance(one)
    with closing(tracker.copy()) as twin:
        for one in results[5:]:
            twin.prepare(one.picture)
            expected, found = tracker.advance(one), twin.advance(one)
            assert np.array_equal(expected.numbers, found.numbers)
            assert expected.confidences == found.confidences


def test_a_copy_does_not_hold_its_frame() -> None:
    masks, results = moving(3)
    with closing(ObjectTracker([object_of(painted(0, masks[0]))])) as tracker:
        for one in results:
            tracker.advance(one)
        twin = tracker.copy()
    last = weakref.ref(one.ids)
    del one, results, tracker
    assert last() is None
    assert twin.first == 0


def test_every_source_of_evidence_counts() -> None:
    masks, results = moving(6, ids=np.zeros(SHAPE, np.int32))
    thing = [object_of(painted(0, masks[0]))]
    nothing = Weights(**dict.fromkeys(Weights.__dataclass_fields__, 0.0))
    with closing(ObjectTracker(thing, nothing)) as tracker:
        blind = [tracker.advance(one) for one in results]
    assert blind[-1].areas[0] == 0


@pytest.mark.parametrize("shape", [(1, 1), (3, 200), (11, 11)])
def test_tiny_pictures(shape: tuple[int, int]) -> None:
    results = [
        FrameResult(k, 0.0, np.full((*shape, 3), 90, np.uint8), np.zeros(shape, np.int32), (), np.empty(0))
        for k in range(3)
    ]
    found = tracked([object_of(painted(0, np.ones(shape, bool)))], results)
    assert found[-1].numbers.shape == shape


def test_the_object_may_fill_or_leave_the_frame() -> None:
    masks = [square(30, 10 - 4 * k) for k in range(12)]
    results = [result(k, [(mask, RED)]) for k, mask in enumerate(masks)]
    found = tracked([object_of(painted(0, masks[0]))], results)
    assert found[-1].areas[0] < 30
    filled = tracked([object_of(painted(0, np.ones(SHAPE, bool)))], results)
    assert filled[-1].areas[0] > 0.5 * masks[0].size


def test_results_carry_their_objects() -> None:
    masks, results = moving(3)
    found = list(track_objects((one for one in results), ObjectTracker([object_of(painted(1, masks[1]))])))
    assert [one.objects.areas[0] > 0 for one in found if one.objects is not None] == [False, True, True]


def test_a_mask_of_another_size_is_rejected() -> None:
    _, results = moving(1)
    with pytest.raises(InvalidData, match="128 x 96"):
        tracked([object_of(painted(0, np.ones((4, 4), bool)))], results)


def test_too_many_objects_are_rejected() -> None:
    with pytest.raises(InvalidData, match="255"):
        ObjectTracker(MarkedObject.made(f"thing {k}", (0, 0, 0), 0, {k}) for k in range(256))


def test_what_grows_beyond_where_it_is_sought_is_not_cut_off() -> None:
    """A bird spreads its wings; it is sought near where it was."""
    folded, spread = square(40, 8), np.zeros(SHAPE, bool)
    spread[40:64, 8:118] = True
    masks = [folded, folded, spread]
    found = tracked([object_of(painted(0, folded))], [result(k, [(mask, RED)]) for k, mask in enumerate(masks)])
    assert metrics.jaccard(found[2].mask(0), spread) > GOOD
