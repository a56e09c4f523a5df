"""Straight lines of objects on drawn pictures: found as wholes, through noise and gaps, and gone when they are gone."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from scstream import metrics
from scstream_app.objects.tracking.flow import Motion
from scstream_app.objects.tracking.straight_lines import StraightLine, advance_lines, find_lines, lines_mask
from scstream_app.objects.tracking.thin_parts import ThinParts
from scstream_app.objects.tracking.working_frame import ReducedPicture

SHAPE = (240, 320)
RATIO = 2.0
#: Height of the drawn ridges, of their noise, and the height from which single pixels count.
HEIGHT, NOISE, THRESHOLD = 12.0, 8.0, 12.0

Lines = tuple[StraightLine, ...]


def ends(*numbers: float) -> npt.NDArray[np.float64]:
    return np.array(numbers).reshape(2, 2)


def ridges(line: npt.NDArray[np.float64] | None, seed: int = 0) -> npt.NDArray[np.float32]:
    """Noise with a ridge of about two pixels along a line."""
    heights = np.zeros(SHAPE, np.float32)
    if line is not None:
        cv2.line(heights, *np.round(line).astype(int).tolist(), HEIGHT, 2)
    return heights + np.abs(np.random.default_rng(seed).normal(0.0, NOISE, SHAPE)).astype(np.float32)


def test_the_pixels_of_a_line_are_those_within_half_its_width() -> None:
    line = StraightLine(ends(30, 40, 200, 170), 5.0)
    mask = lines_mask([line], SHAPE)
    filled = np.zeros(SHAPE, np.uint8)
    cv2.line(filled, (30, 40), (200, 170), 1, 1)
    distance = cv2.distanceTransform(1 - filled, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    inner = np.zeros(SHAPE, bool)
    # Beside the line, not around its ends.
    inner[60:150] = True
    assert mask[inner & (distance < 1.5)].all()
    assert not mask[distance > 3.5].any()
    assert mask.sum() == pytest.approx(5.0 * np.hypot(170, 130), rel=0.05)


def test_finds_every_line_of_a_mask_once() -> None:
    mask = np.zeros(SHAPE, np.uint8)
    true = [ends(10, 20, 300, 60), ends(20, 200, 300, 100)]
    for line in true:
        cv2.line(mask, *line.astype(int).tolist(), 1, 3)
    found = sorted(find_lines(mask > 0, RATIO), key=lambda line: float(line.ends[0, 1]))
    assert len(found) == 2
    assert metrics.jaccard(lines_mask(found, SHAPE), mask > 0) > 0.8
    for line, expected in zip(found, true, strict=True):
        assert np.abs(line.ends - expected).max() < 4.0


def test_round_and_short_things_are_no_lines() -> None:
    mask = np.zeros(SHAPE, np.uint8)
    cv2.circle(mask, (100, 100), 20, 1, 2)
    cv2.line(mask, (200, 50), (230, 60), 1, 2)
    assert find_lines(mask > 0, RATIO) == ()


def advanced(lines: Sequence[StraightLine], heights: npt.NDArray[np.float32], *shift: float) -> Lines:
    return advance_lines(lines, heights.__getitem__, SHAPE, np.array(shift or (0.0, 0.0)), THRESHOLD, RATIO)


def across(line: StraightLine, true: npt.NDArray[np.float64]) -> float:
    """Largest distance of a line's ends from the true line."""
    along = true[1] - true[0]
    normal = np.array([-along[1], along[0]]) / np.hypot(*along)
    return float(np.abs((line.ends - true[0]) @ normal).max())


def test_follows_lines_that_are_as_faint_as_the_noise() -> None:
    true = [ends(40, 60, 260, 150), ends(30, 200, 280, 190)]
    lines: Lines = tuple(StraightLine(line, 2.0) for line in true)
    for frame in range(30):
        true = [line + (ends(0.5, 1.5, 0.5, 1.5) if frame % 2 else ends(0.0, -1.0, 0.0, 1.0)) for line in true]
        heights = np.maximum(ridges(true[0], frame), ridges(true[1], frame))
        lines = advanced(lines, heights)
    assert len(lines) == 2
    # Along itself a line is not seen to move.
    assert max(map(across, lines, true)) < 2.0


