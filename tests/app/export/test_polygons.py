"""Outlines of masks, and the polygons that join them."""

import cv2
import numpy as np
import pytest
from scipy import ndimage

from helpers.label_maps import ragged
from scstream_app.export.polygons import join, track_parts

EVERYWHERE = np.ones((3, 3), int)


def filled(polygon, shape):
    mask = np.zeros(shape, np.uint8)
    cv2.fillPoly(mask, [polygon], 1)
    return mask.astype(bool)


@pytest.mark.parametrize("seed", range(4))
def test_parts_are_the_connected_ones(seed):
    ids = ragged(seed)
    found = dict(track_parts(ids))
    assert list(found) == np.unique(ids).tolist()
    for track, parts in found.items():
        pieces, count = ndimage.label(ids == track, EVERYWHERE)
        assert len(parts) == count
        for part in parts:
            left, top, mask = part.cut_out()
            whole = np.zeros(ids.shape, bool)
            whole[top : top + mask.shape[0], left : left + mask.shape[1]] = mask
            np.testing.assert_array_equal(whole, pieces == pieces[part.outline[0, 1], part.outline[0, 0]])
            outside = ndimage.label(~np.pad(whole, 1))[1]
            assert len(part.holes) == outside - 1
            np.testing.assert_array_equal(filled(join([part.outline, *part.holes]), ids.shape), whole)


def test_tracks_of_an_empty_frame():
    assert list(track_parts(np.full((4, 5), -1, np.int32))) == []


def test_outlines_of_pixels_and_lines_are_short():
    ids = np.full((6, 6), -1, np.int32)
    ids[0, 0], ids[2, 1:5], ids[5, 5] = 0, 1, 2
    assert [part.outline.tolist() for _, (part,) in track_parts(ids)] == [[[0, 0]], [[1, 2], [4, 2]], [[5, 5]]]


def test_a_single_outline_stays_as_it_is():
    square = np.array([[0, 0], [0, 3], [3, 3], [3, 0]], np.int32)
    np.testing.assert_array_equal(join([square]), square)


def squares(*corners, size=6):
    return [np.array([[x, y], [x, y + size], [x + size, y + size], [x + size, y]], np.int32) for x, y in corners]


def test_joined_outlines_hold_all_parts_and_a_bridge():
    parts = squares((2, 2), (20, 2))
    polygon = join(parts)
    expected = filled(parts[0], (12, 30)) | filled(parts[1], (12, 30))
    drawn = filled(polygon, (12, 30))
    assert drawn[expected].all()
    # The bridge is a row of the twelve pixels between the squares.
    assert (drawn & ~expected).sum() == 11
    assert (drawn & ~expected).any(axis=1).sum() == 1


def test_bridges_are_the_shortest_ones():
    """A chain of parts is joined from one to the next, in whatever order they come."""
    corners = [(0, 0), (10, 0), (20, 0), (30, 0)]
    for order in ([0, 1, 2, 3], [3, 0, 2, 1], [1, 3, 0, 2]):
        polygon = join(squares(*(corners[place] for place in order)))
        steps = np.abs(np.diff(np.vstack([polygon, polygon[:1]]), axis=0)).max(axis=1)
        assert steps.max() == 6
        # There and back over three bridges, and once around each square.
        assert len(polygon) == 4 * 4 + 3 * 2


@pytest.mark.parametrize("seed", range(4))
def test_joined_outlines_lose_no_pixel(seed):
    mask = np.random.default_rng(seed).random((20, 30)) < 0.2
    ((_, parts),) = track_parts(np.where(mask, 0, -1).astype(np.int32))
    assert filled(join([part.outline for part in parts]), mask.shape)[mask].all()


def test_large_outlines_are_joined_at_their_closest_points():
    angle = np.linspace(0.0, 2.0 * np.pi, 100, endpoint=False)
    circle = np.rint(np.column_stack([np.cos(angle), np.sin(angle)]) * 30).astype(np.int32)
    polygon = join([circle + 40, circle + np.array([120, 40], np.int32)])
    steps = np.abs(np.diff(polygon, axis=0)).sum(axis=1)
    assert sorted(steps.tolist())[-2:] == [20, 20]
