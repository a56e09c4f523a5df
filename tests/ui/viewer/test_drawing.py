"""Drawing objects by mouse and keys: what is shown on the frame, and what is written to the session."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event

import imageio.v3 as iio
import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QSettings, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QToolButton
from pytestqt.qtbot import QtBot

from helpers.export_scenes import result
from helpers.menus import menu_called
from helpers.mouse import drag_along, move, press, release, turn_wheel
from scstream_app.objects import ObjectEdit, mask_from_png
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.session.library import Library
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.state import State
from scstream_app.ui.document.workers import carry_back_worker
from scstream_app.ui.qt.toast import Toast
from scstream_app.ui.window.main_window import MainWindow

LONG = 60_000
SHAPE = (48, 64)
#: Columns and rows of the dark square, segment 1, on all frames.
SQUARE = (slice(16, 32), slice(20, 40))
Mask = npt.NDArray[np.bool_]


def frames() -> list[FrameResult]:
    """Four frames: a dark square, segment 1, on bright ground, whose halves are segments 0 and 2."""
    ids = np.zeros(SHAPE, np.int32)
    ids[:, 32:] = 2
    ids[SQUARE] = 1
    rgb = np.full((*SHAPE, 3), 255, np.uint8)
    rgb[SQUARE] = (40, 60, 90)
    return [result(index, ids, rgb=rgb) for index in range(4)]


@pytest.fixture(scope="module")
def shared(compiled: None, qapp: QApplication, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MainWindow]:
    """One window for all tests: to create it takes longer than most of them."""
    folder = tmp_path_factory.mktemp("window")
    window = MainWindow(QSettings(str(folder / "a.ini"), QSettings.Format.IniFormat), Library(folder / "library"))
    window.show()
    yield window
    window.close()
    window.deleteLater()


@pytest.fixture
def drawn(
    shared: MainWindow, qtbot: QtBot, finished_session: Callable[[Sequence[FrameResult]], Path]
) -> Iterator[MainWindow]:
    """Active window with the four frames, the second one on the screen."""
    with qtbot.waitActive(shared, timeout=LONG):
        shared.activateWindow()
    shared.drawing.tools.options.set_snap(False)
    shared.drawing.tools.options.set_size(24)
    shared.opening.open_session(finished_session(frames()))
    qtbot.waitUntil(lambda: shared.document.state is State.DONE, timeout=LONG)
    go_to(shared, qtbot, 1)
    yield shared
    shared.document.display.set_look(view="overlay")
    shared.actions_["close"].trigger()


def go_to(window: MainWindow, qtbot: QtBot, index: int) -> None:
    window.document.display.show(index)
    qtbot.waitUntil(lambda: window.document.display.index == index, timeout=LONG)


def at(window: MainWindow, x: float, y: float) -> QPoint:
    """Point of the viewer at a place of the frame."""
    placed = window.viewer.frame_map()
    return placed.transform((0, 0)).map(QPointF(x, y)).toPoint()


def draw(
    window: MainWindow,
    qtbot: QtBot,
    *places: tuple[float, float],
    held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
) -> None:
    """Drag over places of the frame, and wait until the stroke is applied."""
    drag_along(window.viewer, [at(window, x, y) for x, y in places], held=held)
    wait(window, qtbot)


def wait(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not window.drawing.tools.canvas.busy, timeout=LONG)


def written(window: MainWindow) -> list[tuple[str, list[ObjectEdit]]]:
    """Names and edits of the objects in the session's file."""
    return [(object_.name, list(object_.edits)) for object_ in window.document.session.objects]


def painted(window: MainWindow, place: int = 0) -> Mask:
    """Mask of the only edit, a painted one, of an object on the frame shown."""
    (edit,) = (edit for edit in written(window)[place][1] if edit.frame == window.document.display.index)
    assert edit.kind == "painted"
    return mask_from_png(edit.mask, SHAPE)


def tracked(window: MainWindow, qtbot: QtBot) -> list[npt.NDArray[np.uint8]]:
    """Numbers of the objects on all frames, once they are tracked."""
    session, objects = window.document.session, window.document.objects
    qtbot.waitUntil(
        lambda: all(session.read_object_masks(index, objects) is not None for index in range(4)), timeout=LONG
    )
    return [session.read_object_masks(index, objects).numbers for index in range(4)]


