"""The bar above the picture: buttons of the views, name, legend and zoom."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QWheelEvent
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from helpers.export_scenes import story
from helpers.menus import entry_called
from scstream_app.ui.viewer.bars.view_bar import ViewBar
from scstream_app.ui.window.main_window import MainWindow

LONG = 60_000


@pytest.fixture
def opened(window: MainWindow, qtbot: QtBot, finished_session: Callable[..., Path]) -> MainWindow:
    with qtbot.waitSignal(window.document.display.shown_changed, timeout=LONG):
        window.open_address(str(finished_session(story((48, 64)))))
    qtbot.waitUntil(window.panels["segments"].isVisible)
    return window


def bar_of(window: MainWindow) -> ViewBar:
    return window.findChild(ViewBar)


def part(window: MainWindow, kind: type[QWidget], name: str) -> QWidget:
    return bar_of(window).findChild(kind, name)


def choose_zoom(window: MainWindow, qtbot: QtBot, text: str) -> None:
    """Open the menu of the zoom and click an entry."""
    menu: QMenu = part(window, QToolButton, "zoom").menu()
    menu.popup(window.mapToGlobal(QPoint(10, 10)))
    where = menu.actionGeometry(entry_called(menu, text)).center()
    qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=where)


def test_a_click_shows_a_view_with_its_name_and_checks_its_menu_entry(opened: MainWindow, qtbot: QtBot) -> None:
    for name, title in (("mean_colour", "Mean Colour"), ("original", "Original"), ("side_by_side", "Side by Side")):
        qtbot.mouseClick(part(opened, QToolButton, f"view_{name}"), Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda name=name: opened.document.display.shown.look.view == name)
        assert part(opened, QLabel, "viewName").text() == title
        assert opened.actions_[f"view_{name}"].isChecked()
        checked = [button.objectName() for button in bar_of(opened).findChildren(QToolButton) if button.isChecked()]
        assert [name for name in checked if name.startswith("view_")] == [f"view_{name}"]
    qtbot.keyClick(opened, Qt.Key.Key_5)
    qtbot.waitUntil(lambda: part(opened, QLabel, "viewName").text() == "Uncertainty")
    assert part(opened, QToolButton, "view_uncertainty").isChecked()


def test_legends_explain_the_colours_of_uncertainty_and_boundaries(opened: MainWindow, qtbot: QtBot) -> None:
    legend = part(opened, QWidget, "legend")
    assert legend.width() == 0
    qtbot.mouseClick(part(opened, QToolButton, "view_uncertainty"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: legend.width() > 0)
    assert legend.text == "certain uncertain"
    image = legend.grab().toImage()
    metrics, middle = legend.fontMetrics(), image.height() // 2
    first = metrics.horizontalAdvance("certain") + 8
    last = image.width() - metrics.horizontalAdvance("uncertain") - 9
    low, high = (image.pixelColor(x, middle) for x in (first, last))
    assert low.lightness() + 60 < high.lightness()
    qtbot.mouseClick(part(opened, QToolButton, "view_boundaries"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: legend.text == "on dark on bright")
    seen = {legend.grab().toImage().pixelColor(x, middle).name() for x in range(legend.width())}
    assert {QColor(255, 225, 60).name(), QColor(20, 10, 60).name()} <= seen
    qtbot.mouseClick(part(opened, QToolButton, "view_overlay"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: legend.width() == 0)


def test_the_zoom_is_shown_in_percent_and_chosen_from_a_menu(opened: MainWindow, qtbot: QtBot) -> None:
    zoom = part(opened, QToolButton, "zoom")
    assert opened.viewer.fits
    fitted = zoom.text()
    for text in ("200 %", "50 %", "100 %"):
        choose_zoom(opened, qtbot, text)
        assert zoom.text() == text
        assert opened.viewer.scale == pytest.approx(float(text.removesuffix(" %")) / 100.0)
    choose_zoom(opened, qtbot, "Fit to Window")
    assert opened.viewer.fits
    assert zoom.text() == fitted
    place = QPointF(opened.viewer.rect().center())
    wheel = QWheelEvent(
        place,
        opened.viewer.mapToGlobal(place),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(opened.viewer, wheel)
    assert zoom.text() != fitted


def test_a_narrow_bar_leaves_out_the_name_and_keeps_the_buttons(opened: MainWindow, qtbot: QtBot) -> None:
    name = part(opened, QLabel, "viewName")
    assert name.isVisible()
    opened.resize(opened.minimumSizeHint())
    qtbot.waitUntil(lambda: not name.isVisible())
    buttons = bar_of(opened).findChildren(QToolButton)
    qtbot.waitUntil(lambda: all(bar_of(opened).rect().contains(button.geometry()) for button in buttons))
    assert "Overlay (2)" in [button.toolTip() for button in buttons]
    opened.resize(1280, 800)
    qtbot.waitUntil(name.isVisible)
