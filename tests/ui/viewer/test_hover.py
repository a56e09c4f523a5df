"""Tests of the membership probability of the pixel under the mouse."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square
from helpers.mouse import move
from scstream import VideoSegmenter
from scstream.pixels.statistics import STATISTICS
from scstream.pixels.uncertainty import uncertainty
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.session import MarkedObject
from scstream_app.ui.document.document import Document
from scstream_app.ui.viewer.mouse.hover import Membership
from scstream_app.ui.viewer.viewer import Viewer


@pytest.fixture
def viewer(story_document: Document, qtbot: QtBot) -> Viewer:
    """A viewer that shows the first frame of the story."""
    made = Viewer(story_document)
    qtbot.addWidget(made)
    made.resize(400, 300)
    with qtbot.waitExposed(made):
        made.show()
    return made


@pytest.mark.parametrize("colour", ["rgb", "lab"])
def test_probability_equals_one_minus_the_engines_uncertainty(colour: str) -> None:
    frame = moving_square(1)[0]
    segmenter = VideoSegmenter(colour=colour, max_init_sweeps=20, threads=1)
    ids = segmenter.segment(frame)
    rows = segmenter.statistics_
    member = Membership(FrameResult(0, 0.0, frame, ids, (), rows), colour)
    doubt = uncertainty(frame, rows, colour)
    found = np.array([[member.probability(x, y) for x in range(0, 64, 5)] for y in range(0, 48, 5)])
    sure = found > 0.5
    assert sure.mean() > 0.8
    assert found[sure] == pytest.approx(1.0 - doubt[::5, ::5][sure], abs=1e-3)


def test_a_draft_has_no_probability() -> None:
    frame = moving_square(1)[0]
    draft = FrameResult(0, 0.0, frame, np.zeros((48, 64), np.int32), (), np.empty(0, STATISTICS))
    assert math.isnan(Membership(draft, "rgb").probability(3, 3))


def test_the_label_shows_the_probability(viewer: Viewer, qtbot: QtBot) -> None:
    heard = []
    viewer.hovered.connect(heard.append)

    def moved() -> bool:
        # On a real screen the window may still be moving, and the pointer may already be inside.
        for place in (viewer.rect().center() / 2, viewer.rect().center()):
            qtbot.mouseMove(viewer, place)
        return bool(heard)

    qtbot.waitUntil(moved)
    assert 0.0 <= heard[-1].probability <= 1.0
    assert "% sure" in viewer.findChild(QLabel, "hover").text()
    assert "sure" not in str(replace(heard[-1], probability=math.nan))


def test_the_label_says_what_is_selected_and_in_which_object(
    viewer: Viewer, story_document: Document, qtbot: QtBot
) -> None:
    label = viewer.findChild(QLabel, "hover")
    move(viewer, viewer.rect().center(), Qt.MouseButton.NoButton)
    qtbot.waitUntil(label.isVisible)
    id = viewer.segment_at(viewer.rect().center().toPointF())
    assert "selected" not in label.text()
    story_document.set_objects([MarkedObject.made("kite", (9, 9, 9), 0, {id})])
    story_document.display.select({id})
    qtbot.waitUntil(lambda: f"Segment {id}</b> · selected · in object &#x27;kite&#x27; ·" in label.text())
    story_document.display.select(())
    story_document.set_objects([])
    qtbot.waitUntil(lambda: "selected" not in label.text() and "kite" not in label.text())


def test_the_label_and_a_message_make_room_for_the_mouse(viewer: Viewer) -> None:
    label, toast = viewer.findChild(QLabel, "hover"), viewer.findChild(QLabel, "toast")
    viewer.resize(640, 480)
    viewer.show_toast("Added")
    low, upper, middle = QPoint(120, 440), QPoint(320, 40), 240
    move(viewer, viewer.rect().center(), Qt.MouseButton.NoButton)
    assert label.geometry().center().y() > middle > toast.geometry().center().y()
    move(viewer, low, Qt.MouseButton.NoButton)
    assert label.geometry().center().y() < middle
    move(viewer, viewer.rect().center(), Qt.MouseButton.NoButton)
    assert label.geometry().center().y() < middle, "it does not jump back"
    move(viewer, upper, Qt.MouseButton.NoButton)
    assert label.geometry().center().y() > middle
    assert toast.geometry().center().y() > middle
    move(viewer, QPoint(320, 400), Qt.MouseButton.NoButton)
    assert toast.geometry().center().y() < middle


def test_the_label_covers_no_other_one(viewer: Viewer) -> None:
    hint = QLabel("A hint", viewer)
    hint.setGeometry(100, 260, 200, 30)
    hint.show()
    move(viewer, viewer.rect().center(), Qt.MouseButton.NoButton)
    label = viewer.findChild(QLabel, "hover")
    assert label.isVisible()
    assert not label.geometry().intersects(hint.geometry())
    assert viewer.rect().contains(label.geometry().topLeft())