def screen(window: MainWindow) -> npt.NDArray[np.uint8]:
    """Pixels of the viewer (H, W, 3)."""
    image = window.viewer.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).copy()


def colour_at(window: MainWindow, x: float, y: float) -> npt.NDArray[np.int64]:
    point, ratio = at(window, x, y), window.viewer.devicePixelRatioF()
    return screen(window)[round(point.y() * ratio), round(point.x() * ratio)].astype(int)


def toast(window: MainWindow) -> str:
    label = window.viewer.findChild(QLabel, "toast")
    return label.text() if label.isVisible() else ""


def choose(window: MainWindow, qtbot: QtBot, key: Qt.Key, size: int | None = None) -> None:
    qtbot.keyClick(window, key)
    if size is not None:
        window.drawing.tools.bar.size_box.setValue(size)


# --- brush and eraser


def test_a_stroke_makes_an_object_that_is_tracked_from_its_frame_on(drawn: MainWindow, qtbot: QtBot) -> None:
    choose(drawn, qtbot, Qt.Key.Key_B, 4)
    draw(drawn, qtbot, (22, 24), (38, 24))
    ((name, (edit,)),) = written(drawn)
    assert (name, edit.kind, edit.frame, edit.stop) == ("object 1", "painted", 1, None)
    mask = painted(drawn)
    assert mask[24, 22:38].all()
    assert mask[22:26, 30].all()
    assert not mask[:21].any()
    assert not mask[28:].any()
    numbers = tracked(drawn, qtbot)
    assert not numbers[0].any()
    np.testing.assert_array_equal(numbers[1] > 0, mask)
    assert numbers[2].any()
    # The tint is on the screen before and after tracking.
    assert drawn.objects.current == "object 1"
    shown = drawn.document.display.shown.picture
    assert (shown[24, 30] != drawn.document.display.shown.result.picture[24, 30]).any()


