"""Area and confidence along a clip, as masks are stored, found valid, or replaced by other edits."""

from __future__ import annotations

import numpy as np
import pytest

from scstream_app.objects import MarkedObject
from scstream_app.pipeline.frame_result import ObjectMasks
from scstream_app.session.objects.object_curves import CurveLog


def objects(count: int) -> list[MarkedObject]:
    return [MarkedObject.made(f"object {n}", (1, 2, 3), 0, {n}) for n in range(count)]


@pytest.mark.parametrize("count", [1, 3, 20])
def test_each_object_has_its_own_area(count: int) -> None:
    numbers = np.random.default_rng(1).integers(0, count + 1, (30, 40), np.uint8)
    log = CurveLog()
    log.put(7, ObjectMasks(numbers, (0.25,) * count))
    curves = log.curves(objects(count))
    assert curves.frames.tolist() == [7]
    assert curves.areas.tolist() == [[float((numbers == n + 1).sum()) for n in range(count)]]
    assert curves.confidences.tolist() == [[0.25] * count]


def test_frames_that_are_not_valid_are_left_out_and_come_back() -> None:
    log = CurveLog()
    for index in (0, 1, 5):
        log.put(index, ObjectMasks(np.full((2, 2), 1, np.uint8), (index / 10,)))
    log.mark(1, False)
    log.mark(9, False)
    before = log.curves(objects(1))
    assert before.frames.tolist() == [0, 5]
    log.mark(1, True)
    assert log.curves(objects(1)).confidences.ravel().tolist() == pytest.approx([0.0, 0.1, 0.5])
    assert before.frames.tolist() == [0, 5]


def test_an_object_that_is_added_later_has_no_pixels_before() -> None:
    log = CurveLog()
    log.put(0, ObjectMasks(np.full((2, 2), 1, np.uint8), (1.0,)))
    assert log.curves(objects(2)).areas.tolist() == [[4.0, 0.0]]
    log.put(1, ObjectMasks(np.full((2, 2), 2, np.uint8), (0.5, 1.0)))
    assert log.curves(objects(2)).areas.tolist() == [[4.0, 0.0], [0.0, 4.0]]
    assert log.curves(objects(1)).areas.tolist() == [[4.0], [0.0]]
