"""The export dialog of a clip that is still being segmented."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton, QRadioButton, QTreeWidget
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_video
from helpers.held_worker import Holding
from scstream_app.settings import Settings
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State
from scstream_app.ui.export.export_dialog import ExportDialog

LONG = 60_000


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    """Twelve frames."""
    return write_video(tmp_path / "clip.mp4", moving_square(12))


@pytest.fixture
def holding(document: Document, clip: Path, quick: Settings, tmp_path: Path, qtbot: QtBot) -> Holding:
    """Holds the segmentation of the clip, of which four frames are segmented."""
    document.set_settings(quick)
    holding = Holding(document.run.worker, 4)
    document.open_source(str(clip), tmp_path / "clip.scstream")
    qtbot.waitUntil(lambda: len(document.summary) == 4 and document.display.shown is not None, timeout=LONG)
    return holding


def opened(document: Document, qtbot: QtBot, in_out: tuple[int, int] | None = None) -> ExportDialog:
    dialog = ExportDialog(document, in_out=in_out)
    qtbot.addWidget(dialog)
    with qtbot.waitExposed(dialog):
        dialog.show()
    return dialog


def choices(dialog: ExportDialog) -> list[str]:
    return [button.text() for button in dialog.findChildren(QRadioButton)]


def note(dialog: ExportDialog) -> str:
    label = dialog.findChild(QLabel, "unfinished")
    return label.text() if label.isVisible() else ""


def export_ids(dialog: ExportDialog, folder: Path, qtbot: QtBot) -> list[str]:
    """Export the ids and return the names of the files."""
    line = next(line for line in dialog.findChildren(QLineEdit) if line.accessibleName() == "Folder")
    line.setText(str(folder))
    tree = dialog.findChild(QTreeWidget)
    for item in tree.findItems("*", Qt.MatchFlag.MatchWildcard | Qt.MatchFlag.MatchRecursive):
        if item.parent() is not None:
            chosen = item.text(0) == "Ids, 16-bit PNG"
            item.setCheckState(0, Qt.CheckState.Checked if chosen else Qt.CheckState.Unchecked)
    button = next(button for button in dialog.findChildren(QPushButton) if button.text() == "Export")
    with qtbot.waitSignal(dialog.exported, timeout=LONG):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    return sorted(path.stem for path in (folder / "ids").iterdir())


def test_the_dialog_follows_the_segmentation(document: Document, holding: Holding, qtbot: QtBot) -> None:
    dialog = opened(document, qtbot)
    assert "All 4 so far" in choices(dialog)
    assert note(dialog).startswith("The clip is still being segmented: 4 of 12 frames so far.")
    assert "segmented when you click Export" in note(dialog)
    holding.release()
    qtbot.waitUntil(lambda: document.state is State.DONE, timeout=LONG)
    assert "All 12" in choices(dialog)
    assert note(dialog) == ""


def test_the_current_frame_is_that_of_the_window(document: Document, holding: Holding, qtbot: QtBot) -> None:
    dialog = opened(document, qtbot)
    document.display.show(2)
    qtbot.waitUntil(lambda: document.display.index == 2, timeout=LONG)
    assert "Current (2)" in choices(dialog)


@pytest.mark.parametrize(("in_out", "expected"), [(None, range(4)), ((2, 9), range(2, 4))])
def test_the_export_contains_what_is_segmented_at_the_click(
    in_out: tuple[int, int] | None,
    expected: range,
    document: Document,
    holding: Holding,
    qtbot: QtBot,
    tmp_path: Path,
) -> None:
    dialog = opened(document, qtbot, in_out)
    assert export_ids(dialog, tmp_path / "out", qtbot) == [f"{index:05d}" for index in expected]
    assert dialog.findChild(QLabel, "status").text().startswith(f"{len(expected)} frames written")


def test_a_marked_range_can_be_exported_as_soon_as_it_is_segmented(
    document: Document, holding: Holding, qtbot: QtBot, tmp_path: Path
) -> None:
    dialog = opened(document, qtbot, (8, 11))
    button = next(button for button in dialog.findChildren(QPushButton) if button.text() == "Export")
    assert not button.isEnabled()
    holding.release()
    qtbot.waitUntil(lambda: document.state is State.DONE, timeout=LONG)
    assert button.isEnabled()
    assert export_ids(dialog, tmp_path / "out", qtbot) == [f"{index:05d}" for index in range(8, 12)]


def test_a_stopped_clip_is_named_unfinished(document: Document, holding: Holding, qtbot: QtBot) -> None:
    dialog = opened(document, qtbot)
    document.pause(True)
    qtbot.waitUntil(lambda: document.state is State.PAUSED, timeout=LONG)
    assert note(dialog) == "The clip is not finished: 4 of 12 frames are segmented. Other frames are not exported."


def test_a_dialog_opened_too_early_allows_the_export_from_the_first_frame_on(
    document: Document, clip: Path, quick: Settings, qtbot: QtBot, tmp_path: Path
) -> None:
    document.set_settings(quick)
    holding = Holding(document.run.worker, 0)
    document.open_source(str(clip), tmp_path / "clip.scstream")
    qtbot.waitUntil(lambda: document.session is not None, timeout=LONG)
    dialog = opened(document, qtbot)
    holding.release()
    qtbot.waitUntil(lambda: document.state is State.DONE, timeout=LONG)
    assert len(export_ids(dialog, tmp_path / "out", qtbot)) == 12