def test_strokes_on_one_frame_are_one_edit_and_each_is_undone_alone(drawn: MainWindow, qtbot: QtBot) -> None:
    choose(drawn, qtbot, Qt.Key.Key_B, 4)
    draw(drawn, qtbot, (22, 24), (38, 24))
    first = painted(drawn)
    draw(drawn, qtbot, (10, 40), (20, 40))
    second = painted(drawn)
    assert (second & first).sum() == first.sum() < second.sum()
    choose(drawn, qtbot, Qt.Key.Key_E)
    draw(drawn, qtbot, (30, 24))
    third = painted(drawn)
    assert third.sum() < second.sum()
    assert not third[24, 30]
    for before in (second, first):
        qtbot.keyClick(drawn, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        np.testing.assert_array_equal(painted(drawn), before)
        np.testing.assert_array_equal(drawn.document.display.masks().mask(0), before)
    qtbot.keyClick(drawn, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert written(drawn) == []
    qtbot.keyClick(drawn, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    np.testing.assert_array_equal(painted(drawn), first)


def test_strokes_that_follow_at_once_are_all_applied_to_one_object(drawn: MainWindow, qtbot: QtBot) -> None:
    choose(drawn, qtbot, Qt.Key.Key_B, 2)
    for row in (8, 20, 40):
        drag_along(drawn.viewer, [at(drawn, 10, row), at(drawn, 30, row)])
    go_to(drawn, qtbot, 2)
    wait(drawn, qtbot)
    ((_, (edit,)),) = written(drawn)
    assert edit.frame == 1
    assert mask_from_png(edit.mask, SHAPE)[[8, 20, 40], 20].all()


def test_a_stroke_on_a_later_frame_changes_none_before(drawn: MainWindow, qtbot: QtBot) -> None:
    undo_commands.make_object(drawn.document, "square", [1], 0)
    before = tracked(drawn, qtbot)
    go_to(drawn, qtbot, 2)
    choose(drawn, qtbot, Qt.Key.Key_B, 6)
    draw(drawn, qtbot, (50, 40))
    after = tracked(drawn, qtbot)
    assert [name for name, _ in written(drawn)] == ["square"]
    for index in range(2):
        np.testing.assert_array_equal(after[index], before[index])
    np.testing.assert_array_equal(painted(drawn), (before[2] > 0) | (after[2] > 0))
    assert painted(drawn)[40, 50]
    assert painted(drawn)[SQUARE].all()


def test_a_painted_object_takes_pixels_from_the_others_of_its_frame(drawn: MainWindow, qtbot: QtBot) -> None:
    for name, id in (("left", 0), ("square", 1)):
        undo_commands.make_object(drawn.document, name, [id], 1)
    drawn.objects.highlight("left")
    choose(drawn, qtbot, Qt.Key.Key_B, 6)
    draw(drawn, qtbot, (30, 24))
    numbers = tracked(drawn, qtbot)[1]
    assert numbers[24, 30] == 1
    assert numbers[18, 22] == 2
    np.testing.assert_array_equal(numbers, drawn.document.display.masks().numbers)


def test_the_eraser_needs_an_object(drawn: MainWindow, qtbot: QtBot) -> None:
    choose(drawn, qtbot, Qt.Key.Key_E, 4)
    draw(drawn, qtbot, (30, 24))
    assert written(drawn) == []
    assert drawn.viewer.findChild(Toast).text() == "Highlight an object in the list to erase from it."


def test_escape_gives_up_a_stroke_and_then_the_tool(drawn: MainWindow, qtbot: QtBot) -> None:
    choose(drawn, qtbot, Qt.Key.Key_B, 4)
    press(drawn.viewer, at(drawn, 22, 24))
    move(drawn.viewer, at(drawn, 38, 24))
    qtbot.keyClick(drawn.viewer, Qt.Key.Key_Escape)
    release(drawn.viewer, at(drawn, 38, 24))
    assert written(drawn) == []
    assert drawn.actions_["tool_brush"].isChecked()
    qtbot.keyClick(drawn.viewer, Qt.Key.Key_Escape)
    assert drawn.actions_["tool_select"].isChecked()
    draw(drawn, qtbot, (30, 24))
    assert drawn.document.display.selection == {1}


def test_a_stroke_is_seen_while_it_is_drawn(drawn: MainWindow, qtbot: QtBot) -> None:
    choose(drawn, qtbot, Qt.Key.Key_B, 6)
    drawn.document.display.set_look(view="original")
    qtbot.waitUntil(lambda: drawn.document.display.shown.look.view == "original")
    before = colour_at(drawn, 8, 8)
    press(drawn.viewer, at(drawn, 4, 8))
    move(drawn.viewer, at(drawn, 14, 8))
    during = colour_at(drawn, 8, 8)
    release(drawn.viewer, at(drawn, 14, 8))
    wait(drawn, qtbot)
    colour = np.array(drawn.document.objects[0].colour)
    assert np.abs(during - colour).sum() < np.abs(before - colour).sum()
    assert (colour_at(drawn, 8, 20) == before).all()


@pytest.mark.parametrize("zoom", [1.0, 2.5])
def test_the_ring_has_the_size_of_the_brush_at_any_zoom(drawn: MainWindow, qtbot: QtBot, zoom: float) -> None:
    choose(drawn, qtbot, Qt.Key.Key_B, 6)
    drawn.document.display.set_look(view="original")
    qtbot.waitUntil(lambda: drawn.document.display.shown.look.view == "original")
    drawn.viewer.zoom(zoom)
    drawn.viewer.show_toast("")
    QApplication.sendEvent(drawn.viewer, QEvent(QEvent.Type.Leave))
    before = screen(drawn)
    move(drawn.viewer, at(drawn, 32, 24), Qt.MouseButton.NoButton)
    rows, columns = np.nonzero((screen(drawn) != before).any(axis=2))
    expected = 6 * drawn.viewer.scale
    for found in (rows, columns):
        assert np.ptp(found) == pytest.approx(expected, abs=5)


def test_keys_and_shift_wheel_change_the_size_and_the_wheel_still_zooms(drawn: MainWindow, qtbot: QtBot) -> None:
    options, place = drawn.drawing.tools.options, at(drawn, 30, 24)
    choose(drawn, qtbot, Qt.Key.Key_B, 20)
    qtbot.keyClick(drawn, Qt.Key.Key_BracketRight, Qt.KeyboardModifier.ShiftModifier)
    assert options.size == 24
    qtbot.keyClick(drawn, Qt.Key.Key_BracketLeft, Qt.KeyboardModifier.ShiftModifier)
    assert options.size == 20
    turn_wheel(drawn.viewer, place, -1, Qt.KeyboardModifier.ShiftModifier)
    assert options.size < 20
    scale, size = drawn.viewer.scale, options.size
    turn_wheel(drawn.viewer, place, 1)
    assert drawn.viewer.scale > scale
    assert options.size == size
    assert drawn.drawing.tools.bar.size_box.value() == size


def test_the_middle_button_moves_the_picture_with_any_tool(drawn: MainWindow, qtbot: QtBot) -> None:
    choose(drawn, qtbot, Qt.Key.Key_B, 4)
    before = at(drawn, 10, 10)
    drag_along(drawn.viewer, [QPoint(100, 100), QPoint(120, 105), QPoint(130, 110)], Qt.MouseButton.MiddleButton)
    assert at(drawn, 10, 10) - before == QPoint(30, 10)
    assert written(drawn) == []


# --- snap


def test_with_snap_a_stroke_takes_whole_segments(drawn: MainWindow, qtbot: QtBot) -> None:
    choose(drawn, qtbot, Qt.Key.Key_B, 2)
    qtbot.keyClick(drawn, Qt.Key.Key_S)
    draw(drawn, qtbot, (24, 24), (30, 24))
    expected = np.zeros(SHAPE, bool)
    expected[SQUARE] = True
    np.testing.assert_array_equal(painted(drawn), expected)


def test_with_snap_a_lasso_takes_what_is_mostly_inside(drawn: MainWindow, qtbot: QtBot) -> None:
    choose(drawn, qtbot, Qt.Key.Key_Q)
    qtbot.keyClick(drawn, Qt.Key.Key_S)
    draw(drawn, qtbot, (21, 17), (39, 17), (39, 34), (21, 34))
    expected = np.zeros(SHAPE, bool)
    expected[SQUARE] = True
    np.testing.assert_array_equal(painted(drawn), expected)


# --- lasso and box


def test_a_lasso_adds_and_with_alt_takes_away(drawn: MainWindow, qtbot: QtBot) -> None:
    choose(drawn, qtbot, Qt.Key.Key_Q)
    draw(drawn, qtbot, (10, 10), (30, 10), (30, 30), (10, 30))
    mask = painted(drawn)
    assert mask[12:28, 12:28].all()
    assert abs(int(mask.sum()) - 400) < 50
    held = Qt.KeyboardModifier.AltModifier
    draw(drawn, qtbot, (5, 5), (20, 5), (20, 40), (5, 40), held=held)
    assert not painted(drawn)[:, :19].any()
    assert painted(drawn)[12:28, 22:28].all()


def test_a_box_finds_the_thing_inside(drawn: MainWindow, qtbot: QtBot) -> None:
    choose(drawn, qtbot, Qt.Key.Key_X)
    draw(drawn, qtbot, (14, 10), (30, 20), (46, 38))
    mask, expected = painted(drawn), np.zeros(SHAPE, bool)
    expected[SQUARE] = True
    assert (mask & expected).sum() / (mask | expected).sum() > 0.8


# --- where drawing is possible


def test_the_tools_are_in_the_bar_and_in_the_menu_and_exclude_each_other(drawn: MainWindow, qtbot: QtBot) -> None:
    bar = drawn.drawing.tools.bar
    assert bar.geometry().right() <= drawn.viewer.geometry().left()
    names = [action.text() for action in menu_called(drawn, "Object").actions()]
    for id in ("tool_brush", "tool_eraser", "tool_lasso", "tool_box", "tool_select"):
        button = bar.widgetForAction(drawn.actions_[id])
        assert isinstance(button, QToolButton)
        assert button.toolTip() == f"{drawn.actions_[id].text()} ({drawn.actions_.key(id)})"
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        assert drawn.actions_[id].text() in names
        chosen = [other for other in names if other and _entry(drawn, other).isChecked() and other != "Show Objects"]
        assert chosen == [drawn.actions_[id].text()]
        # The bar lays out its widgets later.
        qtbot.waitUntil(lambda id=id: bar.size_box.isVisible() == (id in ("tool_brush", "tool_eraser")))
        qtbot.waitUntil(lambda id=id: bar.target.isVisible() == (id != "tool_select"))


def _entry(window: MainWindow, text: str):
    return next(action for action in menu_called(window, "Object").actions() if action.text() == text)


def test_the_bar_shows_and_chooses_which_object_is_drawn(drawn: MainWindow, qtbot: QtBot) -> None:
    undo_commands.make_object(drawn.document, "square", [1], 1)
    choose(drawn, qtbot, Qt.Key.Key_B, 4)
    target = drawn.drawing.tools.bar.target
    assert "'square'" in target.toolTip()
    menu = target.menu()
    menu.popup(drawn.mapToGlobal(QPoint(20, 20)))
    entry = menu.actions()[-1]
    assert entry.text() == "New Object"
    qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(entry).center())
    assert "new object" in target.toolTip()
    draw(drawn, qtbot, (8, 8))
    assert [name for name, _ in written(drawn)] == ["square", "object 1"]
    assert "'object 1'" in target.toolTip()


def test_a_stroke_stops_playback_and_another_frame_gives_it_up(drawn: MainWindow, qtbot: QtBot) -> None:
    choose(drawn, qtbot, Qt.Key.Key_B, 4)
    drawn.player.play()
    press(drawn.viewer, at(drawn, 22, 24))
    assert not drawn.player.playing
    index = drawn.document.display.index
    go_to(drawn, qtbot, 3 if index != 3 else 0)
    release(drawn.viewer, at(drawn, 22, 24))
    assert written(drawn) == []


def test_a_key_shows_and_hides_the_tint_of_objects(drawn: MainWindow, qtbot: QtBot) -> None:
    display = drawn.document.display
    undo_commands.make_object(drawn.document, "ground", [0], 1)
    display.set_look(view="original")
    qtbot.waitUntil(lambda: bool(display.shown.look.objects) and display.shown.look.view == "original", timeout=LONG)
    assert (colour_at(drawn, 6, 30) != 255).any()
    qtbot.keyClick(drawn, Qt.Key.Key_J)
    qtbot.waitUntil(lambda: not display.shown.look.show_objects, timeout=LONG)
    assert (colour_at(drawn, 6, 30) == 255).all()
    qtbot.keyClick(drawn, Qt.Key.Key_J)
    qtbot.waitUntil(lambda: display.shown.look.show_objects, timeout=LONG)
    assert (colour_at(drawn, 6, 30) != 255).any()


def test_strokes_do_not_wait_for_a_disk_that_hangs(drawn: MainWindow, qtbot: QtBot) -> None:
    going_on = Event()
    drawn._lists.do(going_on.wait, what="Looking for sessions")
    choose(drawn, qtbot, Qt.Key.Key_B, size=4)
    draw(drawn, qtbot, (22, 24), (38, 24))
    assert painted(drawn)[24, 30]
    going_on.set()
    qtbot.waitUntil(lambda: not drawn._lists.under_way, timeout=LONG)


# --- mask files


def test_a_mask_file_becomes_an_object_of_the_frame_shown(
    drawn: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = np.zeros(SHAPE, np.uint8)
    numbers[4:9, 5:12], numbers[20:30, 40:50] = 1, 2
    iio.imwrite(tmp_path / "dog.png", numbers)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(tmp_path / "dog.png"), ""))
    qtbot.keyClick(drawn, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: len(written(drawn)) == 2, timeout=LONG)
    assert [name for name, _ in written(drawn)] == ["dog 1", "dog 2"]
    for place in range(2):
        np.testing.assert_array_equal(painted(drawn, place), numbers == place + 1)
    assert "'dog 1' to 'dog 2' from frame 1 on" in drawn.message.text
    content = json.loads((drawn.document.session.path / "objects.json").read_text(encoding="utf-8"))
    assert "painted" in json.dumps(content)
    qtbot.keyClick(drawn, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert written(drawn) == []


def test_a_mask_of_another_size_is_refused_with_the_sizes(
    drawn: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    iio.imwrite(tmp_path / "dog.png", np.full((10, 20), 255, np.uint8))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(tmp_path / "dog.png"), ""))
    drawn.actions_["load_mask"].trigger()
    qtbot.waitUntil(lambda: "it is 20 x 10" in drawn.message.text, timeout=LONG)
    assert "64 x 48" in drawn.message.text
    assert written(drawn) == []


def test_a_mask_does_not_reach_a_clip_that_was_opened_meanwhile(
    drawn: MainWindow,
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    finished_session: Callable[[Sequence[FrameResult]], Path],
) -> None:
    iio.imwrite(tmp_path / "dog.png", np.full(SHAPE, 255, np.uint8))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(tmp_path / "dog.png"), ""))
    going_on = Event()
    drawn._lists.do(going_on.wait, what="Waiting")
    drawn.actions_["load_mask"].trigger()
    before = drawn.document.session
    drawn.opening.open_session(finished_session(frames()))
    qtbot.waitUntil(
        lambda: drawn.document.session not in (before, None) and drawn.document.display.index is not None, timeout=LONG
    )
    going_on.set()
    qtbot.waitUntil(lambda: not drawn._lists.under_way, timeout=LONG)
    assert drawn.document.objects == ()


