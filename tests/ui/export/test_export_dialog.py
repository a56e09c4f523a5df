"""The export dialog writes exactly what is chosen, reports problems, and leaves no partial files when cancelled."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QColor, QDesktopServices, QImage
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QMessageBox,
    QProgressBar,
    QRadioButton,
    QTreeWidget,
    QWidget,
)
from pytestqt.qtbot import QtBot

from helpers.export_dialog import (
    LONG,
    Made,
    answer,
    button,
    click_box,
    control,
    finished,
    item,
    press,
    read_ids,
    shown_text,
    tick,
)
from helpers.export_scenes import leftovers
from helpers.exports import COUNTS, added_module
from scstream_app import headless
from scstream_app.errors import ExportError
from scstream_app.export import FORMATS
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.document import Document
from scstream_app.ui.export.export_dialog import ExportDialog
from scstream_app.ui.qt.widgets import DARK_CHECK, LIGHT_CHECK


def test_ids_are_written_exactly(make: Made, story_document: Document, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = make()
    with qtbot.waitSignal(dialog.exported, timeout=LONG) as caught:
        press(qtbot, dialog, "Export")
        assert story_document.exporting == 1
    assert caught.args == [tmp_path / "out"]
    assert story_document.exporting == 0
    assert sorted(path.name for path in (tmp_path / "out" / "ids").iterdir()) == [f"{n:05d}.png" for n in range(5)]
    for index in range(5):
        np.testing.assert_array_equal(
            read_ids(tmp_path / "out" / "ids" / f"{index:05d}.png"), story_document.session.ids(index)
        )
    assert shown_text(dialog, "status").startswith("5 frames written")
    assert shown_text(dialog, "status").endswith(": ids.")
    assert dialog.findChild(QProgressBar).value() == 5


def test_the_folder_is_shown_at_the_end(
    make: Made, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url) or True)
    dialog = make()
    assert not button(dialog, "Show in Folder").isVisible()
    with qtbot.waitSignal(dialog.exported, timeout=LONG):
        press(qtbot, dialog, "Export")
    press(qtbot, dialog, "Show in Folder")
    assert [url.toLocalFile() for url in opened] == [str(tmp_path / "out")]
    assert shown_text(dialog, "status").startswith("5 frames written")


def test_without_a_file_manager_the_message_names_the_folder(
    make: Made, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: False)
    dialog = make()
    with qtbot.waitSignal(dialog.exported, timeout=LONG):
        press(qtbot, dialog, "Export")
    press(qtbot, dialog, "Show in Folder")
    assert shown_text(dialog, "status") == f"Cannot open a file manager. The files are in '{tmp_path / 'out'}'."


@pytest.mark.parametrize(("which", "expected"), [("In to out", [1, 2, 3]), ("Current", [0]), ("All", [0, 1, 2, 3, 4])])
def test_frames_are_those_chosen(make: Made, qtbot: QtBot, tmp_path: Path, which: str, expected: list[int]) -> None:
    dialog = make(in_out=(1, 3))
    chosen = next(radio for radio in dialog.findChildren(QRadioButton) if radio.text().startswith(which))
    chosen.click()
    with qtbot.waitSignal(dialog.exported, timeout=LONG):
        press(qtbot, dialog, "Export")
    assert sorted(int(path.stem) for path in (tmp_path / "out" / "ids").iterdir()) == expected


def test_several_formats_at_once_with_size_and_names(make: Made, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = make()
    tick(dialog, "Overlay", "MP4 (H.264)", "CSV tables")
    control(dialog, QWidget, "Size").setValue(50)
    assert "32 × 24 pixels" in [label.text() for label in dialog.findChildren(QLabel)]
    line = control(dialog, QLineEdit, "File names")
    line.clear()
    qtbot.keyClicks(line, "{name}_{frame:03d}")
    assert shown_text(dialog, "example") == "for example overlay_000.png"
    qtbot.keyClicks(control(dialog, QComboBox, "Movies show"), "Boundaries")
    with qtbot.waitSignal(dialog.exported, timeout=LONG):
        press(qtbot, dialog, "Export")
    assert cv2.imread(str(tmp_path / "out" / "overlay" / "overlay_004.png")).shape == (24, 32, 3)
    assert (tmp_path / "out" / "boundaries.mp4").stat().st_size > 0
    assert (tmp_path / "out" / "segments.csv").read_text().count("\n") > 5


def test_problems_are_shown_before_the_export(make: Made, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = make()
    export = button(dialog, "Export")
    assert export.isEnabled()
    tick(dialog)
    assert shown_text(dialog) == "Choose at least one format."
    assert not export.isEnabled()
    tick(dialog, "Mean colour")
    line = control(dialog, QLineEdit, "File names")
    line.clear()
    qtbot.keyClicks(line, "picture")
    assert "must contain {frame}" in shown_text(dialog)
    line.setText("{frame}")
    assert shown_text(dialog) == ""
    (tmp_path / "file").write_text("")
    control(dialog, QLineEdit, "Folder").setText(str(tmp_path / "file"))
    assert "is a file" in shown_text(dialog)
    control(dialog, QLineEdit, "Folder").clear()
    assert shown_text(dialog) == "Choose a folder."
    assert not export.isEnabled()


def test_all_formats_are_offered_with_their_words_and_warnings(make: Made) -> None:
    dialog = make()
    tree = dialog.findChild(QTreeWidget)
    groups = [tree.topLevelItem(n) for n in range(tree.topLevelItemCount())]
    assert [group.text(0) for group in groups] == ["Pictures", "Movies", "Masks and ids", "Tables and volumes"]
    assert sum(group.childCount() for group in groups) == len(FORMATS)
    assert FORMATS["csv"].about in item(dialog, "CSV tables").toolTip(0)
    tick(dialog, "YOLO-seg data set")
    assert "thin bridges" in shown_text(dialog)
    assert button(dialog, "Export").isEnabled()


def test_a_new_module_is_in_the_dialog(make: Made, qtbot: QtBot, tmp_path: Path) -> None:
    with added_module(tmp_path, COUNTS):
        dialog = make()
        entry = item(dialog, "Counts of segments")
        assert entry.parent().text(0) == "Masks and ids"
        assert entry.toolTip(0) == "The number of segments, as text."
        preview, tree = control(dialog, QLabel, "Preview"), dialog.findChild(QTreeWidget)
        pictures = []
        for one in (item(dialog, "Boundaries"), entry):
            tree.setCurrentItem(one)
            pictures.append(preview.pixmap().toImage())
        assert pictures[0] == pictures[1]
        tick(dialog, "Counts of segments")
        assert shown_text(dialog) == "Counts: all shapes are lost."
        with qtbot.waitSignal(dialog.exported, timeout=LONG):
            press(qtbot, dialog, "Export")
        assert (tmp_path / "out" / "counts" / "00000.txt").read_text() == "3"


def test_formats_of_objects_need_one(make: Made, story_document: Document, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = make()
    for title in ("Object matte", "Object masks"):
        assert item(dialog, title).isDisabled()
        assert "Needs an object" in item(dialog, title).toolTip(0)
    assert control(dialog, QComboBox, "Movies show").findText("Object matte") < 0
    dialog.close()
    undo_commands.make_object(story_document, "kite", [1])
    dialog = make()
    tick(dialog, "Object masks")
    with qtbot.waitSignal(dialog.exported, timeout=LONG):
        press(qtbot, dialog, "Export")
    session, objects = story_document.session, story_document.objects
    for index in range(5):
        mask = cv2.imread(str(tmp_path / "out" / "object" / f"{index:05d}.png"), cv2.IMREAD_UNCHANGED)
        np.testing.assert_array_equal(mask > 0, session.read_object_masks(index, objects).mask(0))
        if index == 0:
            np.testing.assert_array_equal(mask > 0, session.ids(0) == 1)


def test_soft_edges_can_be_chosen_for_what_is_cut_out(
    make: Made, story_document: Document, qtbot: QtBot, tmp_path: Path
) -> None:
    undo_commands.make_object(story_document, "kite", [1])
    dialog = make()
    box = next(box for box in dialog.findChildren(QCheckBox) if box.text() == "Soft edges")
    tick(dialog, "Overlay", "MP4 (H.264)")
    assert not box.isEnabled()
    tick(dialog, "Object matte")
    assert box.isEnabled()
    box.setChecked(True)
    with qtbot.waitSignal(dialog.exported, timeout=LONG):
        press(qtbot, dialog, "Export")
    alpha = cv2.imread(str(tmp_path / "out" / "matte" / "00000.png"), cv2.IMREAD_UNCHANGED)[..., 3]
    assert ((alpha > 0) & (alpha < 255)).any()


def test_the_preview_is_what_is_highlighted(make: Made, story_document: Document) -> None:
    dialog = make()
    preview = control(dialog, QLabel, "Preview")
    tree = dialog.findChild(QTreeWidget)
    pictures = []
    for title in ("Overlay", "Mean colour", "Boundaries", "Ids, 16-bit PNG"):
        tree.setCurrentItem(item(dialog, title))
        pictures.append(preview.pixmap().toImage())
    assert all(one != other for n, one in enumerate(pictures) for other in pictures[:n])


def previews(dialog: ExportDialog) -> dict[str, QImage]:
    """The preview of every format by its name."""
    tree, preview = dialog.findChild(QTreeWidget), control(dialog, QLabel, "Preview")
    pictures = {}
    for name, kind in FORMATS.items():
        tree.setCurrentItem(item(dialog, kind.title))
        pictures[name] = preview.pixmap().toImage()
    return pictures


def test_the_preview_shows_objects_where_they_are_exported(make: Made, story_document: Document) -> None:
    annotations = [name for name, kind in FORMATS.items() if kind.prefers_objects]
    assert {"davis", "coco", "yolo"} <= set(annotations)
    dialog = make()
    segments = previews(dialog)
    assert [name for name in annotations if segments[name] != segments["ids"]] == []
    dialog.close()
    undo_commands.make_object(story_document, "kite", [1])
    objects = previews(make())
    assert [name for name in annotations if objects[name] != objects["object"]] == []
    assert objects["object"] != objects["ids"] == segments["ids"]


def test_transparent_places_of_the_preview_are_on_checkers(make: Made, story_document: Document, qtbot: QtBot) -> None:
    undo_commands.make_object(story_document, "square", [1])
    dialog = make()
    click_box(qtbot, dialog, "Object matte")
    picture = control(dialog, QLabel, "Preview").pixmap().toImage()
    assert not picture.hasAlphaChannel()
    scale = picture.width() / 64
    row, column = np.argwhere(story_document.display.shown.result.ids == 0)[0]
    left, top = int(column * scale), int(row * scale)
    there = {picture.pixelColor(left + x, top + y).name() for x in range(0, 16, 4) for y in range(0, 16, 4)}
    assert {QColor(shade).name() for shade in (LIGHT_CHECK, DARK_CHECK)} <= there


def test_cancelling_leaves_nothing_half_written(
    make: Made, story_document: Document, qtbot: QtBot, tmp_path: Path, held: threading.Event
) -> None:
    dialog = make()
    tick(dialog, "Ids, 16-bit PNG", "MP4 (H.264)", "Zarr volume")
    press(qtbot, dialog, "Export")
    qtbot.waitUntil(lambda: dialog.findChild(QProgressBar).value() > 0, timeout=LONG)
    assert not button(dialog, "Export").isEnabled()
    press(qtbot, dialog, "Cancel")
    held.set()
    qtbot.waitUntil(lambda: shown_text(dialog, "status").startswith("Cancelled"), timeout=LONG)
    out = tmp_path / "out"
    assert leftovers(out) == []
    assert not (out / "overlay.mp4").exists()
    assert not (out / "ids.zarr").exists()
    for path in (out / "ids").glob("*.png"):
        np.testing.assert_array_equal(read_ids(path), story_document.session.ids(int(path.stem)))
    assert story_document.exporting == 0
    # And it can be done after all.
    press(qtbot, dialog, "Export")
    with qtbot.waitSignal(dialog.exported, timeout=LONG):
        answer(qtbot, dialog, yes=True)
    assert (out / "overlay.mp4").exists()


def test_closing_in_the_midst_asks(
    make: Made, story_document: Document, qtbot: QtBot, tmp_path: Path, held: threading.Event
) -> None:
    dialog = make()
    press(qtbot, dialog, "Export")
    qtbot.waitUntil(lambda: dialog.findChild(QProgressBar).value() > 0, timeout=LONG)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    box = dialog.findChild(QMessageBox)
    assert dialog.isVisible()
    qtbot.mouseClick(box.button(QMessageBox.StandardButton.Yes), Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(dialog.destroyed, timeout=LONG):
        held.set()
    assert story_document.exporting == 0
    assert leftovers(tmp_path) == []


def test_a_failure_is_one_line(make: Made, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any, **options: Any) -> Iterator[int]:
        raise ExportError("Cannot write 'a.png': the disk is full.")

    monkeypatch.setattr(headless, "export", fail)
    dialog = make()
    press(qtbot, dialog, "Export")
    qtbot.waitUntil(lambda: finished(dialog), timeout=LONG)
    assert shown_text(dialog) == "Cannot write 'a.png': the disk is full."
    assert shown_text(dialog, "status") == "Some files were not written."
    assert not button(dialog, "Show in Folder").isVisible()


def test_files_that_are_there_can_be_refused(make: Made, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "out" / "ids").mkdir(parents=True)
    (tmp_path / "out" / "ids" / "00003.png").write_bytes(b"mine")
    dialog = make()
    control(dialog, QComboBox, "Existing files").setFocus()
    qtbot.keyClicks(control(dialog, QComboBox, "Existing files"), "Stop")
    press(qtbot, dialog, "Export")
    qtbot.waitUntil(lambda: finished(dialog), timeout=LONG)
    assert "the file exists" in shown_text(dialog)
    assert (tmp_path / "out" / "ids" / "00003.png").read_bytes() == b"mine"


def test_closing_the_document_ends_the_export(
    make: Made, story_document: Document, qtbot: QtBot, held: threading.Event
) -> None:
    dialog = make()
    press(qtbot, dialog, "Export")
    qtbot.waitUntil(lambda: dialog.findChild(QProgressBar).value() > 0, timeout=LONG)
    held.set()
    with qtbot.waitSignal(dialog.destroyed, timeout=LONG):
        story_document.close()
    assert story_document.exporting == 0
