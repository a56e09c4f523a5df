"""Views draw the ids, uncertainty and objects of a frame correctly."""

import numpy as np
import pytest

from scstream_app.render import palette, views
from scstream_app.render.palette import Colouring

SHAPES = [(1, 1), (1, 7), (9, 1), (4, 4), (33, 17)]


@pytest.fixture
def scene():
    """A frame and an id map with gaps between the ids, a one-pixel segment and skewed sizes."""
    rng = np.random.default_rng(1)
    ids = np.repeat(np.repeat(rng.choice([0, 2, 3, 700], (6, 8), p=[0.7, 0.1, 0.1, 0.1]), 5, 0), 5, 1).astype(np.int32)
    ids[17, 23] = 41
    return rng.integers(0, 256, (*ids.shape, 3)).astype(np.uint8), ids


def luminance(rgb):
    return rgb @ np.array([0.299, 0.587, 0.114])


# --- mean colour


def test_mean_colour_is_the_mean_of_each_segment(scene):
    rgb, ids = scene
    out = views.mean_colour(rgb, ids)
    for id in np.unique(ids):
        np.testing.assert_allclose(
            out[ids == id], np.broadcast_to(rgb[ids == id].mean(0), out[ids == id].shape), atol=0.51
        )
    np.testing.assert_array_equal(out[17, 23], rgb[17, 23])


def test_mean_colour_stays_exact_on_large_segments():
    rgb = np.random.default_rng(0).integers(0, 256, (1200, 1700, 3)).astype(np.uint8)
    expected = np.rint(rgb.reshape(-1, 3).mean(axis=0))
    assert (views.mean_colour(rgb, np.full(rgb.shape[:2], 3, np.int32)) == expected).all()


# --- overlay


def test_overlay_lies_between_frame_and_colours(scene):
    rgb, ids = scene
    np.testing.assert_array_equal(views.overlay(rgb, ids, 0.0, borders=False), rgb)
    solid = views.overlay(rgb, ids, 1.0, borders=False)
    np.testing.assert_array_equal(solid, palette.colours(701)[ids])
    half = views.overlay(rgb, ids, 0.5, borders=False)
    assert np.abs(half - (rgb.astype(float) + solid) / 2).max() <= 1


def test_borders_are_dark_and_only_where_ids_change(scene):
    rgb, ids = scene
    plain, drawn = views.overlay(rgb, ids, borders=False), views.overlay(rgb, ids)
    border = np.zeros(ids.shape, bool)
    for y, x in np.ndindex(*ids.shape):
        right = x + 1 < ids.shape[1] and ids[y, x + 1] != ids[y, x]
        below = y + 1 < ids.shape[0] and ids[y + 1, x] != ids[y, x]
        border[y, x] = right or below
    np.testing.assert_array_equal(views.edges(ids), border)
    np.testing.assert_array_equal(drawn[~border], plain[~border])
    assert (drawn[border] <= 0.36 * plain[border] + 1).all()


def test_palette_and_custom_colours_are_used(scene):
    rgb, ids = scene
    colouring = Colouring("safe", own={3: (250, 1, 2)})
    solid = views.overlay(rgb, ids, 1.0, borders=False, colouring=colouring)
    np.testing.assert_array_equal(solid[ids != 3], palette.colours(701, "safe")[ids[ids != 3]])
    assert (solid[ids == 3] == (250, 1, 2)).all()


def test_hidden_segments_show_the_frame(scene):
    rgb, ids = scene
    hidden = np.isin(ids, [0, 41])
    out = views.overlay(rgb, ids, 1.0, borders=False, colouring=Colouring(hidden=frozenset({0, 41, 9999})))
    np.testing.assert_array_equal(out[hidden], rgb[hidden])
    np.testing.assert_array_equal(out[~hidden], palette.colours(701)[ids[~hidden]])


def test_no_border_between_hidden_segments(scene):
    rgb, ids = scene
    everything = Colouring(hidden=frozenset(np.unique(ids).tolist()))
    np.testing.assert_array_equal(views.overlay(rgb, ids, colouring=everything), rgb)


def test_pixels_without_a_segment_are_not_tinted(scene):
    rgb, ids = scene
    none = ids == 700
    ids = np.where(none, np.int32(-1), ids)
    out = views.overlay(rgb, ids, 1.0, borders=False)
    np.testing.assert_array_equal(out[none], rgb[none])
    np.testing.assert_array_equal(out[~none], palette.colours(701)[ids[~none]])
    views.mean_colour(rgb, ids)
    np.testing.assert_array_equal(views.overlay(rgb, np.full_like(ids, -1)), rgb)


# --- boundaries


@pytest.mark.parametrize("grey", [0, 60, 127, 128, 190, 255])
def test_lines_contrast_with_any_background(grey):
    ids = np.zeros((20, 30), np.int32)
    ids[5:15, 8:20] = 1
    rgb = np.full((20, 30, 3), grey, np.uint8)
    out, edge = views.boundaries(rgb, ids), views.edges(ids)
    assert np.abs(luminance(out[edge]) - grey).min() > 80
    np.testing.assert_array_equal(out[~edge], rgb[~edge])


# --- uncertainty