def test_an_object_is_carried_back_to_the_first_frame_and_can_be_undone(drawn: MainWindow, qtbot: QtBot) -> None:
    go_to(drawn, qtbot, 3)
    qtbot.keyClick(drawn, Qt.Key.Key_B)
    draw(drawn, qtbot, (22, 18), (38, 18), (38, 30), (22, 30), (22, 24), (38, 24))
    tracked = drawn.document.session.read_object_masks
    qtbot.waitUntil(lambda: tracked(3, drawn.document.objects) is not None, timeout=LONG)
    painted = mask_of(drawn, 3)
    qtbot.keyClick(drawn, Qt.Key.Key_B, Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: len(drawn.document.objects[0].edits) > 1, timeout=LONG)
    ((_, edits),) = written(drawn)
    assert [(edit.kind, edit.frame, edit.stop) for edit in edits] == [("painted", 0, 3), ("painted", 3, None)]
    qtbot.waitUntil(lambda: tracked(0, drawn.document.objects) is not None, timeout=LONG)
    assert (mask_of(drawn, 0)[SQUARE]).mean() > 0.9
    qtbot.waitUntil(lambda: tracked(3, drawn.document.objects) is not None, timeout=LONG)
    np.testing.assert_array_equal(mask_of(drawn, 3), painted)
    drawn.actions_["undo"].trigger()
    assert [edit.frame for edit in drawn.document.objects[0].edits] == [3]


