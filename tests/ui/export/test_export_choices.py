"""What the export dialog offers and begins with: formats that are ticked, the look, and what is remembered."""

from __future__ import annotations

from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QSpinBox,
    QTreeWidget,
)
from pytestqt.qtbot import QtBot

from helpers.export_dialog import IDS, LONG, Made, click_box, control, finished, item, items, press, tick
from scstream_app.render import palette
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.document import Document


@pytest.mark.parametrize("title", ["Boundaries", "CSV tables", "MP4 (H.264)"])
def test_a_checked_format_is_highlighted_described_and_previewed(make: Made, qtbot: QtBot, title: str) -> None:
    dialog = make()
    before = control(dialog, QLabel, "Preview").pixmap().toImage()
    click_box(qtbot, dialog, title)
    assert item(dialog, title).checkState(0) == Qt.CheckState.Checked
    assert dialog.findChild(QTreeWidget).currentItem() is item(dialog, title)
    assert item(dialog, title).toolTip(0) in [label.text() for label in dialog.findChildren(QLabel)]
    # Tables show the segments alone, as the ids do that were highlighted before.
    assert (control(dialog, QLabel, "Preview").pixmap().toImage() != before) == (title != "CSV tables")


def test_unticking_a_format_leaves_the_preview_of_a_ticked_one(make: Made, qtbot: QtBot) -> None:
    dialog = make()
    for title in ("CSV tables", "Overlay", "Boundaries"):
        click_box(qtbot, dialog, title)
    tree, preview = dialog.findChild(QTreeWidget), control(dialog, QLabel, "Preview")
    picture = preview.pixmap().toImage()
    click_box(qtbot, dialog, "Overlay")
    assert tree.currentItem() is item(dialog, "Boundaries")
    assert preview.pixmap().toImage() == picture
    click_box(qtbot, dialog, "Boundaries")
    assert tree.currentItem() is item(dialog, IDS)
    # With the keys, the row that is unticked stays at hand.
    tree.setCurrentItem(item(dialog, "CSV tables"))
    qtbot.keyClick(tree, Qt.Key.Key_Space)
    assert tree.currentItem() is item(dialog, "CSV tables")
    assert dialog.formats == ("ids",)


@pytest.mark.parametrize(
    ("view", "with_object", "expected"),
    [
        ("overlay", True, "mp4"),
        ("matte", True, "matte"),
        ("original", True, "object"),
        ("wipe", True, "object"),
        ("overlay", False, "mp4"),
        ("boundaries", False, "ids"),
    ],
)
def test_at_first_what_fits_the_view_and_the_clip_is_ticked(
    bare: Made, story_document: Document, view: str, with_object: bool, expected: str
) -> None:
    if with_object:
        undo_commands.make_object(story_document, "square", [1])
    story_document.display.set_look(view=view)
    dialog = bare()
    assert dialog.formats == (expected,)
    ticked = [entry for entry in items(dialog) if entry.checkState(0) == Qt.CheckState.Checked]
    assert dialog.findChild(QTreeWidget).currentItem() is ticked[0]


def test_what_was_exported_last_is_ticked_whatever_the_view(
    make: Made, bare: Made, story_document: Document, qtbot: QtBot, tmp_path: Path
) -> None:
    kept = QSettings(str(tmp_path / "kept.ini"), QSettings.Format.IniFormat)
    undo_commands.make_object(story_document, "square", [1])
    story_document.display.set_look(view="matte")
    dialog = make(kept=kept)
    tick(dialog, "CSV tables")
    with qtbot.waitSignal(dialog.exported, timeout=LONG):
        press(qtbot, dialog, "Export")
    assert bare(kept=kept).formats == ("csv",)


def test_what_was_ticked_but_not_exported_is_not_remembered(bare: Made, qtbot: QtBot, tmp_path: Path) -> None:
    kept = QSettings(str(tmp_path / "kept.ini"), QSettings.Format.IniFormat)
    dialog = bare(kept=kept)
    click_box(qtbot, dialog, "CSV tables")
    press(qtbot, dialog, "Close")
    assert bare(kept=kept).formats == ("mp4",)


def test_the_list_keeps_its_height_with_any_description(bare: Made, qtbot: QtBot) -> None:
    dialog = bare()
    tree = dialog.findChild(QTreeWidget)
    heights = set()
    for title in ("Object masks", "EXR with id mattes", "MP4 (H.264)"):
        tree.setCurrentItem(item(dialog, title))
        QApplication.processEvents()
        heights.add(tree.height())
    assert len(heights) == 1


# --- opacity, and what is remembered


def test_opacity_is_that_of_the_window_and_reaches_the_files(
    make: Made, story_document: Document, qtbot: QtBot, tmp_path: Path
) -> None:
    story_document.display.set_look(opacity=0.0)
    dialog = make()
    tick(dialog, "Overlay")
    assert control(dialog, QSpinBox, "Opacity").value() == 0
    control(dialog, QSpinBox, "Opacity").setValue(100)
    press(qtbot, dialog, "Export")
    qtbot.waitUntil(lambda: finished(dialog), timeout=LONG)
    picture = cv2.imread(str(next((tmp_path / "out").rglob("*00000*.png"))))
    shown = story_document.display.shown.result
    # Wholly opaque: every pixel inside a segment has the segment's colour, whatever the picture is.
    inside = shown.ids == 0
    colours, counts = np.unique(picture[inside], axis=0, return_counts=True)
    assert colours[np.argmax(counts)].tolist() == palette.colours(1)[0][::-1].tolist()


def test_the_next_dialog_begins_with_the_last_choices(make: Made, qtbot: QtBot, tmp_path: Path) -> None:
    kept = QSettings(str(tmp_path / "kept.ini"), QSettings.Format.IniFormat)
    dialog = make(kept=kept)
    tick(dialog, "CSV tables", "NumPy archive")
    control(dialog, QSpinBox, "Size").setValue(50)
    control(dialog, QLineEdit, "File names").setText("f{frame}")
    control(dialog, QComboBox, "Existing files").setCurrentIndex(2)
    press(qtbot, dialog, "Export")
    qtbot.waitUntil(lambda: finished(dialog), timeout=LONG)
    again = make(kept=kept)
    assert again.options == dialog.options
    assert set(again.formats) == {"csv", "npz"}


def test_formats_that_cannot_be_had_any_more_are_not_chosen(make: Made, tmp_path: Path) -> None:
    kept = QSettings(str(tmp_path / "kept.ini"), QSettings.Format.IniFormat)
    kept.setValue("export/formats", "matte nonsense")
    kept.setValue("export/scale", "much")
    dialog = make(kept=kept)
    assert dialog.formats == ("mp4",)
    assert control(dialog, QSpinBox, "Size").value() == 100


def test_a_movie_that_can_be_transparent_shows_the_object_cut_out(
    make: Made, story_document: Document, qtbot: QtBot, tmp_path: Path
) -> None:
    undo_commands.make_object(story_document, "square", [1])
    dialog = make()
    tick(dialog, "ProRes 4444", "MP4 (H.264)")
    assert dialog.options.view is None
    press(qtbot, dialog, "Export")
    qtbot.waitUntil(lambda: finished(dialog), timeout=LONG)
    formats = {}
    for suffix in ("mov", "mp4"):
        with av.open(str(next((tmp_path / "out").rglob(f"*.{suffix}")))) as movie:
            formats[suffix] = movie.streams.video[0].pix_fmt
    assert formats["mov"].startswith("yuva")
    assert formats["mp4"] == "yuv420p"
