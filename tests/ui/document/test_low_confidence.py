"""The next frame of low confidence is one key away."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from helpers.object_window import LONG, go_to, halves, open_clip
from scstream_app.objects import MarkedObject, ObjectEdit
from scstream_app.session.objects.object_curves import ObjectCurves
from scstream_app.ui.document.objects.object_confidence import ObjectCurve, curve_of
from scstream_app.ui.qt.toast import Toast
from scstream_app.ui.window.main_window import MainWindow

COUNT = 12
KITE = MarkedObject.made("kite", (1, 2, 3), 0, {1})
SAIL = MarkedObject.made("sail", (1, 2, 3), 2, {2})


def low_frames(*values: float) -> list[int]:
    confidences = np.array(values, np.float32)
    return ObjectCurve(np.arange(len(values)), confidences, confidences).low_frames()


def test_a_run_of_low_frames_counts_once() -> None:
    assert low_frames(1.0, 0.9, 0.6, 0.3, 0.3, 0.35, 0.9, 0.9) == [3]
    assert low_frames(1.0, 0.6, 0.65, 0.5, 0.55) == [3]
    assert low_frames(1.0, 0.0, 0.0, 0.0) == [1]


def test_a_clear_rise_divides_two_minima() -> None:
    assert low_frames(1.0, 0.3, 0.5, 0.2, 0.9) == [1, 3]
    assert low_frames(1.0, 0.3, 0.5, 0.45, 0.9) == [1]


def test_high_frames_and_frames_without_the_object_do_not_count() -> None:
    assert low_frames(1.0, 0.9, 0.75, 0.9) == []
    assert low_frames(np.nan, np.nan, 1.0, 0.2, np.nan, 1.0, 0.3) == [3, 6]


def test_an_object_exists_from_an_edit_to_its_end_or_the_next_cut() -> None:
    frames, zeros = np.arange(10), np.zeros((10, 1), np.float32)
    kite = MarkedObject("kite", (1, 2, 3), (ObjectEdit("made", 1, {1}, stop=3), ObjectEdit("made", 5, {1})))
    curve = curve_of(ObjectCurves((kite,), frames, zeros, zeros), kite, [0, 8])
    assert np.flatnonzero(np.isfinite(curve.confidences)).tolist() == [1, 2, 5, 6, 7]
    assert not len(curve_of(ObjectCurves(), kite, []).frames)


@pytest.fixture
def clip(window: MainWindow, qtbot: QtBot, finished_session: Callable[..., Path]) -> MainWindow:
    """Two objects: the first one is unclear around frame 4, the second one on the last frames."""
    open_clip(window, qtbot, finished_session(halves(COUNT)))
    window.document.set_objects([KITE, SAIL])
    tracking = window.document.tracking
    qtbot.waitUntil(lambda: len(tracking.curves.frames) == COUNT, timeout=LONG)
    tracking.worker.reported.disconnect()  # a later report would replace the curves
    values = np.full((COUNT, 2), 0.9, np.float32)
    values[:2, 1] = 0.0
    values[3:6, 0] = 0.4, 0.3, 0.5
    values[9:, 1] = 0.5, 0.2, 0.4
    tracking.curves = ObjectCurves((KITE, SAIL), np.arange(COUNT), values, values)
    return window


def press(window: MainWindow, qtbot: QtBot, key: Qt.Key, frame: int) -> None:
    qtbot.keyClick(window, key, Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: window.document.display.index == frame, timeout=LONG)


def test_keys_go_from_minimum_to_minimum(clip: MainWindow, qtbot: QtBot) -> None:
    press(clip, qtbot, Qt.Key.Key_N, 4)
    press(clip, qtbot, Qt.Key.Key_N, 10)
    press(clip, qtbot, Qt.Key.Key_N, 10)
    assert clip.viewer.findChild(Toast).text() == "No later frame of low confidence."
    press(clip, qtbot, Qt.Key.Key_P, 4)
    clip.objects.highlight("sail")
    press(clip, qtbot, Qt.Key.Key_P, 4)
    assert clip.viewer.findChild(Toast).text() == "No earlier frame of low confidence of object 'sail'."
    go_to(clip, qtbot, 1)
    press(clip, qtbot, Qt.Key.Key_N, 10)


def test_after_the_last_low_frame_come_those_less_certain_than_their_neighbours(clip: MainWindow, qtbot: QtBot) -> None:
    curves = clip.document.tracking.curves
    values = np.full((COUNT, 2), 0.9, np.float32)
    values[3, 0], values[7, 1] = 0.4, 0.8
    clip.document.tracking.curves = ObjectCurves(curves.objects, curves.frames, curves.areas, values)
    press(clip, qtbot, Qt.Key.Key_N, 3)
    press(clip, qtbot, Qt.Key.Key_N, 7)
    said = "No later frame of low confidence. Less certain than its neighbours: frame 7, 80 %."
    assert clip.viewer.findChild(Toast).text() == said
    press(clip, qtbot, Qt.Key.Key_P, 3)


def test_without_a_low_frame_those_less_certain_than_their_neighbours_are_shown(clip: MainWindow, qtbot: QtBot) -> None:
    curves = clip.document.tracking.curves
    values = np.full((COUNT, 2), 0.9, np.float32)
    values[0], values[4, 0], values[7, 0], values[9, 1] = 1.0, 0.8, 0.82, 0.84
    clip.document.tracking.curves = ObjectCurves(curves.objects, curves.frames, curves.areas, values)
    toast = clip.viewer.findChild(Toast)
    for frame, percent in ((4, 80), (7, 82), (9, 84)):
        press(clip, qtbot, Qt.Key.Key_N, frame)
        said = f"No frame of low confidence. Less certain than its neighbours: frame {frame}, {percent} %."
        assert toast.text() == said
    press(clip, qtbot, Qt.Key.Key_N, 9)
    assert toast.text() == "No later frame of low confidence."
    clip.objects.highlight("kite")
    press(clip, qtbot, Qt.Key.Key_P, 7)
    clip.document.tracking.curves = ObjectCurves(curves.objects, curves.frames, curves.areas, values * 0.0 + 1.0)
    press(clip, qtbot, Qt.Key.Key_N, 7)
    assert toast.text() == "No frame of low confidence of object 'kite'."
    clip.document.set_objects([])
    press(clip, qtbot, Qt.Key.Key_P, 7)
    assert clip.viewer.findChild(Toast).text() == "There is no object yet."