def test_carrying_back_stops_while_the_session_is_moved(
    drawn: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = drawn.document
    undo_commands.make_object(document, "square", [1])
    drawn.objects.highlight("square")
    monkeypatch.setattr(carry_back_worker, "carry_back", lambda *given: given[-1].wait(LONG / 1000.0))
    drawn.actions_["carry_back"].trigger()
    path = document.session.path
    document.set_aside()
    assert toast(drawn).startswith("The session is being saved: the object was not carried back.")
    document.open_session(path, moved=True)
    qtbot.waitUntil(lambda: not (document.saving or drawn.drawing.carry_back.worker.busy), timeout=LONG)
    assert len(document.objects[0].edits) == 1


def test_carrying_back_says_which_object_is_missing(drawn: MainWindow, qtbot: QtBot) -> None:
    first, second = drawn.document.display.shown.result.statistics["id"][:2].tolist()
    undo_commands.make_object(drawn.document, "kite", [first])
    undo_commands.make_object(drawn.document, "sail", [second])
    drawn.objects.highlight(None)
    drawn.actions_["carry_back"].trigger()
    assert drawn.viewer.findChild(Toast).text() == "Highlight an object in the list of objects to carry it back."


def mask_of(window: MainWindow, index: int) -> Mask:
    """Stored mask of the first object on a frame."""
    masks = window.document.session.read_object_masks(index, window.document.objects)
    assert masks is not None
    return masks.mask(0)
