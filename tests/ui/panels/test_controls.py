"""Controls: a form that marks what differs from the settings in use, and sends only that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractSpinBox, QCheckBox, QComboBox, QLabel, QLineEdit, QPushButton, QSlider, QWidget
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_video
from helpers.held_worker import pause_after_each
from scstream import VideoSegmenter
from scstream_app.pipeline.edits import Edit
from scstream_app.settings import PRESETS, SPECS, Settings
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State
from scstream_app.ui.panels.controls import ControlsPanel

LONG = 60_000
Made = Callable[[Document], ControlsPanel]


@pytest.fixture
def make(qtbot: QtBot) -> Made:
    def made(document: Document) -> ControlsPanel:
        panel = ControlsPanel(document)
        qtbot.addWidget(panel)
        panel.resize(340, 700)
        with qtbot.waitExposed(panel):
            panel.show()
        return panel

    return made


@pytest.fixture
def running(document: Document, qtbot: QtBot, tmp_path: Path) -> Document:
    """A document that waits in the midst of a clip."""
    document.set_settings(Settings(max_init_sweeps=20, threads=1))
    clip = write_video(tmp_path / "clip.mp4", moving_square(40))
    pause_after_each(document.run.worker)
    document.progressed.connect(lambda: document.pause(True))
    document.open_source(str(clip), tmp_path / "a.scstream")
    qtbot.waitUntil(lambda: document.state is State.PAUSED, timeout=LONG)
    return document


def control(panel: ControlsPanel, kind: type[QWidget], label: str) -> Any:
    return next(widget for widget in panel.findChildren(kind) if widget.accessibleName() == label)


def button(panel: ControlsPanel, text: str) -> QPushButton:
    return next(widget for widget in panel.findChildren(QPushButton) if widget.text() == text)


def label_of(panel: ControlsPanel, text: str) -> QLabel:
    return next(label for label in panel.findChildren(QLabel) if label.text().removesuffix(" •") == text)


def press(qtbot: QtBot, panel: ControlsPanel, text: str) -> None:
    qtbot.mouseClick(button(panel, text), Qt.MouseButton.LeftButton)


def sent(document: Document) -> list[Edit]:
    edits: list[Edit] = []
    edit = document.edit

    def listen(wanted: Edit) -> None:
        edits.append(wanted)
        edit(wanted)

    document.edit = listen  # type: ignore[method-assign]
    return edits


def test_every_setting_has_a_control_that_says_what_it_does(document: Document, make: Made) -> None:
    panel = make(document)
    assert panel.settings == document.settings == Settings()
    for name, spec in SPECS.items():
        assert control(panel, QWidget, spec.label).accessibleDescription() == spec.help, name


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_every_value_comes_back_as_it_was(document: Document, make: Made, preset: Any) -> None:
    settings = preset.apply(Settings(seed=2**62 + 1, threads=3))
    document.set_settings(settings)
    panel = make(document)
    assert panel.settings == settings
    assert panel.changed == {}
    odd = Settings(alpha=1234.5, decay=0.12345, scale=1 / 3, epsilon=1.5e-7)
    document.set_settings(odd)
    assert panel.settings == odd


def test_with_nothing_open_changes_hold_for_the_next_source(document: Document, make: Made, qtbot: QtBot) -> None:
    panel = make(document)
    box = control(panel, QAbstractSpinBox, "Sweeps")
    box.selectAll()
    qtbot.keyClicks(box, "4")
    assert document.settings.sweeps == 4
    qtbot.mouseClick(control(panel, QCheckBox, "Restart at scene cuts"), Qt.MouseButton.LeftButton)
    assert document.settings == Settings(sweeps=4, scene_cuts=False)


def test_the_memory_is_shown_in_frames(document: Document, make: Made, qtbot: QtBot) -> None:
    panel = make(document)
    memory = panel.findChild(QLabel, "note")
    assert memory.text() == "remembers about 2.5 frames"
    box = control(panel, QAbstractSpinBox, "Forgetting")
    box.selectAll()
    qtbot.keyClicks(box, "0.1" if box.locale().decimalPoint() == "." else "0,1")
    assert memory.text() == "remembers about 58 frames"
    qtbot.keyClick(control(panel, QSlider, "Steadiness"), Qt.Key.Key_Home)
    assert memory.text() == "remembers about 15 frames"
    line = control(panel, QLineEdit, "Steadiness, as a number")
    line.selectAll()
    qtbot.keyClicks(line, "3")
    assert memory.text() == ""


def test_detail_is_a_slider_over_powers_of_ten(document: Document, make: Made, qtbot: QtBot) -> None:
    panel = make(document)
    slider = control(panel, QSlider, "Detail")
    assert slider.value() == 0
    qtbot.keyClick(slider, Qt.Key.Key_Right)
    assert document.settings.detail == 1.3
    line = control(panel, QLineEdit, "Detail, as a number")
    line.selectAll()
    qtbot.keyClicks(line, "0.02")
    assert document.settings.detail == 0.02
    assert slider.value() == -17


@pytest.mark.parametrize(("name", "highest"), [("smoothing", 10.0), ("steadiness", 2.0)])
def test_smoothing_and_steadiness_are_sliders_from_zero(
    document: Document, make: Made, qtbot: QtBot, name: str, highest: float
) -> None:
    panel, label = make(document), SPECS[name].label
    slider = control(panel, QSlider, label)
    line = control(panel, QLineEdit, f"{label}, as a number")
    assert label_of(panel, label).toolTip() == SPECS[name].help
    assert slider.parentWidget().toolTip() == SPECS[name].help
    assert line.text() == "1"
    for key, value in ((Qt.Key.Key_Right, 1.1), (Qt.Key.Key_End, highest), (Qt.Key.Key_Home, 0.0)):
        qtbot.keyClick(slider, key)
        assert getattr(document.settings, name) == float(line.text()) == value
    line.selectAll()
    qtbot.keyClicks(line, "0.57")
    assert getattr(document.settings, name) == 0.57
    assert slider.value() == 6
    line.selectAll()
    qtbot.keyClicks(line, "inf")
    assert "got 'inf'" in panel.problem
    assert slider.value() == 6


def test_smoothing_and_steadiness_change_at_the_next_frame(
    running: Document, make: Made, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel, used = make(running), []
    segment = VideoSegmenter.segment

    def listening(segmenter: VideoSegmenter, *args: Any, **kwargs: Any) -> Any:
        used.append((segmenter.smoothing, segmenter.steadiness))
        return segment(segmenter, *args, **kwargs)

    monkeypatch.setattr(VideoSegmenter, "segment", listening)
    frames, edits = len(running.summary), sent(running)
    qtbot.keyClick(control(panel, QSlider, "Smoothing"), Qt.Key.Key_Home)
    qtbot.keyClick(control(panel, QSlider, "Steadiness"), Qt.Key.Key_End)
    assert panel.findChild(QLabel, "message").text() == "Changed: Smoothing, Steadiness."
    press(qtbot, panel, "Apply from this frame on")
    # No restart: all segments go on.
    assert edits == [Edit("change", values={"smoothing": 0.0, "steadiness": 2.0})]
    running.pause(False)
    qtbot.waitUntil(lambda: len(running.summary) > frames, timeout=LONG)
    assert used[0] == (0.0, 2.0)
    assert (running.settings.smoothing, running.settings.steadiness) == (0.0, 2.0)


def test_what_differs_is_marked_and_only_that_is_sent(running: Document, make: Made, qtbot: QtBot) -> None:
    panel = make(running)
    edits = sent(running)
    assert not button(panel, "Apply from this frame on").isEnabled()
    box = control(panel, QAbstractSpinBox, "Sweeps")
    box.selectAll()
    qtbot.keyClicks(box, "3")
    assert label_of(panel, "Sweeps").text() == "Sweeps •"
    assert panel.findChild(QLabel, "message").text() == "Changed: Sweeps."
    # Nothing happens before it is asked for.
    assert running.settings.sweeps == 1
    press(qtbot, panel, "Apply from this frame on")
    assert edits == [Edit("change", values={"sweeps": 3})]
    assert running.settings.sweeps == 3
    assert label_of(panel, "Sweeps").text() == "Sweeps"
    assert not button(panel, "Apply from this frame on").isEnabled()


def test_another_colour_space_begins_anew(running: Document, make: Made, qtbot: QtBot) -> None:
    panel = make(running)
    edits = sent(running)
    box = control(panel, QComboBox, "Colour space")
    qtbot.keyClicks(box, "L")
    assert "starts all segments anew" in panel.findChild(QLabel, "message").text()
    press(qtbot, panel, "Apply from this frame on")
    assert edits == [Edit("restart", values={"colour": "lab"})]


def test_scene_cuts_need_a_restart(running: Document, make: Made, qtbot: QtBot) -> None:
    panel = make(running)
    qtbot.mouseClick(control(panel, QCheckBox, "Restart at scene cuts"), Qt.MouseButton.LeftButton)
    assert not button(panel, "Apply from this frame on").isEnabled()
    assert "needs Restart" in panel.findChild(QLabel, "message").text()
    with qtbot.waitSignal(panel.restart_requested) as caught:
        press(qtbot, panel, "Restart")
    assert caught.args == [Settings(max_init_sweeps=20, threads=1, scene_cuts=False)]


def test_presets_fill_the_form_and_revert_empties_it(running: Document, make: Made, qtbot: QtBot) -> None:
    panel = make(running)
    box = control(panel, QComboBox, "Preset")
    qtbot.keyClicks(box, "Coarse")
    assert panel.settings == next(p for p in PRESETS if p.name == "Coarse").apply(running.settings)
    assert set(panel.changed) == {"detail", "max_init_sweeps"}
    press(qtbot, panel, "Revert")
    assert panel.changed == {}
    assert box.currentText() == "Custom"


def test_settings_that_change_elsewhere_leave_what_was_touched(running: Document, make: Made, qtbot: QtBot) -> None:
    panel = make(running)
    box = control(panel, QAbstractSpinBox, "Sweeps")
    box.selectAll()
    qtbot.keyClicks(box, "7")
    running.edit(Edit("change", values={"decay": 1.0}))
    assert panel.settings.decay == 1.0
    assert panel.changed == {"sweeps": 7}


def test_an_invalid_number_is_explained(running: Document, make: Made, qtbot: QtBot) -> None:
    panel = make(running)
    line = control(panel, QLineEdit, "Forgetting threshold")
    line.selectAll()
    qtbot.keyClicks(line, "2")
    assert panel.findChild(QLabel, "message").text() == (
        "Forgetting threshold must be a number, at least 0 and at most 1, got '2'."
    )
    assert not button(panel, "Apply from this frame on").isEnabled()
    assert not button(panel, "Restart").isEnabled()


def test_when_all_is_segmented_applying_segments_again(story_document: Document, make: Made, qtbot: QtBot) -> None:
    panel = make(story_document)
    box = control(panel, QAbstractSpinBox, "Sweeps")
    box.selectAll()
    qtbot.keyClicks(box, "3")
    assert button(panel, "Restart").isEnabled()
    assert "segments this frame and all later ones again" in panel.findChild(QLabel, "message").text()
    with qtbot.waitSignal(panel.apply_requested) as caught:
        press(qtbot, panel, "Apply from this frame on")
    assert caught.args == [Edit("change", values={"sweeps": 3})]
    assert story_document.pending.take() == ()
