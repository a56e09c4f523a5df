"""Outlines of objects: as wide at every zoom, and in every copy of the frame."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from helpers.export_scenes import result
from scstream_app.session import MarkedObject
from scstream_app.ui.document.document import Document
from scstream_app.ui.viewer.viewer import Viewer

GREEN = (0, 255, 0)


@pytest.fixture
def viewer(qtbot: QtBot, open_results: Callable[..., Document]) -> Viewer:
    """White frame of 48 by 64, whose right half is an object."""
    ids = np.repeat(np.arange(2), 32)[None].repeat(48, axis=0)
    document = open_results([result(0, ids, rgb=np.full((48, 64, 3), 255, np.uint8))])
    document.set_objects([MarkedObject.made("half", GREEN, 0, {1})])
    made = Viewer(document)
    qtbot.addWidget(made)
    made.resize(700, 500)
    with qtbot.waitExposed(made):
        made.show()
    show(made, qtbot, "original")
    return made


def show(viewer: Viewer, qtbot: QtBot, view: str) -> None:
    viewer.document.display.set_look(view=view)
    qtbot.waitUntil(lambda: viewer.document.display.shown.look.view == view)
    qtbot.waitUntil(lambda: bool(viewer.document.display.shown.objects or viewer.document.display.shown.look.objects))


def middle_row(viewer: Viewer) -> npt.NDArray[np.uint8]:
    """Colours of the row of the screen through the middle of the picture."""
    image = viewer.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[image.height() // 2, : 3 * image.width()].reshape(-1, 3)


def widths(viewer: Viewer, colour: tuple[int, int, int]) -> list[int]:
    """Widths in screen pixels of the stretches of a colour on that row, from left to right."""
    found = (middle_row(viewer) == colour).all(axis=1)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], found, [0]])))
    return (edges[1::2] - edges[::2]).tolist()


def test_an_outline_is_as_wide_at_every_zoom(viewer: Viewer) -> None:
    viewer.actual_size()
    assert widths(viewer, GREEN)[0] == 2
    viewer.fit()
    assert viewer.scale > 8.0
    assert widths(viewer, GREEN)[0] == 2
    # With a black edge on both sides; the frame is white and the object tinted.
    row = middle_row(viewer)
    line = int(np.flatnonzero((row == GREEN).all(axis=1))[0])
    assert not row[[line - 1, line + 2]].any()
    assert row[line - 2].all()


def test_both_pictures_side_by_side_have_outlines(viewer: Viewer, qtbot: QtBot) -> None:
    show(viewer, qtbot, "side_by_side")
    assert widths(viewer, GREEN)[0] == 2
    assert len(widths(viewer, GREEN)) >= 3


def test_hidden_objects_have_no_outline(viewer: Viewer, qtbot: QtBot) -> None:
    viewer.document.display.set_look(show_objects=False)
    qtbot.waitUntil(lambda: not viewer.document.display.shown.look.show_objects)
    assert not widths(viewer, GREEN)
