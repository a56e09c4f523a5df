"""Pictures show what the ids say, and an id keeps its colour."""

import numpy as np
import pytest

from scstream_app import palette, render


@pytest.fixture
def scene():
    """A frame and an id map with gaps between the ids, a one-pixel segment and skewed sizes."""
    rng = np.random.default_rng(1)
    ids = np.repeat(np.repeat(rng.choice([0, 2, 3, 700], (6, 8), p=[0.7, 0.1, 0.1, 0.1]), 5, 0), 5, 1).astype(np.int32)
    ids[17, 23] = 41
    return rng.integers(0, 256, (*ids.shape, 3)).astype(np.uint8), ids


def test_mean_colour_is_the_mean_of_each_segment(scene):
    rgb, ids = scene
    out = render.mean_colour(rgb, ids)
    for id in np.unique(ids):
        np.testing.assert_allclose(
            out[ids == id], np.broadcast_to(rgb[ids == id].mean(0), out[ids == id].shape), atol=0.51
        )
    np.testing.assert_array_equal(out[17, 23], rgb[17, 23])


def test_overlay_lies_between_frame_and_colours(scene):
    rgb, ids = scene
    np.testing.assert_array_equal(render.overlay(rgb, ids, 0.0, borders=False), rgb)
    solid = render.overlay(rgb, ids, 1.0, borders=False)
    np.testing.assert_array_equal(solid, palette.colours(701)[ids])
    half = render.overlay(rgb, ids, 0.5, borders=False)
    assert np.abs(half - (rgb.astype(float) + solid) / 2).max() <= 1


def test_borders_are_dark_and_only_where_ids_change(scene):
    rgb, ids = scene
    plain, drawn = render.overlay(rgb, ids, borders=False), render.overlay(rgb, ids)
    border = np.zeros(ids.shape, bool)
    for y, x in np.ndindex(*ids.shape):
        right = x + 1 < ids.shape[1] and ids[y, x + 1] != ids[y, x]
        below = y + 1 < ids.shape[0] and ids[y + 1, x] != ids[y, x]
        border[y, x] = right or below
    np.testing.assert_array_equal(render.edges(ids), border)
    np.testing.assert_array_equal(drawn[~border], plain[~border])
    assert (drawn[border] <= 0.36 * plain[border] + 1).all()


def test_what_goes_in_is_left_alone(scene):
    rgb, ids = scene
    before = rgb.copy(), ids.copy()
    render.overlay(rgb, ids)
    render.mean_colour(rgb, ids)
    np.testing.assert_array_equal(rgb, before[0])
    np.testing.assert_array_equal(ids, before[1])


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (9, 1), (33, 17)])
def test_any_size_and_a_single_segment(shape):
    rgb, ids = np.full((*shape, 3), 77, np.uint8), np.full(shape, 5, np.int32)
    np.testing.assert_array_equal(render.mean_colour(rgb, ids), rgb)
    assert render.overlay(rgb, ids).shape == rgb.shape
    assert not render.edges(ids).any()


def test_colour_of_an_id_never_changes():
    many = palette.colours(5000)
    for n in (1, 2, 255, 256, 257, 1000):
        np.testing.assert_array_equal(palette.colours(n), many[:n])
    with pytest.raises(ValueError, match="read-only"):
        palette.colours(3)[0] = 0


def test_colours_can_be_told_apart():
    colours = palette.colours(60).astype(float)
    distance = np.linalg.norm(colours[:, None] - colours, axis=2)
    np.fill_diagonal(distance, np.inf)
    assert distance.min() > 15
    successive = np.linalg.norm(np.diff(palette.colours(1000).astype(float), axis=0), axis=1)
    assert successive.min() > 60
    assert palette.colours(1000).mean(axis=1).min() > 50
