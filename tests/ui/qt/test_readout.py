"""Tests of `Readout`: changing texts do not trigger layouts of the window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QWidget
from pytestqt.qtbot import QtBot

from helpers.counting import Counter
from scstream_app.ui.qt.readout import Readout


@pytest.fixture
def row(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    QHBoxLayout(widget)
    qtbot.addWidget(widget)
    widget.show()
    qtbot.waitExposed(widget)
    return widget


def shown_in(row: QWidget, label: QLabel) -> Counter:
    row.layout().addWidget(label)
    label.show()
    QApplication.processEvents()
    return Counter(QEvent.Type.LayoutRequest, row)


def say(label: QLabel, text: str) -> None:
    label.setText(text)
    QApplication.processEvents()


def test_a_shorter_text_moves_nothing(row: QWidget) -> None:
    label = Readout("Frames", "1000 frames")
    layouts = shown_in(row, label)
    for text in ("999 frames", "5 frames", "1000 frames"):
        say(label, text)
        assert label.text() == text
    assert layouts.count == 0


def test_qt_lays_out_an_ordinary_label_anew(row: QWidget) -> None:
    label = QLabel("1000 frames")
    layouts = shown_in(row, label)
    say(label, "999 frames")
    assert layouts.count == 1


def test_a_longer_text_gets_room_which_it_keeps(row: QWidget) -> None:
    label = Readout("Frames")
    layouts = shown_in(row, label)
    say(label, "1000 of 2000 frames")
    wide = label.width()
    assert wide >= label.fontMetrics().horizontalAdvance("1000 of 2000 frames")
    assert layouts.count == 1
    say(label, "7 frames")
    assert (label.width(), layouts.count) == (wide, 1)


def test_without_a_text_it_takes_the_room_that_it_had_at_first(row: QWidget) -> None:
    label = Readout("Frames")
    shown_in(row, label)
    say(label, "1000 frames")
    say(label, "")
    assert label.width() == 0


def test_it_follows_the_font(row: QWidget) -> None:
    label = Readout("Frames", "1000 frames")
    shown_in(row, label)
    say(label, "some longer text of many frames")
    font = label.font()
    font.setPointSizeF(2.0 * font.pointSizeF())
    label.setFont(font)
    assert label.width() >= label.fontMetrics().horizontalAdvance("some longer text of many frames")
    assert label.height() >= label.fontMetrics().height()
