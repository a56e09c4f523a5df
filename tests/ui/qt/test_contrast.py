"""Contrast of all texts in both themes, at least 4.5 : 1."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

import scstream_app.ui
from scstream_app.ui.qt.appearance import theme
from scstream_app.ui.qt.appearance.contrast import LEAST, PAIRS, contrast, mix
from scstream_app.ui.qt.message_bar import MessageBar
from scstream_app.ui.viewer.painting.primitives import background

#: A style sheet with a ground and a text colour, as toasts and labels over the picture have.
_SHEET = re.compile(r"background: (rgba\([^)]*\)|#\w{6}); color: (#\w{6})")


@pytest.fixture(params=["light", "dark"])
def palette(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[QPalette]:
    theme.apply(qapp, request.param)
    yield qapp.palette()
    theme.apply(qapp, "system")


def test_known_ratios() -> None:
    assert contrast(QColor("#767676"), QColor("white")) == pytest.approx(4.54, abs=0.01)
    assert contrast(QColor("white"), QColor("#767676")) == pytest.approx(4.54, abs=0.01)
    assert contrast(QColor(0, 0, 0, 0), QColor("white")) == 1.0


def test_texts_of_the_palette(palette: QPalette) -> None:
    low = {
        (text.name, ground.name): contrast(palette.color(text), palette.color(ground))
        for text, ground in PAIRS
        if contrast(palette.color(text), palette.color(ground)) < LEAST
    }
    assert low == {}


def test_messages_hints_and_errors(palette: QPalette, qtbot: QtBot) -> None:
    bar = MessageBar()
    qtbot.addWidget(bar)
    for kind in ("error", "notice"):
        bar.show_message("Cannot open it.", kind)
        assert contrast(*_text_and_ground(bar)) >= LEAST
        bar.clear()
    window, text = palette.color(QPalette.ColorRole.Window), palette.color(QPalette.ColorRole.WindowText)
    # The hint in the empty viewer, and the numbers of the timeline.
    assert contrast(mix(background(palette), text, 0.75), background(palette)) >= LEAST
    assert contrast(mix(window, text, 0.65), window) >= LEAST
    error = QColor("#ff8a80" if window.lightness() < 128 else "#b3261e")
    assert contrast(error, window) >= LEAST


def _text_and_ground(widget: QWidget) -> tuple[QColor, QColor]:
    palette = widget.palette()
    return palette.color(QPalette.ColorRole.WindowText), palette.color(QPalette.ColorRole.Window)


def test_style_sheets_with_colours_of_their_own() -> None:
    folder = Path(scstream_app.ui.__file__).parent
    found = [match for file in folder.rglob("*.py") for match in _SHEET.findall(file.read_text(encoding="utf-8"))]
    assert len(found) >= 3
    for ground, text in found:
        assert contrast(QColor(text), _on_white(ground)) >= LEAST, (ground, text)


def _on_white(ground: str) -> QColor:
    """The ground over a white picture, which is the worst case for bright text."""
    if ground.startswith("#"):
        return QColor(ground)
    red, green, blue, alpha = (int(number) for number in re.findall(r"\d+", ground))
    return mix(QColor("white"), QColor(red, green, blue), alpha / 255.0)
