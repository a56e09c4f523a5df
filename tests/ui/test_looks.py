"""How the window looks: nothing is lost in a narrow panel, on dark ground or on a large screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QPoint, QRect, QSettings, QSize, Qt, QTimer
from PySide6.QtGui import QImage, QPalette
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialogButtonBox,
    QInputDialog,
    QKeySequenceEdit,
    QLineEdit,
    QMainWindow,
    QMenu,
    QSpinBox,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)
from pytestqt.qtbot import QtBot

from export_scenes import story
from scstream_app.library import Library
from scstream_app.ui import dialogs, theme
from scstream_app.ui.actions import Actions
from scstream_app.ui.dialogs import KeysDialog
from scstream_app.ui.docks import Dock
from scstream_app.ui.document import Document
from scstream_app.ui.main_window import MainWindow
from scstream_app.ui.message_bar import MessageBar
from scstream_app.ui.plots.common import ShortAxis
from scstream_app.ui.segments import SegmentsPanel
from scstream_app.ui.segments_model import AGE, COLOUR, DRIFT, ID, NAME, POSITION, SHOWN, SIZE
from scstream_app.ui.statistics import StatisticsPanel
from scstream_app.ui.welcome import Welcome


@pytest.fixture
def settings(tmp_path: Path) -> QSettings:
    return QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)


@pytest.fixture
def dark(qapp: QApplication) -> Iterator[None]:
    theme.apply(qapp, "dark")
    yield
    theme.apply(qapp, "system")


def brightness(widget: QWidget) -> npt.NDArray[np.int64]:
    """Of every pixel that the widget shows (H, W)."""
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_Grayscale8)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : image.width()].astype(np.int64)


def shown(widget: QWidget, qtbot: QtBot, width: int, height: int) -> None:
    qtbot.addWidget(widget)
    widget.resize(width, height)
    with qtbot.waitExposed(widget):
        widget.show()


# --- dark


@pytest.mark.usefixtures("dark")
@pytest.mark.parametrize("kind", [QLineEdit, QSpinBox])
def test_fields_have_a_frame_on_dark_ground(qtbot: QtBot, kind: type[QWidget]) -> None:
    field = kind()
    shown(field, qtbot, 120, 24)
    field.clearFocus()
    seen = brightness(field)
    middle = seen.shape[1] // 4
    ground = QApplication.palette().color(QPalette.ColorRole.Window).lightness()
    assert seen[:3, middle].max() > ground + 30


@pytest.mark.usefixtures("dark")
@pytest.mark.parametrize("name", ["qt_dockwidget_closebutton", "qt_dockwidget_floatbutton"])
def test_the_buttons_of_a_dock_are_seen_on_dark_ground(qtbot: QtBot, name: str) -> None:
    window = QMainWindow()
    dock = Dock("Segments", window)
    window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
    shown(window, qtbot, 300, 200)
    seen = brightness(dock.findChild(QAbstractButton, name))
    assert seen.max() - np.median(seen) > 80


def test_fields_go_with_the_system_back_to_light(qapp: QApplication, qtbot: QtBot) -> None:
    field = QLineEdit()
    shown(field, qtbot, 120, 24)
    light = brightness(field)
    theme.apply(qapp, "dark")
    qtbot.waitUntil(lambda: brightness(field).mean() < 0.5 * light.mean())
    theme.apply(qapp, "system")
    qtbot.waitUntil(lambda: brightness(field).mean() > 0.9 * light.mean())


# --- dialogs


@pytest.fixture
def keys(qtbot: QtBot, settings: QSettings) -> Iterator[KeysDialog]:
    window = QMainWindow()
    qtbot.addWidget(window)
    actions = Actions(window, settings)
    actions.set_keys("export", ["Ctrl+J"])
    dialog = KeysDialog(window, actions)
    with qtbot.waitExposed(dialog):
        dialog.show()
    yield dialog
    dialog.close()


def key_field(dialog: KeysDialog, name: str) -> QKeySequenceEdit:
    (found,) = [edit for edit in dialog.findChildren(QKeySequenceEdit) if edit.accessibleName() == f"Key of {name}"]
    return found


def test_enter_closes_the_keys_and_resets_none(keys: KeysDialog, qtbot: QtBot) -> None:
    qtbot.keyClick(keys, Qt.Key.Key_Return)
    assert not keys.isVisible()
    assert keys._actions.key("export") == "Ctrl+J"


def test_a_button_brings_the_original_keys_back(keys: KeysDialog, qtbot: QtBot) -> None:
    (reset,) = [button for button in keys.buttons.buttons() if "original" in button.text()]
    qtbot.mouseClick(reset, Qt.MouseButton.LeftButton)
    assert keys._actions.key("export") == "Ctrl+E"
    qtbot.mouseClick(keys.buttons.button(QDialogButtonBox.StandardButton.Close), Qt.MouseButton.LeftButton)
    assert not keys.isVisible()


def test_an_empty_key_says_nothing_and_takes_one(keys: KeysDialog, qtbot: QtBot) -> None:
    field = key_field(keys, "Open URL…")
    line = field.findChild(QLineEdit)
    assert (line.text(), line.placeholderText()) == ("", "")
    # The line inside has keys of its own on some systems, but never the focus.
    qtbot.keyClick(field, Qt.Key.Key_U, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: keys._actions.key("open_url") == "Ctrl+U")


def test_a_key_can_be_taken_away(keys: KeysDialog, qtbot: QtBot) -> None:
    line = key_field(keys, "Export…").findChild(QLineEdit)
    clear = line.findChild(QAbstractButton)
    with qtbot.waitSignal(keys._actions.keys_changed):
        qtbot.mouseClick(clear, Qt.MouseButton.LeftButton)
        line.clearFocus()
    assert keys._actions.key("export") == ""


def test_there_is_room_for_an_address(qtbot: QtBot) -> None:
    parent, widths = QWidget(), list[int]()
    qtbot.addWidget(parent)

    def answer() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, QInputDialog)
        line = dialog.findChild(QLineEdit)
        widths.append(line.width())
        qtbot.keyClicks(line, " rtsp://camera/1 ")
        qtbot.keyClick(line, Qt.Key.Key_Return)

    QTimer.singleShot(0, answer)
    assert dialogs.ask_url(parent) == "rtsp://camera/1"
    assert widths[0] > 450


def test_an_error_and_a_notice_have_colours_of_their_own(qtbot: QtBot) -> None:
    bar = MessageBar()
    qtbot.addWidget(bar)
    colours = []
    (close,) = [button for button in bar.findChildren(QAbstractButton) if button.toolTip() == "Close the message"]
    for kind in ("error", "notice"):
        bar.say("Cannot open it.", kind)
        bar.resize(400, 30)
        colours.append(bar.grab().toImage().pixelColor(2, 2))
        qtbot.mouseClick(close, Qt.MouseButton.LeftButton)
    error, notice = colours
    assert error.red() > error.blue() + 15
    assert notice.blue() > notice.red() + 15


# --- narrow and large


@pytest.mark.parametrize("width", [300, 400, 430, 500, 640, 900])
def test_no_column_is_cut_off(story_document: Document, qtbot: QtBot, width: int) -> None:
    panel = SegmentsPanel(story_document)
    shown(panel, qtbot, width, 400)
    table = panel.findChild(QTableView)
    header = table.horizontalHeader()
    assert header.length() == table.viewport().width()
    seen = {column for column in range(header.count()) if not header.isSectionHidden(column)}
    assert seen >= {SHOWN, ID, NAME, SIZE} | ({AGE, COLOUR, POSITION} if width >= 430 else set())
    assert (seen == set(range(header.count()))) == (width >= 640)
    # A name with the mark of its object.
    words = table.fontMetrics().horizontalAdvance("segment 131")
    assert header.sectionSize(NAME) >= words + 10 + 2 * 8


def test_a_person_can_choose_columns(story_document: Document, qtbot: QtBot) -> None:
    panel = SegmentsPanel(story_document)
    shown(panel, qtbot, 430, 400)
    table = panel.findChild(QTableView)
    header = table.horizontalHeader()
    for title in ("Drift", "Age"):
        header.customContextMenuRequested.emit(QPoint(30, 5))
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        action = next(action for action in menu.actions() if action.text() == title)
        qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())
    assert not header.isSectionHidden(DRIFT)
    assert header.isSectionHidden(AGE)
    panel.resize(900, 400)
    assert header.isSectionHidden(AGE)
    header.customContextMenuRequested.emit(QPoint(30, 5))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(menu.actions()[0]).center())
    qtbot.waitUntil(lambda: not any(map(header.isSectionHidden, range(header.count()))))


def test_a_narrow_column_shows_a_colour_without_its_number(story_document: Document, qtbot: QtBot) -> None:
    panel = SegmentsPanel(story_document)
    shown(panel, qtbot, 400, 400)
    table = panel.findChild(QTableView)
    index = table.model().index(0, COLOUR)

    def text(width: int) -> str:
        option = QStyleOptionViewItem()
        option.rect = QRect(0, 0, width, 20)
        option.fontMetrics = table.fontMetrics()
        option.decorationSize = QSize(16, 16)
        table.itemDelegateForColumn(COLOUR).initStyleOption(option, index)
        return str(option.text)

    assert text(200) == table.model().data(index)
    assert text(40) == ""


def test_all_plots_over_time_fit_into_a_low_dock(story_document: Document, qtbot: QtBot) -> None:
    panel = StatisticsPanel(story_document)
    shown(panel, qtbot, 400, 330)
    view = panel.time._view
    assert view.height() <= view.parentWidget().height()
    told = {title.item.toPlainText().splitlines()[0] for title in panel.time.titles.values()}
    assert told >= {"log posterior", "churn, %"}


def test_numbers_on_a_low_axis_do_not_touch() -> None:
    ((spacing, _),) = ShortAxis("left").tickSpacing(31.0, 38.0, 40.0)
    assert spacing / 7.0 * 40.0 >= 18.0


def test_the_welcome_page_grows_with_the_window(qtbot: QtBot) -> None:
    page = Welcome()
    shown(page, qtbot, 1280, 720)
    usual, plain = page.samples.width(), page.font().pointSizeF()
    page.resize(3840, 2160)
    qtbot.waitUntil(lambda: page.samples.width() > 1.5 * usual)
    assert page.samples.font().pointSizeF() > 1.5 * plain
    page.resize(1280, 720)
    qtbot.waitUntil(lambda: page.samples.width() == usual)
    assert page.samples.font().pointSizeF() == pytest.approx(plain)


@pytest.mark.parametrize("size", [(1280, 720), (3840, 2160)])
def test_panels_get_their_part_of_the_window(
    qtbot: QtBot, settings: QSettings, tmp_path: Path, finished_session: Callable[..., Path], size: tuple[int, int]
) -> None:
    window = MainWindow(settings, Library(tmp_path / "sessions"))
    qtbot.addWidget(window)
    window.resize(*size)
    with qtbot.waitExposed(window):
        window.show()
    with qtbot.waitSignal(window.document.shown_changed, timeout=20_000):
        window.open_address(str(finished_session(story((48, 64)))))
    statistics, segments = window.panels["statistics"], window.panels["segments"]
    qtbot.waitUntil(lambda: statistics.height() > 0.35 * size[1])
    assert segments.height() > 0.35 * size[1]
    assert 0.15 * size[0] < segments.width() < 0.4 * size[0]
    window.close()