def test_moves_with_the_object_while_it_is_hidden_and_is_gone_in_the_end() -> None:
    lines: Lines = (StraightLine(ends(40, 60, 260, 150), 2.0),)
    nothing = np.zeros(SHAPE, np.float32)
    for step in (1, 2):
        lines = advanced(lines, nothing, 3.0, 0.0)
        assert np.array_equal(lines[0].ends, ends(40 + 3 * step, 60, 260 + 3 * step, 150))
    assert advanced(lines, nothing, 3.0, 0.0) == ()


def test_is_found_again_after_a_moment() -> None:
    true = ends(40, 60, 260, 150)
    lines: Lines = (StraightLine(true, 2.0),)
    for seen in (False, True, False, True, False):
        lines = advanced(lines, ridges(true) if seen else np.zeros(SHAPE, np.float32))
    assert across(lines[0], true) < 2.0


def test_a_line_of_the_frames_edge_still_ends_there() -> None:
    lines: Lines = (StraightLine(ends(0, 100, 200, 150), 2.0),)
    for step in range(1, 11):
        # The thing walks away from the edge; more of the line comes into the frame.
        lines = advanced(lines, ridges(ends(0, 100, 200 + 4 * step, 150 + step)), 4.0, 1.0)
    assert lines[0].ends[0, 0] == 0.0
    assert lines[0].ends[1, 0] == pytest.approx(240.0, abs=3.0)


def test_noise_is_not_taken_for_a_line() -> None:
    lines: Lines = (StraightLine(ends(40, 60, 260, 150), 2.0),)
    for frame in range(8):
        lines = advanced(lines, ridges(None, frame))
    assert lines == ()


@pytest.mark.parametrize("row", [1.0, 4.0, 236.0])
def test_a_line_along_the_frames_edge_does_not_grow(row: float) -> None:
    true = ends(100, row, 220, row)
    lines: Lines = (StraightLine(true, 2.0),)
    for frame in range(5):
        lines = advanced(lines, ridges(true, frame))
    assert np.abs(lines[0].ends[:, 0] - true[:, 0]).max() < 4.0


def test_a_line_that_left_the_frame_is_gone() -> None:
    line = StraightLine(ends(250, 40, 310, 200), 2.0)
    assert advanced([line], np.zeros(SHAPE, np.float32), 60.0, 0.0) == ()
    assert advanced([], np.zeros(SHAPE, np.float32)) == ()


def test_thin_parts_that_bend_are_kept_beside_straight_ones() -> None:
    luminance = np.full(SHAPE, 150, np.uint8)
    mask = np.zeros(SHAPE, np.uint8)
    cv2.line(mask, (10, 20), (300, 60), 1, 2)
    cv2.ellipse(mask, (150, 170), (60, 40), 0, 0, 360, 1, 2)
    luminance[mask > 0] = 60
    picture = ReducedPicture.of(cv2.cvtColor(luminance, cv2.COLOR_GRAY2RGB))
    thin = ThinParts.of(mask > 0, picture, RATIO)
    assert thin is not None
    assert len(thin.lines) == 1
    assert thin.pieces[110:].any()
    assert not thin.pieces[:80].any()
    reduced = SHAPE[0] // 2, SHAPE[1] // 2
    still = Motion(np.zeros(reduced, np.uint8), np.zeros((*reduced, 2), np.float32))
    found = thin.advance(np.zeros(reduced, bool), picture, still)
    assert (found.mask & (mask > 0)).sum() > 0.9 * mask.sum()
    assert (found.mask & (mask == 0)).sum() < 0.1 * mask.sum()
