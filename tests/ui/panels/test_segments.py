"""Segments and objects: the tables show the frame at hand, and all that is done to them can be undone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QEvent, QPersistentModelIndex, QPoint, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QColorDialog,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QTableView,
    QToolBar,
    QToolButton,
    QToolTip,
    QTreeWidget,
    QWidget,
)
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_video
from helpers.counting import Counter
from helpers.export_scenes import birth, result, story
from helpers.held_worker import pause_after_each
from scstream.pixels.statistics import STATISTICS
from scstream.sampler.genealogy import Kind
from scstream_app.pipeline.edits import Edit
from scstream_app.pipeline.run import Notice
from scstream_app.session import MarkedObject, Names, Session
from scstream_app.settings import Settings
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.playback.player import Player
from scstream_app.ui.document.state import State
from scstream_app.ui.panels.object_dialog import ObjectDialog
from scstream_app.ui.panels.objects import ObjectsPanel
from scstream_app.ui.panels.segments import SegmentsPanel
from scstream_app.ui.panels.segments_items import (
    AGE,
    COLOUR,
    DRIFT,
    ID,
    LOCKED,
    NAME,
    POSITION,
    SHARE,
    SHOWN,
    SIZE,
)
from scstream_app.ui.panels.segments_model import SegmentsModel
from scstream_app.ui.qt.appearance import theme

pytestmark = pytest.mark.slow

LONG = 60_000


@pytest.fixture
def panel(story_document: Document, qtbot: QtBot) -> SegmentsPanel:
    return shown(SegmentsPanel(story_document), qtbot)


@pytest.fixture
def objects(story_document: Document, qtbot: QtBot) -> ObjectsPanel:
    return shown(ObjectsPanel(story_document), qtbot)


def shown(widget: Any, qtbot: QtBot) -> Any:
    qtbot.addWidget(widget)
    widget.resize(700, 400)
    with qtbot.waitExposed(widget):
        widget.show()
    return widget


def table(panel: SegmentsPanel) -> QTableView:
    return panel.findChild(QTableView)


def column(panel: SegmentsPanel, which: int, role: int = Qt.ItemDataRole.DisplayRole) -> list[object]:
    model = table(panel).model()
    return [model.data(model.index(row, which), role) for row in range(model.rowCount())]


def ids(panel: SegmentsPanel) -> list[int]:
    return [int(text) for text in column(panel, ID)]


def cell(panel: SegmentsPanel, id: int, which: int) -> QPoint:
    view = table(panel)
    return view.visualRect(view.model().index(ids(panel).index(id), which)).center()


def click(
    qtbot: QtBot, panel: SegmentsPanel, id: int, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    qtbot.mouseClick(table(panel).viewport(), Qt.MouseButton.LeftButton, held, cell(panel, id, SIZE))


def selected(panel: SegmentsPanel) -> set[int]:
    return {ids(panel)[index.row()] for index in table(panel).selectionModel().selectedRows()}


def show(document: Document, qtbot: QtBot, index: int) -> None:
    document.display.show(index)
    qtbot.waitUntil(lambda: document.display.index == index)


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


# --- what is done to segments


def test_a_name_typed_into_the_table_can_be_undone(
    panel: SegmentsPanel, story_document: Document, qtbot: QtBot
) -> None:
    view = table(panel)
    place = column(panel, POSITION)[ids(panel).index(1)]
    for act in (qtbot.mouseClick, qtbot.mouseDClick):
        act(view.viewport(), Qt.MouseButton.LeftButton, pos=cell(panel, 1, NAME))
    editor = view.viewport().findChild(QLineEdit)
    assert editor.text() == ""
    qtbot.keyClicks(editor, "ki")
    # A frame that comes meanwhile leaves it alone.
    show(story_document, qtbot, 1)
    qtbot.waitUntil(lambda: column(panel, POSITION)[ids(panel).index(1)] != place)
    qtbot.keyClicks(editor, "te")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: column(panel, NAME)[ids(panel).index(1)] == "kite")
    assert story_document.session.names.names == {1: "kite"}
    story_document.undo.undo()
    assert column(panel, NAME)[ids(panel).index(1)] == "segment 1"
    story_document.undo.redo()
    assert story_document.names.names == {1: "kite"}
    story_document.display.select([1])
    panel.rename_selected()
    assert [editor.text() for editor in view.viewport().findChildren(QLineEdit) if editor.isVisible()] == ["kite"]


def test_h_and_the_box_hide_and_show(panel: SegmentsPanel, story_document: Document, qtbot: QtBot) -> None:
    click(qtbot, panel, 1)
    qtbot.keyClick(table(panel), Qt.Key.Key_H)
    assert story_document.names.hidden == {1}
    states = dict(zip(ids(panel), column(panel, SHOWN, Qt.ItemDataRole.CheckStateRole), strict=True))
    assert Qt.CheckState(states[1]) is Qt.CheckState.Unchecked
    qtbot.keyClick(table(panel), Qt.Key.Key_H)
    assert story_document.names.hidden == set()
    story_document.undo.undo()
    assert story_document.names.hidden == {1}
    view = table(panel)
    rect = view.visualRect(view.model().index(ids(panel).index(2), SHOWN))
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(rect.left() + 10, rect.center().y()))
    assert story_document.names.hidden == {1, 2}


def test_recolouring_asks_and_can_be_undone(panel: SegmentsPanel, story_document: Document, qtbot: QtBot) -> None:
    before = column(panel, SHOWN, Qt.ItemDataRole.DecorationRole)
    story_document.display.select([0, 1])
    panel.recolour_selected()
    dialog = panel.findChild(QColorDialog)
    dialog.setCurrentColor(QColor(1, 2, 3))
    dialog.accept()
    assert dict(story_document.names.colours) == {0: (1, 2, 3), 1: (1, 2, 3)}
    swatches = dict(zip(ids(panel), column(panel, SHOWN, Qt.ItemDataRole.DecorationRole), strict=True))
    assert swatches[0] == swatches[1] == QColor(1, 2, 3)
    story_document.undo.undo()
    assert column(panel, SHOWN, Qt.ItemDataRole.DecorationRole) == before


def test_isolating_twice_shows_everything_again(panel: SegmentsPanel, story_document: Document) -> None:
    story_document.display.select([1])
    panel.isolate_selected()
    assert story_document.display.isolated == {1}
    panel.isolate_selected()
    assert story_document.display.isolated == set()


def test_a_name_that_makes_no_sense_is_refused(panel: SegmentsPanel, story_document: Document, qtbot: QtBot) -> None:
    model = table(panel).model()
    with qtbot.waitSignal(story_document.failed) as caught:
        assert not model.setData(model.index(0, NAME), "a\tb")
    assert "printable" in caught.args[0]
    assert story_document.names == Names()
    assert story_document.undo.count() == 0


def test_edits_of_a_finished_model_are_requested(panel: SegmentsPanel, story_document: Document, qtbot: QtBot) -> None:
    requested: list[str] = []
    panel.edit_requested.connect(requested.append)
    story_document.display.select([0, 1])
    qtbot.keyClick(table(panel), Qt.Key.Key_M)
    panel.split_selected()
    panel.toggle_locked()
    assert requested == ["merge", "split", "lock"]
    assert story_document.undo.count() == 0
    assert story_document.pending.locked == set()


def tips(panel: QWidget) -> dict[str, str]:
    """What the tips of buttons say that cannot be pressed now."""
    bar = panel.findChild(QToolBar)
    more = next(button for button in bar.findChildren(QToolButton) if button.text() == "More")
    actions = [*bar.actions(), *more.menu().actions()]
    return {action.iconText(): action.toolTip() for action in actions if action.iconText() and not action.isEnabled()}


def test_tips_say_what_is_missing(panel: SegmentsPanel, objects: ObjectsPanel, story_document: Document) -> None:
    assert tips(panel) == {
        "Hide": "Select segments to hide them",
        "Isolate": "Select segments to isolate them",
        "Merge": "Select two segments or more to merge them (Ctrl+click adds one)",
        "Split": "Select one segment to split it",
        "Add to Object…": "Select segments to add them to an object",
        "Colour…": "Select segments to choose their colour",
        "Rename": "Select one segment to rename it",
        "Lock": "Select segments to lock them",
    }
    assert tips(objects)["Rename…"] == "Highlight an object in the list to rename it"
    story_document.display.select([0, 1])
    assert set(tips(panel)) == {"Rename"}
    assert tips(objects)["Remove from Object"] == "There is no object yet"


# --- the model, while frames are segmented


@pytest.fixture
def running(document: Document, qtbot: QtBot, tmp_path: Path) -> Iterator[Document]:
    """A document that waits in the midst of a clip."""
    document.set_settings(Settings(max_init_sweeps=20, threads=1))
    clip = write_video(tmp_path / "clip.mp4", moving_square(40))
    pause_after_each(document.run.worker)
    document.progressed.connect(lambda: document.pause(True))
    document.open_source(str(clip), tmp_path / "a.scstream")
    qtbot.waitUntil(lambda: document.state is State.PAUSED and is_segmented(document), timeout=LONG)
    yield document
    document.pause(False)


def is_segmented(document: Document) -> bool:
    """Whether segments are shown, not the picture alone."""
    return document.display.shown is not None and len(document.display.shown.result.statistics) > 0


def advance(document: Document, qtbot: QtBot) -> None:
    """Let at least one frame be segmented that has not begun yet, and wait again."""

    def has_advanced(before: int) -> bool:
        if len(document.summary) > before:
            return True
        # Again and again: it may be paused once more for the frame before.
        document.pause(False)
        return False

    for _ in range(2):
        qtbot.waitUntil(partial(has_advanced, len(document.summary)), timeout=LONG)


def test_merging_by_key_reaches_the_model_and_is_undone_by_a_split(running: Document, qtbot: QtBot) -> None:
    panel = shown(SegmentsPanel(running), qtbot)
    notices: list[Notice] = []
    running.noticed.connect(notices.append)
    pair = ids(panel)[:2]
    running.display.select(pair)
    qtbot.keyClick(table(panel), Qt.Key.Key_M)
    assert running.undo.undoText() == f"Merge {undo_commands.segments_text(pair)} (undone by a split)"
    advance(running, qtbot)
    merges = [event for _, event in running.summary.events if event.kind is Kind.MERGE]
    assert set(merges[0].ids) == set(pair)
    running.undo.undo()
    assert "cannot be reversed" in notices[-1].text
    advance(running, qtbot)
    splits = [event for _, event in running.summary.events if event.kind is Kind.SPLIT]
    assert merges[0].ids[0] in {event.ids[0] for event in splits}
    # Doing it again merges what the two have become.
    running.undo.redo()
    advance(running, qtbot)
    assert sum(event.kind is Kind.MERGE for _, event in running.summary.events) >= 2


def test_tips_say_how_many_segments_are_wanted(running: Document, qtbot: QtBot) -> None:
    panel = shown(SegmentsPanel(running), qtbot)
    assert tips(panel)["Split"] == "Select one segment to split it"
    running.display.select(ids(panel)[:1])
    assert tips(panel) == {"Merge": "Select two segments or more to merge them (Ctrl+click adds one)"}


def test_while_the_first_frame_settles_the_panel_does_not_claim_that_there_is_nothing(
    document: Document, qtbot: QtBot, tmp_path: Path
) -> None:
    document.set_settings(Settings(max_init_sweeps=200, threads=1))
    panel = shown(SegmentsPanel(document), qtbot)
    count = panel.findChild(QLabel, "count")
    told, drafts = list[str](), list[str]()

    def look() -> None:
        told.append(count.text())
        if document.preview is not None and document.display.shown is not None:
            drafts.append(count.text())

    for signal in (document.state_changed, document.previewed, document.display.shown_changed):
        signal.connect(look)
    document.open_source(str(write_video(tmp_path / "clip.mp4", moving_square(6))), tmp_path / "a.scstream")
    qtbot.waitUntil(lambda: document.state is State.DONE, timeout=LONG)
    assert any(text.startswith("Analysing first frame… ") and text.endswith(" segments so far") for text in drafts)
    assert "0 segments" not in told
    qtbot.waitUntil(lambda: count.text() == f"{len(ids(panel))} segments")


def test_splitting_is_undone_by_a_merge_and_locking_by_unlocking(running: Document, qtbot: QtBot) -> None:
    panel = shown(SegmentsPanel(running), qtbot)
    sent: list[Edit] = []
    edit = running.edit
    running.edit = lambda wanted: (sent.append(wanted), edit(wanted))[1]  # type: ignore[method-assign]
    first = ids(panel)[0]
    running.display.select([first])
    qtbot.keyClick(table(panel), Qt.Key.Key_M, Qt.KeyboardModifier.AltModifier)
    advance(running, qtbot)
    parts = [event.ids for _, event in running.summary.events if event.kind is Kind.SPLIT and event.ids[0] == first]
    assert parts
    new = parts[0][1]
    running.undo.undo()
    assert running.pending.locked == set()
    panel.toggle_locked()
    assert column(panel, NAME, LOCKED)[ids(panel).index(first)]
    advance(running, qtbot)
    running.undo.undo()
    assert running.pending.locked == set()
    assert sent[:3] == [Edit("lock", (first,)), Edit("split", (first,)), Edit("lock", (new,))]
    # The lock of the new part may have been withdrawn in time.
    assert sent[3] in (Edit("unlock", (first, new)), Edit("unlock", (first,)))
    assert sent[4:] == [
        Edit("merge", parts[0]),
        Edit("lock", (first,)),
        Edit("unlock", (first,)),
    ]


def test_what_the_model_has_not_heard_of_is_withdrawn_and_can_be_wished_again(running: Document, qtbot: QtBot) -> None:
    panel = shown(SegmentsPanel(running), qtbot)
    notices: list[Notice] = []
    running.noticed.connect(notices.append)
    pair = ids(panel)[:2]
    undo_commands.merge(running, pair)
    running.undo.undo()
    assert "is undone; it had not reached the model yet" in notices[-1].text
    advance(running, qtbot)
    assert not any(edit for record in running.session.records() for edit in record.edits)
    running.undo.redo()
    advance(running, qtbot)
    made = [edit for record in running.session.records() for edit in record.edits]
    assert [(edit.kind, set(edit.ids)) for edit in made] == [("lock", set(pair)), ("merge", set(pair))]


@pytest.fixture
def odd(running: Document, qtbot: QtBot) -> tuple[int, int]:
    """Two segments so different that the model would divide them again: the largest and the one most unlike it."""
    rows = running.display.shown.result.statistics
    colours = np.stack([rows[name] for name in ("red", "green", "blue")], axis=1)
    large = int(rows["pixels"].argmax())
    other = int(np.abs(colours - colours[large]).sum(axis=1).argmax())
    return int(rows["id"][large]), int(rows["id"][other])


def splits_of(document: Document, id: int) -> list[tuple[int, ...]]:
    return [event.ids for _, event in document.summary.events if event.kind is Kind.SPLIT and event.ids[0] == id]


def run_on(document: Document, qtbot: QtBot, frames: int) -> None:
    for _ in range(frames):
        advance(document, qtbot)


def test_what_was_merged_by_hand_stays_one(running: Document, qtbot: QtBot, odd: tuple[int, int]) -> None:
    panel = shown(SegmentsPanel(running), qtbot)
    said: list[str] = []
    panel.message.connect(said.append)
    running.display.select(odd)
    qtbot.keyClick(table(panel), Qt.Key.Key_M)
    assert said == [
        f"{undo_commands.segments_text(odd).capitalize()} become one from the next frame on, and stay locked."
    ]
    run_on(running, qtbot, 6)
    (merge,) = (e for _, e in running.summary.events if e.kind is Kind.MERGE and set(e.ids) == set(odd))
    assert splits_of(running, merge.ids[0]) == []
    # The model goes on for all the others with one id locked that is no longer there.
    assert running.pending.locked == set(odd)
    there = f"segment {merge.ids[0]}", True
    qtbot.waitUntil(lambda: there in zip(column(panel, NAME), column(panel, NAME, LOCKED), strict=True), timeout=LONG)


def test_both_parts_of_a_split_by_hand_are_locked(running: Document, qtbot: QtBot) -> None:
    panel = shown(SegmentsPanel(running), qtbot)
    said: list[str] = []
    panel.message.connect(said.append)
    first = ids(panel)[0]
    running.display.select([first])
    qtbot.keyClick(table(panel), Qt.Key.Key_M, Qt.KeyboardModifier.AltModifier)
    assert said == [f"Segment {first} is split from the next frame on, and stays locked."]
    assert running.pending.locked == {first}
    run_on(running, qtbot, 6)
    ((_, part),) = splits_of(running, first)
    assert running.pending.locked == {first, part}
    assert not [e for _, e in running.summary.events if e.kind is Kind.MERGE and {first, part} & set(e.ids)]


def test_undoing_a_merge_unlocks_only_what_it_locked(running: Document, qtbot: QtBot) -> None:
    panel = shown(SegmentsPanel(running), qtbot)
    first, second = ids(panel)[:2]
    undo_commands.set_locked(running, [first], True)
    undo_commands.merge(running, [first, second])
    assert running.pending.locked == {first, second}
    running.undo.undo()
    assert running.pending.locked == {first}
    running.undo.redo()
    assert running.pending.locked == {first, second}
    advance(running, qtbot)
    running.undo.undo()
    assert running.pending.locked == {first}
    advance(running, qtbot)
    assert running.pending.locked == {first}


def test_what_cannot_be_split_is_not_left_locked(running: Document, qtbot: QtBot) -> None:
    panel = shown(SegmentsPanel(running), qtbot)
    notices: list[Notice] = []
    running.noticed.connect(notices.append)
    first, second = ids(panel)[:2]
    # Before the split has its turn there is nothing left of the smaller one.
    running.edit(Edit("merge", (first, second)))
    undo_commands.split(running, [first, second])
    assert running.pending.locked == {first, second}
    advance(running, qtbot)
    assert "Cannot split" in notices[-1].text
    assert running.pending.locked == set()
    before = sum(event.kind is Kind.MERGE for _, event in running.summary.events)
    running.undo.undo()
    assert "There is nothing to undo" in notices[-1].text
    advance(running, qtbot)
    assert sum(event.kind is Kind.MERGE for _, event in running.summary.events) == before


def test_a_lock_that_is_withdrawn_is_not_shown(running: Document, qtbot: QtBot) -> None:
    undo_commands.set_locked(running, [0], True)
    assert running.pending.locked == {0}
    running.undo.undo()
    assert running.pending.locked == set()


def test_what_the_model_did_stays_when_it_has_ended(running: Document, qtbot: QtBot) -> None:
    notices: list[Notice] = []
    running.noticed.connect(notices.append)
    undo_commands.set_locked(running, [0], True)

    def has_ended() -> bool:
        if running.state is State.DONE:
            return True
        running.pause(False)
        return False

    qtbot.waitUntil(has_ended, timeout=LONG)
    running.undo.undo()
    assert notices[-1].text == "All frames are segmented: 'Lock segment 0' cannot be undone any more."
    assert running.pending.locked == {0}
    assert running.undo.count() == 0


def test_a_merge_that_is_forgotten_is_not_undone_where_nothing_is_left_of_it(running: Document, qtbot: QtBot) -> None:
    panel = shown(SegmentsPanel(running), qtbot)
    notices: list[Notice] = []
    running.noticed.connect(notices.append)
    largest, *_, second, third = ids(panel)
    undo_commands.merge(running, [second, third])
    advance(running, qtbot)
    (merge,) = (e for _, e in running.summary.events if e.kind is Kind.MERGE and set(e.ids) == {second, third})
    running.edit(Edit("merge", (largest, merge.ids[0])))
    run_on(running, qtbot, 2)
    running.forget_before(running.summary.frames[-1])
    running.undo.undo()
    told = (
        f"The merge of {undo_commands.segments_text([second, third])} cannot be undone: the segment is no longer there."
    )
    assert notices[-1].text == told


def test_a_split_that_is_forgotten_says_that_it_cannot_be_undone(running: Document, qtbot: QtBot) -> None:
    panel = shown(SegmentsPanel(running), qtbot)
    notices: list[Notice] = []
    running.noticed.connect(notices.append)
    first = ids(panel)[0]
    undo_commands.split(running, [first])
    run_on(running, qtbot, 3)
    assert splits_of(running, first)
    running.forget_before(running.summary.frames[-1])
    running.undo.undo()
    told = f"The split of segment {first} cannot be undone: it is too long ago to know its parts."
    assert notices[-1].text == told
    assert running.undo.count() == 0
    assert running.pending.locked == set()


# --- objects


def rows_of(panel: ObjectsPanel) -> list[tuple[str, ...]]:
    tree = panel.findChild(QTreeWidget)
    items = [tree.topLevelItem(row) for row in range(tree.topLevelItemCount())]
    return [tuple(item.text(n) for n in (0, 1, 4, 5)) for item in items]


def answer(qtbot: QtBot, panel: QWidget, text: str | None = None) -> None:
    dialog = panel.findChild(ObjectDialog)
    if text is not None:
        line = dialog.findChild(QLineEdit)
        line.selectAll()
        qtbot.keyClicks(line, text)
    qtbot.mouseClick(
        dialog.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Ok), Qt.MouseButton.LeftButton
    )
    qtbot.waitUntil(lambda: panel.findChild(ObjectDialog) is None)


def test_an_object_made_of_the_selection_follows_a_split(
    panel: SegmentsPanel, objects: ObjectsPanel, story_document: Document, qtbot: QtBot
) -> None:
    click(qtbot, panel, 1)
    qtbot.keyClick(table(panel), Qt.Key.Key_G)
    answer(qtbot, panel)
    assert rows_of(objects) == [("object 1", "1", "0", "1")]
    show(story_document, qtbot, 3)
    qtbot.waitUntil(lambda: rows_of(objects) == [("object 1", "2", "0", "1")])
    tree = objects.findChild(QTreeWidget)
    place = tree.visualItemRect(tree.topLevelItem(0)).center()
    qtbot.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert story_document.display.selection == {1, 3}
    assert story_document.session.objects[0].ids == {1}
    story_document.undo.undo()
    assert rows_of(objects) == []
    story_document.undo.redo()
    assert rows_of(objects) == [("object 1", "2", "0", "1")]


def test_segments_come_to_an_object_and_go(objects: ObjectsPanel, story_document: Document, qtbot: QtBot) -> None:
    undo_commands.make_object(story_document, "kite", [1])
    tree = objects.findChild(QTreeWidget)
    tree.setCurrentItem(tree.topLevelItem(0))
    story_document.display.select([2])
    qtbot.keyClick(tree, Qt.Key.Key_G)
    # The highlighted one is offered.
    answer(qtbot, objects)
    assert rows_of(objects) == [("kite", "2", "0", "1")]
    assert story_document.objects[0].ids == {1, 2}
    qtbot.keyClick(tree, Qt.Key.Key_Delete)
    assert story_document.objects[0].ids == {1}
    story_document.undo.undo()
    assert story_document.objects[0].ids == {1, 2}


def test_a_part_that_is_taken_out_later_leaves_the_object_from_that_frame_on(
    objects: ObjectsPanel, story_document: Document, qtbot: QtBot
) -> None:
    undo_commands.make_object(story_document, "kite", [1])
    show(story_document, qtbot, 3)
    story_document.display.select([3])
    objects.remove_selected()
    assert story_document.display.members() == {"kite": {1}}
    assert rows_of(objects) == [("kite", "1", "0", "2")]
    story_document.display.select([0])
    undo_commands.add_to_object(story_document, "kite", [0])
    assert story_document.display.members() == {"kite": {0, 1}}
    show(story_document, qtbot, 2)
    assert story_document.display.members() == {"kite": {1, 3}}


def test_members_from_events_equal_those_of_the_session(story_document: Document, qtbot: QtBot) -> None:
    things = [
        MarkedObject.made("a", (0, 0, 0), 0, frozenset({1})),
        MarkedObject.made("b", (0, 0, 0), 1, frozenset({0, 2})),
    ]
    story_document.set_objects(things)
    for index in range(5):
        show(story_document, qtbot, index)
        told = dict(story_document.session.members(things))[index]
        assert dict(zip(["a", "b"], told, strict=True)) == story_document.display.members()


def test_objects_are_renamed_recoloured_and_deleted(
    objects: ObjectsPanel, story_document: Document, qtbot: QtBot
) -> None:
    undo_commands.make_object(story_document, "kite", [1])
    undo_commands.make_object(story_document, "sea", [0])
    tree = objects.findChild(QTreeWidget)
    tree.setCurrentItem(tree.topLevelItem(0))
    objects.rename_current()
    dialog = objects.findChild(ObjectDialog)
    line = dialog.findChild(QLineEdit)
    line.selectAll()
    ok = dialog.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Ok)
    qtbot.keyClicks(line, "Sea")
    assert not ok.isEnabled()
    line.clear()
    qtbot.keyClicks(line, "a/b")
    assert not ok.isEnabled()
    answer(qtbot, objects, "surfer")
    assert [row[0] for row in rows_of(objects)] == ["surfer", "sea"]
    objects.recolour_current()
    colours = objects.findChild(QColorDialog)
    colours.setCurrentColor(QColor(9, 8, 7))
    colours.accept()
    assert story_document.objects[0].colour == (9, 8, 7)
    objects.delete_current()
    assert [thing.name for thing in story_document.session.objects] == ["sea"]
    for _ in range(3):
        story_document.undo.undo()
    assert [thing.name for thing in story_document.session.objects] == ["kite", "sea"]


def test_objects_of_another_scene_are_gone(open_results: Callable[..., Document], qtbot: QtBot) -> None:
    results = story((48, 64))
    results[3] = replace(results[3], cut=True)
    document = open_results(results)
    undo_commands.make_object(document, "kite", [1])
    show(document, qtbot, 3)
    assert document.display.members() == {"kite": set()}


def test_marks_are_in_the_session_when_it_is_opened_again(
    panel: SegmentsPanel, story_document: Document, tmp_path: Path
) -> None:
    undo_commands.rename(story_document, 0, "sea")
    undo_commands.make_object(story_document, "kite", [1])
    with Session.open(story_document.session.path) as session:
        assert session.names == Names(names={0: "sea"})
        assert [thing.name for thing in session.objects] == ["kite"]


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