def test_uncertain_pixels_are_brighter(scene):
    rgb = np.full((4, 256, 3), 100, np.uint8)
    doubt = np.tile(np.linspace(0, 1, 256, dtype=np.float32), (4, 1))
    bright = luminance(views.uncertainty(rgb, doubt))[0]
    assert (np.diff(bright) > -2).all()
    assert bright[-1] - bright[0] > 100


def test_certain_regions_show_the_picture(scene):
    rgb, ids = scene
    out = views.uncertainty(rgb, np.zeros(ids.shape, np.float32))
    assert np.corrcoef(luminance(out).ravel(), luminance(rgb).ravel())[0, 1] > 0.99
    assert out.max() < 110


def test_uncertainty_above_one_is_clipped(scene):
    rgb, ids = scene
    full, beyond = (np.full(ids.shape, value, np.float32) for value in (1.0, 1.5))
    np.testing.assert_array_equal(views.uncertainty(rgb, beyond), views.uncertainty(rgb, full))


# --- objects


def test_select_marks_members_only(scene):
    _, ids = scene
    np.testing.assert_array_equal(views.select(ids, {3, 41, -1, 5000}), np.isin(ids, [3, 41]) * 255)
    assert not views.select(ids, set()).any()
    assert not views.select(np.full((3, 3), -5, np.int32), {0}).any()
    np.testing.assert_array_equal(views.select(np.array([[-2, -1, 0, 1]], np.int32), {1}), [[0, 0, 0, 255]])


def test_matte_keeps_the_picture_inside_the_mask_only(scene):
    rgb, ids = scene
    mask = views.select(ids, {2, 3})
    out = views.matte(rgb, mask)
    np.testing.assert_array_equal(out[..., 3], mask)
    np.testing.assert_array_equal(out[mask > 0, :3], rgb[mask > 0])
    assert not out[mask == 0].any()
    np.testing.assert_array_equal(views.flatten(out), out[..., :3])


def test_margin_keeps_colours_under_transparency():
    rgb = np.full((30, 30, 3), 200, np.uint8)
    mask = np.zeros((30, 30), np.uint8)
    mask[15, 15] = 255
    out = views.matte(rgb, mask, margin=3)
    np.testing.assert_array_equal(out[..., 3], mask)
    assert (out[12:19, 12:19, :3] == 200).all()
    assert not out[:11].any()
    assert views.flatten(out).sum() == 600


# --- by name


def scene_of(rgb, ids, **more):
    return views.Scene(rgb, ids, np.zeros(ids.shape, np.float32), views.select(ids, {3}), **more)


def test_every_view_can_be_drawn_by_name(scene):
    rgb, ids = scene
    before = rgb.copy(), ids.copy()
    for name, view in views.VIEWS.items():
        out = views.draw(name, scene_of(rgb, ids))
        width = 2 * ids.shape[1] if name == "side_by_side" else ids.shape[1]
        assert out.shape == (ids.shape[0], width, 4 if name == "matte" else 3), name
        assert out.dtype == np.uint8
        assert view.title
    np.testing.assert_array_equal(rgb, before[0])
    np.testing.assert_array_equal(ids, before[1])


def test_named_views_equal_their_functions(scene):
    rgb, ids = scene
    colouring = Colouring("safe", hidden=frozenset({0}))
    plain = scene_of(rgb, ids, opacity=0.3, borders=False, colouring=colouring)
    np.testing.assert_array_equal(views.draw("overlay", plain), views.overlay(rgb, ids, 0.3, False, colouring))
    np.testing.assert_array_equal(views.draw("mean_colour", plain), views.mean_colour(rgb, ids))
    np.testing.assert_array_equal(views.draw("mask", plain)[..., 0], views.select(ids, {3}))


@pytest.mark.parametrize("other", ["overlay", "mean_colour", "matte", "mask"])
def test_side_by_side_shows_the_original_and_another_view(scene, other):
    rgb, ids = scene
    out = views.draw("side_by_side", scene_of(rgb, ids, beside=other))
    np.testing.assert_array_equal(out[:, : ids.shape[1]], rgb)
    np.testing.assert_array_equal(out[:, ids.shape[1] :], views.flatten(views.draw(other, scene_of(rgb, ids))))


def test_missing_input_raises(scene):
    rgb, ids = scene
    with pytest.raises(ValueError, match=r"view must be one of original, overlay, .* got 'nope'"):
        views.draw("nope", scene_of(rgb, ids))
    with pytest.raises(ValueError, match="'uncertainty' needs an uncertainty map"):
        views.draw("uncertainty", views.Scene(rgb, ids))
    with pytest.raises(ValueError, match="'matte' needs the objects' mask"):
        views.draw("matte", views.Scene(rgb, ids))


@pytest.mark.parametrize("shape", SHAPES)
def test_any_size_and_a_single_segment(shape):
    rgb, ids = np.full((*shape, 3), 77, np.uint8), np.full(shape, 5, np.int32)
    np.testing.assert_array_equal(views.mean_colour(rgb, ids), rgb)
    np.testing.assert_array_equal(views.boundaries(rgb, ids), rgb)
    assert not views.edges(ids).any()
    for name in views.VIEWS:
        assert views.draw(name, scene_of(rgb, ids)).shape[0] == shape[0]
