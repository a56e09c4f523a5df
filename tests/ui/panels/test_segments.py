"""Tests of the table of segments: its rows, scrolling, order and selection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QEvent, QPersistentModelIndex, QPoint, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPalette
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QToolBar, QToolButton, QToolTip
from pytestqt.qtbot import QtBot

from helpers.counting import Counter
from helpers.export_scenes import birth, result
from helpers.segments_table import cell, click, column, ids, show, shown, table
from scstream.pixels.statistics import STATISTICS
from scstream_app.pipeline.edits import Edit
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.playback.player import Player
from scstream_app.ui.panels.segments import SegmentsPanel
from scstream_app.ui.panels.segments_items import AGE, COLOUR, DRIFT, ID, NAME, POSITION, SHARE, SIZE
from scstream_app.ui.panels.segments_model import SegmentsModel
from scstream_app.ui.qt.appearance import theme

pytestmark = pytest.mark.slow


def selected(panel: SegmentsPanel) -> set[int]:
    return {ids(panel)[index.row()] for index in table(panel).selectionModel().selectedRows()}


# --- the table


def test_a_frame_has_the_table_painted_once(panel: SegmentsPanel, story_document: Document, qtbot: QtBot) -> None:
    table(panel).setColumnHidden(DRIFT, True)
    paints = Counter(QEvent.Type.Paint, table(panel).viewport())
    before = paints.count
    # Segment 1 splits there: rows come, and their order is another one.
    show(story_document, qtbot, 2)
    qtbot.waitUntil(lambda: len(ids(panel)) == 4)
    assert paints.count == before + 1


def assert_shows(panel: SegmentsPanel, statistics: npt.NDArray[np.void]) -> None:
    rows = statistics[np.lexsort((statistics["id"], -statistics["pixels"]))]
    assert ids(panel) == rows["id"].tolist()
    assert column(panel, SIZE) == [str(n) for n in rows["pixels"]]
    assert column(panel, SHARE) == [f"{100 * share:.1f} %" for share in rows["share"]]
    assert column(panel, AGE) == [str(n) for n in rows["age"]]
    assert column(panel, POSITION) == [f"{row['column']:.0f}, {row['row']:.0f}" for row in rows]
    means = np.rint(255 * np.stack([rows[name] for name in ("red", "green", "blue")], axis=1)).astype(int)
    told = column(panel, COLOUR, Qt.ItemDataRole.AccessibleTextRole)
    assert told == ["#{:02x}{:02x}{:02x}".format(*mean) for mean in means]
    swatches = column(panel, COLOUR, Qt.ItemDataRole.DecorationRole)
    assert swatches == [QColor(*mean) for mean in means.tolist()]
    assert column(panel, NAME) == [f"segment {id}" for id in rows["id"]]


def test_rows_are_the_statistics_of_the_frame_at_hand(panel: SegmentsPanel, story_document: Document) -> None:
    assert_shows(panel, story_document.display.shown.result.statistics)


def test_a_segment_without_pixels_is_not_on_the_frame(
    panel: SegmentsPanel, story_document: Document, qtbot: QtBot
) -> None:
    everything = ids(panel)
    hidden = everything[-1]
    rows = story_document.display.shown.result.statistics
    rows["pixels"][rows["id"] == hidden] = 0
    story_document.display.shown_changed.emit()
    qtbot.waitUntil(lambda: len(ids(panel)) == len(everything) - 1)
    assert hidden not in ids(panel)
    assert f"{len(everything) - 1} segments" in [label.text() for label in panel.findChildren(QLabel)]
    story_document.display.select({hidden})
    with qtbot.waitSignal(panel.message) as said:
        panel.rename_selected()
    assert said.args == [f"Segment {hidden} is not on this frame."]


def test_the_last_frame_is_shown_when_playback_stops(
    panel: SegmentsPanel, story_document: Document, qtbot: QtBot
) -> None:
    player = Player(story_document)
    player.play()
    qtbot.waitUntil(lambda: not player.playing)
    last = story_document.display.shown.result
    assert last.index == 4
    qtbot.waitUntil(partial(assert_shows, panel, last.statistics))


def test_an_equal_frame_changes_nothing(story_document: Document) -> None:
    model, rows = SegmentsModel(story_document), story_document.display.shown.result.statistics
    model.show(rows)
    changes: list[object] = []
    for signal in (model.dataChanged, model.layoutChanged, model.rowsInserted, model.rowsRemoved):
        signal.connect(lambda *_: changes.append(1))
    model.show(rows.copy())
    assert not changes
    rows = rows.copy()
    rows["age"][rows["id"] == 2] += 1
    model.show(rows)
    assert changes == [1]


def test_a_tooltip_describes_the_segment_now(panel: SegmentsPanel, story_document: Document) -> None:
    viewport = table(panel).viewport()
    undo_commands.rename(story_document, 1, "kite")
    undo_commands.make_object(story_document, "toy", [1])
    place = cell(panel, 1, SIZE)
    QApplication.sendEvent(viewport, QHelpEvent(QEvent.Type.ToolTip, place, viewport.mapToGlobal(place)))
    code = column(panel, COLOUR, Qt.ItemDataRole.AccessibleTextRole)[ids(panel).index(1)]
    assert QToolTip.text() == f"kite, id 1, in object 'toy', mean colour {code}"
    QToolTip.hideText()


def test_screen_readers_hear_of_locks_but_not_of_row_numbers(panel: SegmentsPanel, story_document: Document) -> None:
    story_document.edit(Edit("lock", (1,)))
    told = dict(zip(ids(panel), column(panel, NAME, Qt.ItemDataRole.AccessibleTextRole), strict=True))
    assert told == {0: None, 1: "segment 1, locked", 2: None}
    model = table(panel).model()
    assert {model.headerData(row, Qt.Orientation.Vertical) for row in range(3)} == {None}


@pytest.fixture
def apply_theme(qapp: QApplication) -> Iterator[Callable[[str], None]]:
    """Function that applies a theme until the end of the test."""
    yield partial(theme.apply, qapp)
    theme.apply(qapp, "system")


def test_pale_texts_follow_the_theme(
    panel: SegmentsPanel, story_document: Document, qtbot: QtBot, apply_theme: Callable[[str], None]
) -> None:
    undo_commands.rename(story_document, 1, "kite")
    undo_commands.set_hidden(story_document, [2], True)

    def texts(which: int) -> dict[int, object]:
        return dict(zip(ids(panel), column(panel, which, Qt.ItemDataRole.ForegroundRole), strict=True))

    for name in ("light", "dark"):
        apply_theme(name)
        pale = QApplication.palette().color(QPalette.ColorRole.PlaceholderText)
        qtbot.waitUntil(lambda pale=pale: texts(NAME) == {0: pale, 1: None, 2: pale})
        assert texts(SIZE) == {0: None, 1: None, 2: pale}


def test_the_table_follows_the_frame_and_keeps_what_is_selected(
    panel: SegmentsPanel, story_document: Document, qtbot: QtBot
) -> None:
    story_document.display.select([2])
    show(story_document, qtbot, 4)
    qtbot.waitUntil(lambda: set(ids(panel)) == {0, 1, 3})
    # It is not there on this frame, but was not deselected either.
    assert selected(panel) == set()
    assert story_document.display.selection == {2}
    show(story_document, qtbot, 0)
    qtbot.waitUntil(lambda: set(ids(panel)) == {0, 1, 2})
    assert selected(panel) == {2}


def test_selection_goes_both_ways(panel: SegmentsPanel, story_document: Document, qtbot: QtBot) -> None:
    with qtbot.waitSignal(story_document.display.selection_changed):
        click(qtbot, panel, 1)
    assert story_document.display.selection == {1}
    click(qtbot, panel, 2, Qt.KeyboardModifier.ControlModifier)
    assert story_document.display.selection == {1, 2}
    heard: list[object] = []
    story_document.display.selection_changed.connect(lambda: heard.append(story_document.display.selection))
    story_document.display.select([0])
    assert selected(panel) == {0}
    assert heard == [{0}]


def test_the_number_of_selected_ones_says_which_are_on_the_frame(
    panel: SegmentsPanel, story_document: Document, qtbot: QtBot
) -> None:
    count = panel.findChild(QLabel, "count")
    click(qtbot, panel, 0)
    click(qtbot, panel, 2, Qt.KeyboardModifier.ControlModifier)
    assert count.text() == "3 segments, 2 selected"
    # There the second has been absorbed.
    show(story_document, qtbot, 4)
    qtbot.waitUntil(lambda: count.text() == "3 segments, 2 selected, 1 on this frame")
    story_document.display.select([2])
    assert count.text() == "3 segments, 1 selected, none on this frame"


# --- scrolling


@pytest.fixture
def crowd(open_results: Callable[..., Document]) -> Document:
    """Two frames with 60 segments; the lower the id the larger on the first, the other way round on the second."""
    widths = np.arange(60, 0, -1)
    down = np.broadcast_to(np.repeat(np.arange(60), widths), (4, widths.sum()))
    return open_results([result(0, down, [birth(0, id) for id in range(60)]), result(1, 59 - down)])


def in_sight(panel: SegmentsPanel, id: int) -> bool:
    return table(panel).viewport().rect().contains(cell(panel, id, NAME))


def first_in_sight(panel: SegmentsPanel) -> int:
    return ids(panel)[table(panel).rowAt(0)]


def scroll(panel: SegmentsPanel, qtbot: QtBot, key: Qt.Key) -> None:
    """Pull the list up or down as with the mouse."""
    bar = table(panel).verticalScrollBar()
    qtbot.keyClick(bar, key)


def test_what_is_selected_elsewhere_is_scrolled_to_and_stays_in_sight(crowd: Document, qtbot: QtBot) -> None:
    panel = shown(SegmentsPanel(crowd), qtbot)
    assert not in_sight(panel, 50)
    crowd.display.select([50])
    assert in_sight(panel, 50)
    show(crowd, qtbot, 1)
    qtbot.waitUntil(lambda: ids(panel)[0] == 59)
    assert in_sight(panel, 50)
    # One that is added is not worth losing sight of the first.
    top = first_in_sight(panel)
    crowd.display.select([50, 3])
    assert first_in_sight(panel) == top


def test_what_was_selected_before_there_is_a_table_is_scrolled_to(crowd: Document, qtbot: QtBot) -> None:
    crowd.display.select([50])
    panel = shown(SegmentsPanel(crowd), qtbot)
    qtbot.waitUntil(lambda: in_sight(panel, 50))
    panel.resize(700, 200)
    qtbot.waitUntil(lambda: table(panel).viewport().height() < 150 and in_sight(panel, 50))


def test_new_frames_do_not_scroll_back_to_the_selected_rows(crowd: Document, qtbot: QtBot) -> None:
    panel = shown(SegmentsPanel(crowd), qtbot)
    crowd.display.select([50])
    scroll(panel, qtbot, Qt.Key.Key_Home)
    assert first_in_sight(panel) == 0
    show(crowd, qtbot, 1)
    qtbot.waitUntil(lambda: ids(panel)[0] == 59)
    scroll(panel, qtbot, Qt.Key.Key_End)
    assert not in_sight(panel, 50)
    show(crowd, qtbot, 0)
    qtbot.waitUntil(lambda: ids(panel)[0] == 0)
    assert table(panel).verticalScrollBar().value() == table(panel).verticalScrollBar().maximum()
    # Another selection is a reason to move.
    crowd.display.select([5])
    assert in_sight(panel, 5)
    header = table(panel).horizontalHeader()
    where = QPoint(header.sectionViewportPosition(ID) + 5, header.height() // 2)
    for order in ([0, 1], [59, 58]):
        qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=where)
        assert ids(panel)[:2] == order
    top = first_in_sight(panel)
    show(crowd, qtbot, 1)
    qtbot.waitUntil(lambda: column(panel, SIZE)[0] == "240")
    assert first_in_sight(panel) == top


def test_rows_chosen_in_the_table_leave_it_where_it_is(crowd: Document, qtbot: QtBot) -> None:
    panel = shown(SegmentsPanel(crowd), qtbot)
    click(qtbot, panel, 2)
    scroll(panel, qtbot, Qt.Key.Key_End)
    for _ in range(2):
        click(qtbot, panel, 58, Qt.KeyboardModifier.ControlModifier)
        assert in_sight(panel, 58)
    assert crowd.display.selection == {2}


# --- order


def test_sorting_and_filtering(panel: SegmentsPanel, story_document: Document, qtbot: QtBot) -> None:
    undo_commands.rename(story_document, 2, "Kite")
    story_document.display.select([1])
    view = table(panel)
    header = view.horizontalHeader()
    place = QPoint(header.sectionViewportPosition(ID) + 5, header.height() // 2)
    qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert ids(panel) == sorted(ids(panel), reverse=header.sortIndicatorOrder() == Qt.SortOrder.DescendingOrder)
    view.sortByColumn(NAME, Qt.SortOrder.AscendingOrder)
    assert column(panel, NAME) == ["Kite", "segment 0", "segment 1"]
    assert selected(panel) == {1}
    box = panel.findChild(QLineEdit)
    qtbot.keyClicks(box, "kit")
    assert ids(panel) == [2]
    assert story_document.display.selection == {1}
    box.clear()
    qtbot.keyClicks(box, "1")
    assert ids(panel) == [1]
    assert selected(panel) == {1}


def test_rows_change_in_place(story_document: Document, qtbot: QtBot) -> None:
    model = SegmentsModel(story_document)
    resets: list[int] = []
    model.modelReset.connect(lambda: resets.append(1))
    rng = np.random.default_rng(0)
    for _ in range(20):
        places = {id: QPersistentModelIndex(model.index(row, 0)) for row, id in enumerate(model.ids)}
        rows = np.zeros(50, STATISTICS)
        rows["id"] = rng.choice(80, 50, replace=False)
        rows["pixels"] = rng.integers(1, 1000, 50)
        model.show(rows)
        assert model.ids == rows["id"][np.lexsort((rows["id"], -rows["pixels"]))].tolist()
        # What a view keeps of its selection goes with the segments.
        for id, place in places.items():
            assert place.isValid() == (id in rows["id"])
            assert not place.isValid() or model.id(place.row()) == id
    assert not resets


def test_a_frame_of_many_segments_is_a_few_changes(panel: SegmentsPanel, story_document: Document) -> None:
    """A change for each of 500 rows would keep the window busy for longer than a frame."""
    rng = np.random.default_rng(1)
    rows = np.zeros(500, STATISTICS)
    rows["id"] = np.arange(500)
    model = table(panel).model()
    assert isinstance(model, SegmentsModel)
    model.show(rows)
    changes: list[str] = []
    for name in ("dataChanged", "layoutChanged", "modelReset", "rowsInserted", "rowsMoved", "rowsRemoved"):
        getattr(model, name).connect(lambda *_, name=name: changes.append(name))
    for frame in range(10):
        rows = rows.copy()
        rows["pixels"] = rng.integers(1, 10_000, 500)
        rows["id"][frame * 3 : frame * 3 + 3] += 1000
        changes.clear()
        model.show(rows)
        QApplication.processEvents()
        assert "modelReset" not in changes
        assert len(changes) <= 10


# --- drift, buttons, menu


def test_drift_tells_how_far_a_segment_is_from_where_it_was_first_seen(story_document: Document, qtbot: QtBot) -> None:
    panel = shown(SegmentsPanel(story_document), qtbot)
    assert set(column(panel, DRIFT)) == {"0 px, 0 %"}
    story_document.display.show(3)
    qtbot.waitUntil(lambda: story_document.display.index == 3 and 3 in ids(panel))
    told = dict(zip(ids(panel), column(panel, DRIFT), strict=True))
    first, now = (story_document.session.statistics(frame) for frame in (0, 3))
    moved = [float(rows["column"][rows["id"] == 1][0]) for rows in (first, now)]
    down = [float(rows["row"][rows["id"] == 1][0]) for rows in (first, now)]
    distance = np.hypot(moved[1] - moved[0], down[1] - down[0])
    assert distance > 2.0
    assert told[1].startswith(f"{distance:.0f} px")


def test_sorting_by_drift_puts_what_moved_first(story_document: Document, qtbot: QtBot) -> None:
    panel = shown(SegmentsPanel(story_document), qtbot)
    story_document.display.show(3)
    qtbot.waitUntil(lambda: story_document.display.index == 3 and 3 in ids(panel))
    table(panel).sortByColumn(DRIFT, Qt.SortOrder.DescendingOrder)
    told = [text.replace("px,", "").replace("%", "").split() for text in column(panel, DRIFT)]
    sizes = [float(pixels) / 80.0 + float(colour) / 100.0 for pixels, colour in told]
    # The texts are rounded.
    assert all(sizes[n] >= sizes[n + 1] - 0.02 for n in range(len(sizes) - 1))
    assert sizes[0] > 0.05


def test_no_button_is_hidden_at_400_pixels(story_document: Document, qtbot: QtBot) -> None:
    panel = shown(SegmentsPanel(story_document), qtbot)
    panel.resize(400, 500)
    bar = panel.findChild(QToolBar)
    extension = bar.findChild(QToolButton, "qt_toolbar_ext_button")
    assert not extension.isVisible()
    assert all(button.isVisible() for button in bar.findChildren(QToolButton) if button is not extension)
    more = next(button for button in bar.findChildren(QToolButton) if button.text() == "More")
    assert [action.iconText() for action in more.menu().actions()] == ["Colour…", "Rename", "Lock"]
