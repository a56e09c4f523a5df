"""Two runs of a clip compared by mouse and keys: wipe, side by side, difference, statistics, and one of them kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from helpers.clips import write_images
from helpers.dialogs import answering, choose_folder
from helpers.export_scenes import statistics, story
from helpers.menus import menu_called
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.session import Session
from scstream_app.settings import Settings
from scstream_app.sources import open_source
from scstream_app.ui.compare.comparison_window import ComparisonWindow
from scstream_app.ui.compare.run_chooser import RunChooser
from scstream_app.ui.document.state import State
from scstream_app.ui.window.main_window import MainWindow

LONG = 60_000
LEFT = Qt.MouseButton.LeftButton
RUN = story((48, 64))


def other_run() -> list[FrameResult]:
    """The same pictures with other ids; the lower quarter belongs to the square."""
    results = []
    for result in RUN:
        ids = result.ids + 10
        ids[36:] = 11
        results.append(replace(result, ids=ids, statistics=statistics(result.picture, ids), events=()))
    return results


class Runs:
    """Window with a run of a clip; other runs are in the library or elsewhere."""

    def __init__(self, qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
        self.qtbot, self.window = qtbot, window
        self.folder = tmp_path
        self.clip = write_images(tmp_path / "clip", [result.picture for result in RUN])
        self.first = self.store("first", RUN)
        window.opening.open_session(self.first)
        self.wait(lambda: window.document.state is State.DONE and window.document.display.index is not None)

    def wait(self, until: object) -> None:
        self.qtbot.waitUntil(until, timeout=LONG)  # type: ignore[arg-type]

    def store(
        self,
        name: str,
        results: Sequence[FrameResult],
        saved: bool = False,
        clip: Path | None = None,
        detail: float = 1,
    ) -> Path:
        folder = self.folder / "saved" if saved else self.window.library.folder
        path = folder / f"{name}.scstream"
        settings = Settings(detail=detail)
        with (
            open_source(str(clip or self.clip)) as source,
            Session.create(path, source, settings, unsaved=not saved) as session,
        ):
            for result in results:
                session.append(result)
            session.finish()
        return path

    def compare(self, path: Path) -> ComparisonWindow:
        self.window.compare.compare_with(path)
        return self.shown()

    def activate(self, comparison: ComparisonWindow) -> None:
        with self.qtbot.waitActive(comparison, timeout=LONG):
            comparison.activateWindow()

    def shown(self) -> ComparisonWindow:
        """The comparison when its frame and its statistics are shown."""
        self.wait(lambda: self.window.findChild(ComparisonWindow) is not None)
        comparison = self.window.findChild(ComparisonWindow)
        self.wait(lambda: "differ" in comparison.agreement.text() and "%" in cell(comparison, "Kept along motion")[0])
        return comparison

    def press(self, comparison: ComparisonWindow, button: QPushButton) -> None:
        self.qtbot.mouseClick(button, LEFT)

    def goes(self, comparison: ComparisonWindow) -> None:
        """Wait until the comparison is closed."""
        self.wait(lambda: self.window.findChild(ComparisonWindow) is None)


@pytest.fixture
def runs(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> Runs:
    return Runs(qtbot, window, tmp_path)


def cell(comparison: ComparisonWindow, name: str) -> tuple[str, str]:
    """Values of both runs in a line of the table."""
    table = comparison.table
    lines = {table.item(row, 0).text(): row for row in range(table.rowCount())}
    return (table.item(lines[name], 1).text(), table.item(lines[name], 2).text()) if name in lines else ("", "")


def colour_at(comparison: ComparisonWindow, x: float, y: float) -> QColor:
    """Colour on the screen at a pixel of the shown picture."""
    view = comparison.view
    target = view.image_rect()
    image = view.grab().toImage()
    return image.pixelColor(round(target.left() + (x + 0.5) * view.scale), round(target.top() + (y + 0.5) * view.scale))


def is_colour(colour: QColor, rgb: np.ndarray) -> bool:
    return bool(np.abs(np.array([colour.red(), colour.green(), colour.blue()]) - rgb.astype(int)).max() <= 2)


def mean_of(results: Sequence[FrameResult], index: int, y: int, x: int) -> np.ndarray:
    """Mean colour of the segment at a pixel."""
    result = results[index]
    return np.rint(result.picture[result.ids == result.ids[y, x]].mean(axis=0))


def test_the_menu_lists_the_unsaved_runs_of_the_clip(runs: Runs) -> None:
    window, qtbot = runs.window, runs.qtbot
    runs.store("second", other_run(), detail=4.0)
    inverted = [replace(result, rgb=255 - result.picture) for result in RUN]
    runs.store("unrelated", inverted, clip=write_images(runs.folder / "else", [each.picture for each in inverted]))
    (entry,) = [each for each in menu_called(window, "Segmentation").actions() if each.objectName() == "compare_runs"]
    assert entry.text().replace("&", "") == "Compare with Another Run…"
    entry.trigger()
    runs.wait(lambda: window.findChild(RunChooser) is not None)
    chooser = window.findChild(RunChooser)
    (item,) = [chooser.runs.item(row).text() for row in range(chooser.runs.count())]
    assert "5 frames" in item
    assert "Detail: 4" in item
    qtbot.keyClick(chooser.runs, Qt.Key.Key_Return)
    comparison = runs.shown()
    assert "25.0 % of the pixels differ" in comparison.agreement.text()
    assert cell(comparison, "Detail") == ("1", "4")
    assert cell(comparison, "Splits") == ("1", "0")
    assert cell(comparison, "Segments per frame")[0] == "3.4"


def test_the_wipe_shows_both_runs_and_its_divider_is_dragged(runs: Runs) -> None:
    comparison = runs.compare(runs.store("second", other_run()))
    view, index = comparison.view, comparison.slider.value()
    comparison.views.setFocus()
    runs.qtbot.keyClick(comparison.views, Qt.Key.Key_Down)
    first, second = (mean_of(results, index, 40, 16) for results in (RUN, other_run()))
    assert not np.array_equal(first, second)
    runs.wait(lambda: is_colour(colour_at(comparison, 16, 40), first))
    assert is_colour(colour_at(comparison, 48, 40), mean_of(other_run(), index, 40, 48))
    middle, far = view.width() // 2, round(view.image_rect().left() + 8 * view.scale)
    QTest.mousePress(view, LEFT, pos=QPoint(middle, view.height() // 2))
    QTest.mouseMove(view, QPoint(far, view.height() // 2))
    QTest.mouseRelease(view, LEFT, pos=QPoint(far, view.height() // 2))
    assert view.divider == pytest.approx(8 / 64, abs=0.02)
    assert is_colour(colour_at(comparison, 16, 40), second)


def test_side_by_side_and_the_difference_have_keys(runs: Runs) -> None:
    comparison = runs.compare(runs.store("second", other_run()))
    runs.activate(comparison)
    runs.qtbot.keyClick(comparison.view, Qt.Key.Key_2)
    runs.wait(comparison.modes["side_by_side"].isChecked)
    assert comparison.view.image_rect().width() * 48 != comparison.view.image_rect().height() * 64
    runs.qtbot.keyClick(comparison.view, Qt.Key.Key_3)
    runs.wait(comparison.modes["difference"].isChecked)
    different, equal = colour_at(comparison, 30, 44), colour_at(comparison, 2, 30)
    assert different.red() > different.blue() + 100
    assert equal.red() == equal.green() == equal.blue()


def test_both_windows_show_the_same_frame(runs: Runs) -> None:
    window, qtbot = runs.window, runs.qtbot
    comparison = runs.compare(runs.store("second", other_run()))
    window.document.display.show(1)
    runs.wait(lambda: comparison.agreement.text().startswith("Frame 1:"))
    assert (comparison.slider.value(), comparison.frame.value()) == (1, 1)
    qtbot.keyClick(comparison.slider, Qt.Key.Key_End)
    runs.wait(lambda: window.document.display.index == 4 and comparison.agreement.text().startswith("Frame 4:"))
    qtbot.keyClick(comparison.view, Qt.Key.Key_Left)
    runs.wait(lambda: window.document.display.index == 3 and comparison.agreement.text().startswith("Frame 3:"))


def test_a_frame_that_the_other_run_lacks_is_reported(runs: Runs) -> None:
    runs.window.document.display.show(2)
    runs.wait(lambda: runs.window.document.display.index == 2)
    comparison = runs.compare(runs.store("second", other_run()[:3]))
    runs.window.document.display.show(4)
    runs.wait(lambda: comparison.view.text == "Frame 4 is not segmented in the other run.")
    runs.window.document.display.show(2)
    runs.wait(lambda: comparison.agreement.text().startswith("Frame 2:"))
    assert comparison.view.text == ""


def test_another_clip_is_refused_and_a_missing_session_reported(runs: Runs) -> None:
    window = runs.window
    inverted = [replace(result, rgb=255 - result.picture) for result in RUN]
    path = runs.store("else", inverted, True, write_images(runs.folder / "else", [each.picture for each in inverted]))
    window.actions_["compare_runs"].trigger()
    runs.wait(lambda: window.findChild(RunChooser) is not None)
    chooser = window.findChild(RunChooser)
    assert not chooser.compare.isEnabled()
    runs.qtbot.mouseClick(chooser.browse, LEFT)
    choose_folder(chooser, path)
    comparison = window.findChild(ComparisonWindow)
    runs.wait(lambda: comparison.view.text == "'else.scstream' is not a run of this clip: it segments another one.")
    window.compare.compare_with(runs.folder / "gone.scstream")
    assert "does not exist any more" in window.message.text


def test_the_other_run_is_deleted_only_if_the_user_says_so(runs: Runs) -> None:
    second = runs.store("second", other_run())
    comparison = runs.compare(second)
    with answering(runs.qtbot, "Cancel") as asked:
        runs.press(comparison, comparison.keep_this)
    assert "second" in asked[0]
    assert comparison.isVisible()
    with answering(runs.qtbot, "Keep Both"):
        runs.press(comparison, comparison.keep_this)
    runs.goes(comparison)
    assert second.exists()
    comparison = runs.compare(second)
    with answering(runs.qtbot, "Delete"):
        runs.press(comparison, comparison.keep_this)
    runs.wait(lambda: not second.exists())
    assert runs.window.document.session.path == runs.first


def test_the_other_run_can_be_kept_and_this_one_deleted(runs: Runs) -> None:
    window, second = runs.window, runs.store("second", other_run())
    comparison = runs.compare(second)
    with answering(runs.qtbot, "Delete"):
        runs.press(comparison, comparison.keep_other)
    runs.wait(lambda: window.document.session is not None and window.document.session.path == second)
    runs.wait(lambda: not runs.first.exists() and window.document.display.shown is not None)
    assert window.document.display.shown.result.ids.max() >= 10


def test_a_saved_run_is_never_deleted(runs: Runs) -> None:
    window, saved = runs.window, runs.store("kept", other_run(), saved=True)
    comparison = runs.compare(saved)
    # Nothing is asked: a saved session stays.
    runs.press(comparison, comparison.keep_this)
    runs.goes(comparison)
    assert saved.exists()
    comparison = runs.compare(saved)
    with answering(runs.qtbot, "Keep Both"):
        runs.press(comparison, comparison.keep_other)
    runs.wait(lambda: window.document.session is not None and window.document.session.path == saved)
    runs.wait(lambda: window.document.state is State.DONE)
    assert runs.first.exists()
