"""Looks: what is drawn follows from what the table of views says about a view."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import pytest

from helpers.export_scenes import story
from scstream_app.render import views
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.look import Look, draw


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
