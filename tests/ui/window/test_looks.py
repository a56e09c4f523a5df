"""Tests of the appearance: narrow panels, dark theme, large screens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
import pytest
from PySide6.QtCore import QPoint, QSettings, Qt, QTimer
from PySide6.QtGui import QImage, QPalette
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialogButtonBox,
    QKeySequenceEdit,
    QLineEdit,
    QMainWindow,
    QMenu,
    QSpinBox,
    QStyleOptionViewItem,
    QTabBar,
    QTableView,
    QWidget,
)
from pytestqt.qtbot import QtBot

from helpers.export_scenes import story
from scstream_app.session.library import UNSAVED, Library
from scstream_app.ui.actions.actions import Actions
from scstream_app.ui.document.document import Document
from scstream_app.ui.panels.plots.plot_helpers import ShortAxis
from scstream_app.ui.panels.segments import SegmentsPanel
from scstream_app.ui.panels.segments_items import AGE, COLOUR, DRIFT, ID, NAME, POSITION, SHOWN, SIZE
from scstream_app.ui.panels.statistics import StatisticsPanel
from scstream_app.ui.qt.appearance import theme
from scstream_app.ui.qt.layout.docks import Dock
from scstream_app.ui.qt.message_bar import MessageBar
from scstream_app.ui.sessions.opening.url_dialog import UrlDialog, ask_url
from scstream_app.ui.window.help_dialogs import KeysDialog
from scstream_app.ui.window.main_window import MainWindow
from scstream_app.ui.window.welcome.welcome import Welcome

pytestmark = pytest.mark.slow

#: Buttons of a dock's title bar.
BUTTONS = ("qt_dockwidget_closebutton", "qt_dockwidget_floatbutton")


@pytest.fixture
def dark(qapp: QApplication) -> Iterator[None]:
    theme.apply(qapp, "dark")
    yield
    theme.apply(qapp, "system")


def brightness(widget: QWidget) -> npt.NDArray[np.int64]:
    """Brightness of every pixel of the widget (H, W)."""
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_Grayscale8)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : image.width()].astype(np.int64)


def shown(widget: QWidget, qtbot: QtBot, width: int, height: int) -> None:
    qtbot.addWidget(widget)
    widget.resize(width, height)
    with qtbot.waitExposed(widget):
        widget.show()


# --- dark theme


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
@pytest.mark.parametrize("name", BUTTONS)
def test_the_buttons_of_a_dock_are_seen_on_dark_ground(qtbot: QtBot, name: str) -> None:
    window = QMainWindow()
    dock = Dock("Segments", window)
    window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
    shown(window, qtbot, 300, 200)
    seen = brightness(dock.findChild(QAbstractButton, name))
    assert seen.max() - np.median(seen) > 80


def test_the_buttons_of_a_dock_are_the_same_at_every_start(
    make: Callable[[], MainWindow], qtbot: QtBot, sessions: tuple[Path, Path]
) -> None:
    looks = []
    for _ in range(2):
        window = make()
        open_(window, qtbot, sessions[0])
        qtbot.mouseMove(window.viewer)
        buttons = [window.panels["segments"].findChild(QAbstractButton, name) for name in BUTTONS]
        looks.append([brightness(button) for button in buttons])
        window.close()
    for first, second in zip(*looks, strict=True):
        assert np.ptp(first) > 80
        assert np.array_equal(first, second)


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
def plain_window(qtbot: QtBot) -> QMainWindow:
    window = QMainWindow()
    qtbot.addWidget(window)
    return window


@pytest.fixture
def actions(plain_window: QMainWindow, settings: QSettings) -> Actions:
    return Actions(plain_window, settings)


@pytest.fixture
def keys(qtbot: QtBot, plain_window: QMainWindow, actions: Actions) -> Iterator[KeysDialog]:
    actions.set_keys("export", ["Ctrl+J"])
    dialog = KeysDialog(plain_window, actions)
    with qtbot.waitExposed(dialog):
        dialog.show()
    yield dialog
    dialog.close()


def key_field(dialog: KeysDialog, name: str) -> QKeySequenceEdit:
    (found,) = [edit for edit in dialog.findChildren(QKeySequenceEdit) if edit.accessibleName() == f"Key of {name}"]
    return found


def test_enter_closes_the_dialog_and_resets_no_shortcut(keys: KeysDialog, actions: Actions, qtbot: QtBot) -> None:
    qtbot.keyClick(keys, Qt.Key.Key_Return)
    assert not keys.isVisible()
    assert actions.key("export") == "Ctrl+J"


def test_a_button_restores_the_original_shortcuts(keys: KeysDialog, actions: Actions, qtbot: QtBot) -> None:
    (reset,) = [button for button in keys.buttons.buttons() if "Default" in button.text()]
    qtbot.mouseClick(reset, Qt.MouseButton.LeftButton)
    assert actions.key("export") == "Ctrl+E"
    qtbot.mouseClick(keys.buttons.button(QDialogButtonBox.StandardButton.Close), Qt.MouseButton.LeftButton)
    assert not keys.isVisible()


def test_an_empty_shortcut_field_accepts_keys(keys: KeysDialog, actions: Actions, qtbot: QtBot) -> None:
    field = key_field(keys, "Open URL…")
    line = field.findChild(QLineEdit)
    assert (line.text(), line.placeholderText()) == ("", "")
    # The inner line edit has shortcuts of its own on some systems, but never the focus.
    qtbot.keyClick(field, Qt.Key.Key_U, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: actions.key("open_url") == "Ctrl+U")


def test_a_shortcut_is_taken_from_the_action_that_had_it(
    keys: KeysDialog, actions: Actions, plain_window: QMainWindow, settings: QSettings, qtbot: QtBot
) -> None:
    field = key_field(keys, "Open URL…")
    qtbot.keyClick(field, Qt.Key.Key_J, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: actions.key("open_url") == "Ctrl+J")
    assert actions.key("export") == ""
    assert key_field(keys, "Export…").keySequence().isEmpty()
    assert keys.message.text() == "Ctrl+J was the key of 'Export', which has lost it."
    again = Actions(plain_window, settings)
    assert (again.key("open_url"), again.key("export")) == ("Ctrl+J", "")


def test_a_shortcut_can_be_removed(keys: KeysDialog, actions: Actions, qtbot: QtBot) -> None:
    line = key_field(keys, "Export…").findChild(QLineEdit)
    clear = line.findChild(QAbstractButton)
    with qtbot.waitSignal(actions.keys_changed):
        qtbot.mouseClick(clear, Qt.MouseButton.LeftButton)
        line.clearFocus()
    assert actions.key("export") == ""


def test_there_is_room_for_an_address(qtbot: QtBot) -> None:
    parent, widths = QWidget(), list[int]()
    qtbot.addWidget(parent)

    def answer() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, UrlDialog)
        line = dialog.findChild(QLineEdit)
        widths.append(line.width())
        qtbot.keyClicks(line, " rtsp://camera/1 ")
        qtbot.keyClick(line, Qt.Key.Key_Return)

    QTimer.singleShot(0, answer)
    assert ask_url(parent) == "rtsp://camera/1"
    assert widths[0] > 450


def test_an_error_and_a_notice_have_colours_of_their_own(qtbot: QtBot) -> None:
    bar = MessageBar()
    qtbot.addWidget(bar)
    colours = []
    (close,) = [button for button in bar.findChildren(QAbstractButton) if button.toolTip() == "Close the message"]
    for kind in ("error", "notice"):
        bar.show_message("Cannot open it.", kind)
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
    # A name with the marker of its object.
    words = table.fontMetrics().horizontalAdvance("segment 131")
    assert header.sectionSize(NAME) >= words + 10 + 2 * 8


def test_long_numbers_are_shown_in_full(story_document: Document, qtbot: QtBot) -> None:
    """Hours of video have ids of many digits, large pictures many pixels."""
    panel = SegmentsPanel(story_document)
    shown(panel, qtbot, 900, 400)
    table = panel.findChild(QTableView)
    assert story_document.display.shown is not None
    rows = story_document.display.shown.result.statistics.copy()
    rows["id"] += 1_234_500
    rows["pixels"], rows["age"], rows["column"], rows["row"] = 8_294_400, 216_000, 3839.0, 2159.0

    def show(statistics: npt.NDArray[np.void]) -> None:
        assert story_document.display.shown is not None
        found = replace(story_document.display.shown.result, statistics=statistics)
        story_document.display.shown = replace(story_document.display.shown, result=found)
        story_document.display.shown_changed.emit()

    def is_complete(column: int) -> bool:
        text = table.model().index(0, column).data()
        return table.columnWidth(column) >= table.fontMetrics().horizontalAdvance(text) + 6

    show(rows)
    qtbot.waitUntil(lambda: table.model().index(0, ID).data().startswith("12345"))
    assert all(map(is_complete, (ID, NAME, SIZE, AGE, POSITION)))
    # A column that the user made narrow stays narrow.
    table.setColumnWidth(AGE, 30)
    show(rows[:1])
    qtbot.waitUntil(lambda: table.model().rowCount() == 1)
    assert table.columnWidth(AGE) == 30


def test_the_user_can_choose_columns(story_document: Document, qtbot: QtBot) -> None:
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
    number = table.model().data(index, Qt.ItemDataRole.AccessibleTextRole)

    def text(width: int) -> str:
        table.setColumnWidth(COLOUR, width)
        option = QStyleOptionViewItem()
        table.itemDelegateForColumn(COLOUR).initStyleOption(option, index)
        return str(option.text)

    assert text(200) == number
    assert text(40) == ""
    assert text(16 + 12 + table.fontMetrics().horizontalAdvance("#000000")) == number


def test_all_plots_over_time_fit_into_a_low_dock(story_document: Document, qtbot: QtBot) -> None:
    panel = StatisticsPanel(story_document)
    # The size of the panel in a window of 1024 x 670.
    shown(panel, qtbot, 385, 268)
    view = panel.time.findChild(pg.GraphicsLayoutWidget)
    assert view.height() <= view.parentWidget().height()
    title = panel.time.titles["frame"]
    text = title.item.sceneBoundingRect()
    assert view.sceneRect().contains(text)
    lowest = panel.time.plots["uncertainty"]
    # On the line of the frame numbers, right of them.
    numbers = lowest.getAxis("bottom").sceneBoundingRect()
    assert numbers.top() < text.center().y() < numbers.bottom()
    assert text.left() >= numbers.right()
    titles = {title.item.toPlainText().splitlines()[0] for title in panel.time.titles.values()}
    assert titles >= {"log posterior", "churn %"}


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
    with qtbot.waitSignal(window.document.display.shown_changed, timeout=60_000):
        window.open_address(str(finished_session(story((48, 64)))))
    statistics, segments = window.panels["statistics"], window.panels["segments"]
    qtbot.waitUntil(lambda: statistics.height() > 0.35 * size[1])
    assert segments.height() > 0.35 * size[1]
    assert 0.15 * size[0] < segments.width() < 0.4 * size[0]
    window.close()


# --- widths of panels


@pytest.fixture
def sessions(finished_session: Callable[..., Path], tmp_path: Path) -> tuple[Path, Path]:
    """Two sessions to open; a third, unsaved one makes the welcome page wide."""
    left = tmp_path / "sessions" / "left.scstream"
    copytree(finished_session(story((48, 64))), left)
    (left / UNSAVED).touch()
    return finished_session(story((48, 64))), finished_session(story((48, 64)))


@pytest.fixture
def make(qtbot: QtBot, settings: QSettings, tmp_path: Path) -> Callable[[], MainWindow]:
    """Active window, so that it receives keys."""

    def make() -> MainWindow:
        window = MainWindow(settings, Library(tmp_path / "sessions"))
        qtbot.addWidget(window)
        window.show()
        with qtbot.waitActive(window, timeout=60_000):
            window.activateWindow()
        return window

    return make


def open_(window: MainWindow, qtbot: QtBot, session: Path) -> None:
    with qtbot.waitSignal(window.document.display.shown_changed, timeout=60_000):
        window.open_address(str(session))
    qtbot.waitUntil(window.panels["segments"].isVisible)


def close_document(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(window, Qt.Key.Key_W, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: window.welcome.unsaved.isVisible() and window.welcome.recent.isVisible())


def widths(window: MainWindow) -> set[int]:
    return {window.panels[name].width() for name in ("segments", "statistics")}


def draw_panels(window: MainWindow, qtbot: QtBot, by: int) -> None:
    """Drag the separator between picture and panels."""
    dock = window.panels["segments"]
    start = dock.geometry().topLeft() + QPoint(-3, dock.height() // 2)
    before = dock.width()
    qtbot.mouseMove(window, start)
    qtbot.mousePress(window, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(window, start - QPoint(by, 0))
    qtbot.waitUntil(lambda: dock.width() == before + by)
    qtbot.mouseRelease(window, Qt.MouseButton.LeftButton, pos=start - QPoint(by, 0))


@pytest.mark.parametrize("drawn", [0, 60, -40])
def test_panels_keep_their_width_from_clip_to_clip_and_start_to_start(
    make: Callable[[], MainWindow], qtbot: QtBot, sessions: tuple[Path, Path], drawn: int
) -> None:
    window = make()
    open_(window, qtbot, sessions[0])
    qtbot.waitUntil(lambda: widths(window) == {430})
    if drawn:
        draw_panels(window, qtbot, drawn)
    for session in (sessions[1], sessions[0]):
        close_document(window, qtbot)
        open_(window, qtbot, session)
        qtbot.waitUntil(lambda: widths(window) == {430 + drawn})
    close_document(window, qtbot)
    window.close()
    again = make()
    # A small screen shrinks the restored window.
    again.resize(1280, 800)
    open_(again, qtbot, sessions[0])
    qtbot.waitUntil(lambda: widths(again) == {430 + drawn})


@pytest.mark.parametrize("drawn", [0, 60])
def test_panels_get_their_width_back_when_the_window_grows_again(
    make: Callable[[], MainWindow], qtbot: QtBot, sessions: tuple[Path, Path], drawn: int
) -> None:
    window = make()
    open_(window, qtbot, sessions[0])
    qtbot.waitUntil(lambda: widths(window) == {430})
    if drawn:
        draw_panels(window, qtbot, drawn)
    window.resize(900, 600)
    qtbot.waitUntil(lambda: max(widths(window)) < 430 + drawn)
    # Names, labels of the controls and the playback controls stay readable.
    assert min(widths(window)) >= 340
    qtbot.waitUntil(lambda: window.transport.width() >= window.transport.minimumSizeHint().width())
    window.resize(1280, 800)
    qtbot.waitUntil(lambda: widths(window) == {430 + drawn})


def test_a_window_without_room_comes_to_rest(
    make: Callable[[], MainWindow], qtbot: QtBot, sessions: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    window, asked = make(), list[object]()
    open_(window, qtbot, sessions[0])
    window.resize(900, 600)
    qtbot.waitUntil(lambda: max(widths(window)) < 430)
    resize = window.resizeDocks
    monkeypatch.setattr(window, "resizeDocks", lambda *docks: (asked.append(docks), resize(*docks)))
    for _ in range(50):
        QApplication.processEvents()
    assert len(asked) < 5


def test_reset_layout_forgets_the_width_that_was_drawn(
    make: Callable[[], MainWindow], qtbot: QtBot, sessions: tuple[Path, Path]
) -> None:
    window = make()
    open_(window, qtbot, sessions[0])
    qtbot.waitUntil(lambda: widths(window) == {430})
    draw_panels(window, qtbot, 60)
    dialog = window.show_preferences()
    dialog.requested.emit("layout")
    dialog.close()
    qtbot.waitUntil(lambda: widths(window) == {430})


# --- tabs


@pytest.mark.parametrize("theme_", ["light", "dark"])
def test_the_tab_in_front_is_clear(
    make: Callable[[], MainWindow], qtbot: QtBot, qapp: QApplication, sessions: tuple[Path, Path], theme_: theme.Theme
) -> None:
    window = make()
    open_(window, qtbot, sessions[0])
    theme.apply(qapp, theme_)
    (bar,) = [bar for bar in window.findChildren(QTabBar) if bar.isVisible() and bar.tabText(0) == "Segments"]
    for front in (1, 0):
        qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(front).center())
        qtbot.mouseMove(window.viewer)
        qtbot.waitUntil(lambda front=front: lines(bar) == [n == front for n in range(bar.count())])
    theme.apply(qapp, "system")


def lines(bar: QTabBar) -> list[bool]:
    """For each tab, whether it is underlined in the highlight colour."""
    image, colour = bar.grab().toImage(), QApplication.palette().color(QPalette.ColorRole.Highlight)
    rects = [bar.tabRect(n) for n in range(bar.count())]
    return [image.pixelColor(rect.center().x(), rect.bottom() - 1) == colour for rect in rects]
