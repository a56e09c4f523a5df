"""Looks: what is drawn follows from what the table of views says about a view."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pytest

from helpers.export_scenes import story
from scstream_app.pipeline.frame_result import FrameResult, ObjectMasks
from scstream_app.render import views
from scstream_app.render.image_types import Picture
from scstream_app.render.markings import object_outlines
from scstream_app.render.palette import RGB
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.look import Look, ObjectLook, draw


def add(monkeypatch: pytest.MonkeyPatch, view: views.View) -> None:
    """Add a view called "new"."""
    monkeypatch.setattr(views, "VIEWS", MappingProxyType({**views.VIEWS, "new": view}))


def test_a_view_of_uncertainty_shows_the_original_until_there_is_some(monkeypatch: pytest.MonkeyPatch) -> None:
    add(monkeypatch, views.View("New", "new", lambda scene: 255 - scene.rgb, frozenset({"uncertainty"})))
    result, look = story()[0], Look(view="new")
    np.testing.assert_array_equal(draw(result, look).picture, result.rgb)
    doubt = np.zeros(result.ids.shape, np.float32)
    np.testing.assert_array_equal(draw(result, look, doubt).picture, 255 - result.rgb)


def test_a_view_of_objects_is_left_when_there_are_none(
    story_document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(monkeypatch, views.View("New", "new", lambda scene: scene.rgb, frozenset({"mask"})))
    story_document.display.set_look(view="new")
    story_document.display.leave_empty_object_view()
    assert story_document.display.look.view == "overlay"


def test_the_wipe_draws_the_overlay_right_of_its_divider() -> None:
    result = story()[0]
    half = result.ids.shape[1] // 2
    wiped, whole = (draw(result, Look(view=view)).picture for view in ("wipe", "overlay"))
    np.testing.assert_array_equal(wiped[:, :half], result.rgb[:, :half])
    np.testing.assert_array_equal(wiped[:, half:], whole[:, half:])


RED, GREEN = (255, 0, 0), (0, 255, 0)


def masked_story() -> tuple[FrameResult, npt.NDArray[np.uint8]]:
    """A frame with masks of two objects that follow no segment."""
    result = story((48, 64))[0]
    numbers = np.zeros((48, 64), np.uint8)
    numbers[10:30, 8:24], numbers[20:40, 36:60] = 1, 2
    return replace(result, objects=ObjectMasks(numbers, (1.0, 1.0))), numbers


def towards(picture: Picture, plain: Picture, colour: RGB) -> npt.NDArray[np.bool_]:
    """Where a picture is nearer to a colour than another one."""
    near, far = (np.abs(one.astype(int) - colour).sum(axis=2) for one in (picture, plain))
    return near < far


@pytest.mark.parametrize(
    "view", ["original", "overlay", "mean_colour", "boundaries", "uncertainty", "wipe", "side_by_side"]
)
def test_objects_have_their_colours_in_every_view(view: str) -> None:
    result, numbers = masked_story()
    look = Look(view=view, objects=(ObjectLook(RED, frozenset()), ObjectLook(GREEN, frozenset())))
    doubt = np.zeros(result.ids.shape, np.float32)
    drawn = draw(result, look, doubt)
    bare_one = draw(result, replace(look, show_objects=False), doubt)
    shown, plain = drawn.picture, bare_one.picture
    for left in range(0, shown.shape[1], 64):
        tinted, bare = shown[:, left : left + 64], plain[:, left : left + 64]
        for number, colour in ((1, RED), (2, GREEN)):
            assert towards(tinted, bare, colour)[numbers == number].all()
        np.testing.assert_array_equal(tinted[numbers == 0], bare[numbers == 0])
    boxes = [
        (colour, lines[0].min(axis=0).round(), lines[0].max(axis=0).round()) for colour, lines in drawn.object_outlines
    ]
    assert [(colour, *start, *end) for colour, start, end in boxes] == [(RED, 8, 10, 24, 30), (GREEN, 36, 20, 60, 40)]
    assert not bare_one.object_outlines


@pytest.mark.parametrize("seed", range(5))
def test_outlines_of_objects_are_the_edges_of_their_pixels(seed: int) -> None:
    numbers = np.random.default_rng(seed).integers(0, 3, (7, 9)).astype(np.uint8)
    for number, (colour, (points, joined)) in enumerate(object_outlines(numbers, [RED, GREEN]), 1):
        mask = np.pad(numbers == number, 1)
        assert colour == (RED, GREEN)[number - 1]
        lines = points.reshape(-1, 2, 2).astype(int)
        assert joined.tolist() == [1, 0] * len(lines)
        found = np.zeros((2, *mask.shape), bool)
        for (x, y), (right, below) in lines:
            # Vertical edges are left of a pixel, horizontal ones above it.
            found[0, y + 1 : below + 1, x + 1] |= x == right
            found[1, y + 1, x + 1 : right + 1] |= y == below
        np.testing.assert_array_equal(found[0, :, 1:], mask[:, 1:] != mask[:, :-1])
        np.testing.assert_array_equal(found[1, 1:], mask[1:] != mask[:-1])


def test_objects_without_masks_are_their_segments() -> None:
    result = story((48, 64))[0]
    look = Look(view="original", objects=(ObjectLook(GREEN, frozenset({1})),))
    shown = draw(result, look).picture
    assert towards(shown, result.picture, GREEN)[result.ids == 1].all()
    assert look.members == {1}


def test_the_matte_shows_no_tint() -> None:
    result, numbers = masked_story()
    look = Look(view="matte", objects=(ObjectLook(RED, frozenset()), ObjectLook(GREEN, frozenset())))
    drawn = draw(result, look)
    shown = drawn.picture
    assert not drawn.object_outlines
    np.testing.assert_array_equal(shown[..., 3] > 0, numbers > 0)
    np.testing.assert_array_equal(shown[numbers > 0, :3], result.picture[numbers > 0])


@pytest.mark.parametrize("view", ["original", "matte", "side_by_side"])
def test_selected_segments_are_tinted(view: str) -> None:
    result, _ = masked_story()
    look = Look(view=view, selected=frozenset({1}))
    shown, plain = draw(result, look), draw(result, replace(look, selected=frozenset()))
    changed = (shown.picture != plain.picture).any(axis=2)
    for left in range(0, changed.shape[1], 64):
        np.testing.assert_array_equal(changed[:, left : left + 64], result.ids == 1)
    assert shown.outline is not None
    rows, columns = np.nonzero(result.ids == 1)
    points = shown.outline[0]
    assert np.abs(points.min(axis=0) - (columns.min(), rows.min())).max() <= 0.5
    assert np.abs(points.max(axis=0) - (columns.max() + 1, rows.max() + 1)).max() <= 0.5
    assert plain.outline is None
