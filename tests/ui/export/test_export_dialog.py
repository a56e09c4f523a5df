"""The export dialog writes exactly what is chosen, reports problems, and leaves no partial files when cancelled."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QPoint, QSettings, QStandardPaths, Qt, QUrl
from PySide6.QtGui import QColor, QDesktopServices, QImage
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QDialog,
    QLabel,
    QLineEdit,
    QMessageBox,
    QProgressBar,
    QPushButton,
    QRadioButton,
    QSpinBox,
    QStyle,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)
from pytestqt.qtbot import QtBot

from helpers.clips import write_images
from helpers.export_scenes import leftovers, story
from helpers.exports import COUNTS, added_module
from scstream_app import headless
from scstream_app.errors import ExportError
from scstream_app.export import FORMATS
from scstream_app.render import palette
from scstream_app.session import UNSAVED, Session
from scstream_app.settings import Settings
from scstream_app.sources import open_source
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State
from scstream_app.ui.export.export_dialog import ExportDialog
from scstream_app.ui.qt.dialogs import folders
from scstream_app.ui.qt.widgets import DARK_CHECK, LIGHT_CHECK

LONG = 60_000
IDS = "Ids, 16-bit PNG"
Made = Callable[..., ExportDialog]


@pytest.fixture
def bare(story_document: Document, qtbot: QtBot) -> Made:
    """Opens the dialog as it comes."""

    def made(in_out: tuple[int, int] | None = None, kept: QSettings | None = None) -> ExportDialog:
        dialog = ExportDialog(story_document, in_out=in_out, kept=kept)
        qtbot.addWidget(dialog)
        with qtbot.waitExposed(dialog):
            dialog.show()
        return dialog

    return made


@pytest.fixture
def make(bare: Made, tmp_path: Path) -> Made:
    """Opens the dialog; ids are to be written to a folder that is not there yet."""

    def made(in_out: tuple[int, int] | None = None, kept: QSettings | None = None) -> ExportDialog:
        dialog = bare(in_out, kept)
        control(dialog, QLineEdit, "Folder").setText(str(tmp_path / "out"))
        if kept is None:
            tick(dialog, IDS)
        return dialog

    return made


def control(dialog: QDialog, kind: type[QWidget], name: str) -> Any:
    return next(widget for widget in dialog.findChildren(kind) if widget.accessibleName() == name)


def button(dialog: QDialog, text: str) -> QPushButton:
    return next(widget for widget in dialog.findChildren(QPushButton) if widget.text() == text)


def press(qtbot: QtBot, dialog: QDialog, text: str) -> None:
    qtbot.mouseClick(button(dialog, text), Qt.MouseButton.LeftButton)


def item(dialog: QDialog, title: str) -> QTreeWidgetItem:
    tree = dialog.findChild(QTreeWidget)
    (found,) = tree.findItems(title, Qt.MatchFlag.MatchExactly | Qt.MatchFlag.MatchRecursive)
    return found


def items(dialog: QDialog) -> list[QTreeWidgetItem]:
    """All formats."""
    tree = dialog.findChild(QTreeWidget)
    groups = [tree.topLevelItem(n) for n in range(tree.topLevelItemCount())]
    return [group.child(n) for group in groups for n in range(group.childCount())]


def tick(dialog: QDialog, *titles: str) -> None:
    """These formats and no others."""
    for entry in items(dialog):
        wanted = entry.text(0) in titles
        if wanted != (entry.checkState(0) == Qt.CheckState.Checked):
            entry.setCheckState(0, Qt.CheckState.Checked if wanted else Qt.CheckState.Unchecked)


def click_box(qtbot: QtBot, dialog: QDialog, title: str) -> None:
    """Click on the box of a format, which is left of its name."""
    tree, entry = dialog.findChild(QTreeWidget), item(dialog, title)
    tree.scrollToItem(entry)
    place = tree.visualItemRect(entry)
    style = tree.style()
    width = style.pixelMetric(QStyle.PixelMetric.PM_IndicatorWidth)
    qtbot.mouseClick(
        tree.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(place.left() + width // 2 + 3, place.center().y())
    )


def answer(qtbot: QtBot, dialog: QDialog, yes: bool) -> str:
    """Answer the question that the dialog asks; what it was."""
    box = dialog.findChild(QMessageBox)
    kind = QMessageBox.StandardButton.Yes if yes else QMessageBox.StandardButton.No
    text = box.text()
    with qtbot.waitSignal(box.destroyed, timeout=LONG):
        qtbot.mouseClick(box.button(kind), Qt.MouseButton.LeftButton)
    return text


def shown_text(dialog: QDialog, what: str = "message") -> str:
    return dialog.findChild(QLabel, what).text()


def read_ids(path: Path) -> np.ndarray[Any, Any]:
    return cv2.imread(str(path), cv2.IMREAD_UNCHANGED).astype(int) - 1


def finished(dialog: ExportDialog) -> bool:
    return button(dialog, "Export").isVisible() and dialog.findChild(QTreeWidget).isEnabled()


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Exports wait after their second frame until this is set."""
    free, export = threading.Event(), headless.export

    def slow(*arguments: Any, **options: Any) -> Iterator[int]:
        for count, index in enumerate(export(*arguments, **options), 1):
            yield index
            if count == 2:
                free.wait(LONG / 1000)

    monkeypatch.setattr(headless, "export", slow)
    yield free
    free.set()


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


# --- what is ticked


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


# --- folders


@pytest.fixture
def film(tmp_path: Path) -> Path:
    """Session of a single file of pictures, frames.tif."""
    results, place = story((48, 64)), tmp_path / "films"
    place.mkdir()
    first, *others = (Image.fromarray(result.picture) for result in results)
    first.save(place / "frames.tif", save_all=True, append_images=others)
    path = tmp_path / "film.scstream"
    with open_source(str(place / "frames.tif")) as source, Session.create(path, source, Settings()) as session:
        for result in results:
            session.append(result)
        session.finish()
    return path


@pytest.fixture
def film_document(document: Document, film: Path, qtbot: QtBot) -> Document:
    """The film in a session that the user has not saved."""
    (film / UNSAVED).touch()
    with qtbot.waitSignal(document.display.shown_changed):
        document.open_session(film)
    qtbot.waitUntil(lambda: document.state is State.DONE)
    return document


def test_the_list_keeps_its_height_with_any_description(bare: Made, qtbot: QtBot) -> None:
    dialog = bare()
    tree = dialog.findChild(QTreeWidget)
    heights = set()
    for title in ("Object masks", "EXR with id mattes", "MP4 (H.264)"):
        tree.setCurrentItem(item(dialog, title))
        QApplication.processEvents()
        heights.add(tree.height())
    assert len(heights) == 1


@pytest.fixture
def film_dialog(film_document: Document, qtbot: QtBot) -> Callable[..., ExportDialog]:
    """Opens the dialog for the film."""

    def made(kept: QSettings | None = None) -> ExportDialog:
        dialog = ExportDialog(film_document, kept=kept)
        qtbot.addWidget(dialog)
        return dialog

    return made


def test_a_folder_beside_a_film_is_proposed(film_dialog: Made, tmp_path: Path) -> None:
    assert film_dialog().folder == tmp_path / "films" / "frames_segments"


def test_a_folder_beside_a_saved_session_is_proposed(
    film_dialog: Made, film_document: Document, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept = QSettings(str(tmp_path / "kept.ini"), QSettings.Format.IniFormat)
    kept.setValue("export/folder", str(tmp_path / "other clips" / "other_segments"))
    path = tmp_path / "work" / "walk.scstream"
    path.mkdir(parents=True)
    monkeypatch.setattr(film_document.session, "path", path)
    assert film_dialog(kept=kept).folder == tmp_path / "work" / "frames_segments"
    (path / UNSAVED).touch()
    assert film_dialog(kept=kept).folder == tmp_path / "other clips" / "frames_segments"


def test_no_folder_among_the_users_images_is_proposed(
    document: Document, own: dict[str, Path], qtbot: QtBot, tmp_path: Path, bare: Made, story_document: Document
) -> None:
    assert bare().folder == own["Movies"] / "frames_segments"
    images = write_images(tmp_path / "walk.1", [result.picture for result in story((48, 64))])
    several = "\n".join(map(str, sorted(images.iterdir())))
    kept = QSettings(str(tmp_path / "kept.ini"), QSettings.Format.IniFormat)
    one = str(images / "00000.png")
    for number, address in enumerate((str(images / "%05d.png"), several, one, str(images))):
        path = tmp_path / f"{number}.scstream"
        with open_source(address) as source, Session.create(path, source, Settings()) as session:
            for result in story((48, 64)):
                session.append(result)
            session.finish()
        with qtbot.waitSignal(document.display.shown_changed):
            document.open_session(path)
        qtbot.waitUntil(lambda: document.state is State.DONE)
        name = "00000_segments" if address == one else "walk.1_segments"
        assert bare().folder == own["Movies"] / name
        for last in (tmp_path / "earlier", images / "earlier"):
            kept.setValue("export/folder", str(last))
            assert bare(kept=kept).folder == own["Movies"] / name


def test_the_last_folder_is_proposed_for_the_same_clip_and_its_place_for_others(
    story_document: Document, bare: Made, qtbot: QtBot, tmp_path: Path, open_results: Callable[..., Document]
) -> None:
    kept = QSettings(str(tmp_path / "kept.ini"), QSettings.Format.IniFormat)
    dialog = bare(kept=kept)
    tick(dialog, "CSV tables")
    line = control(dialog, QLineEdit, "Folder")
    line.clear()
    qtbot.keyClicks(line, str(tmp_path / "mine" / "first"))
    with qtbot.waitSignal(dialog.exported, timeout=LONG):
        press(qtbot, dialog, "Export")
    assert bare(kept=kept).folder == tmp_path / "mine" / "first"
    open_results(story((48, 64)))
    assert bare(kept=kept).folder == tmp_path / "mine" / "frames_segments"


def test_a_last_folder_that_is_no_more_is_not_proposed(
    film_dialog: Made, film_document: Document, tmp_path: Path
) -> None:
    kept = QSettings(str(tmp_path / "kept.ini"), QSettings.Format.IniFormat)
    gone = tmp_path / "stick"
    gone.write_text("a file")
    kept.setValue("export/folder", str(gone / "out"))
    kept.setValue("export/clip", film_document.session.source_address)
    assert film_dialog(kept=kept).folder == tmp_path / "films" / "frames_segments"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """The user's folders for videos and for documents."""
    folders = {"Movies": tmp_path / "home" / "Videos", "Documents": tmp_path / "home" / "Documents"}
    for folder in folders.values():
        folder.mkdir(parents=True)
    place = QStandardPaths.StandardLocation
    known = {place.MoviesLocation: folders["Movies"], place.DocumentsLocation: folders["Documents"]}
    monkeypatch.setattr(QStandardPaths, "writableLocation", lambda kind: str(known[kind]))
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    return folders


def test_nothing_is_proposed_among_the_programs_own_clips(
    film_dialog: Made, own: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "SAMPLES", tmp_path / "films")
    assert film_dialog().folder == own["Movies"] / "frames_segments"
    own["Movies"].rmdir()
    assert film_dialog().folder == own["Documents"] / "frames_segments"
    own["Documents"].rmdir()
    assert film_dialog().folder == own["Movies"].parent / "frames_segments"


def test_nothing_is_proposed_where_nothing_can_be_written(
    film_dialog: Made, own: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside, may = tmp_path / "films", os.access
    # For the superuser, who runs tests in containers, no folder is read-only.
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != beside and may(path, mode))
    dialog = film_dialog()
    assert dialog.folder == own["Movies"] / "frames_segments"
    control(dialog, QLineEdit, "Folder").setText(str(beside / "out"))
    assert shown_text(dialog) == f"The folder '{beside / 'out'}' is not writable. Choose another folder."
    assert not button(dialog, "Export").isEnabled()


@pytest.mark.parametrize("text", ["out", "~nobody-of-that-name/out", "x" * 300])
def test_a_folder_that_could_be_anywhere_is_refused(make: Made, qtbot: QtBot, text: str) -> None:
    dialog = make()
    line = control(dialog, QLineEdit, "Folder")
    line.clear()
    qtbot.keyClicks(line, text)
    assert "Type the full path" in shown_text(dialog)
    assert not button(dialog, "Export").isEnabled()


def test_a_name_that_is_too_long_is_reported(make: Made, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = make()
    width = dialog.width()
    control(dialog, QLineEdit, "Folder").setText(str(tmp_path / ("x" * 300)))
    press(qtbot, dialog, "Export")
    qtbot.waitUntil(lambda: finished(dialog), timeout=LONG)
    assert "File name too long" in shown_text(dialog)
    assert dialog.width() == width


# --- files that are there


def test_before_files_are_replaced_it_asks(make: Made, story_document: Document, qtbot: QtBot, tmp_path: Path) -> None:
    mine = tmp_path / "out" / "ids" / "00003.png"
    mine.parent.mkdir(parents=True)
    mine.write_bytes(b"mine")
    dialog = make()
    press(qtbot, dialog, "Export")
    assert "folder 'out' contains files" in answer(qtbot, dialog, yes=False)
    assert mine.read_bytes() == b"mine"
    assert story_document.exporting == 0
    press(qtbot, dialog, "Export")
    with qtbot.waitSignal(dialog.exported, timeout=LONG):
        answer(qtbot, dialog, yes=True)
    np.testing.assert_array_equal(read_ids(mine), story_document.session.ids(3))


def test_who_chose_to_replace_is_not_asked(make: Made, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    dialog = make()
    qtbot.keyClicks(control(dialog, QComboBox, "Existing files"), "Replace")
    with qtbot.waitSignal(dialog.exported, timeout=LONG):
        press(qtbot, dialog, "Export")
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"


def test_a_folder_deleted_during_the_export_is_reported(
    make: Made, story_document: Document, qtbot: QtBot, tmp_path: Path, held: threading.Event
) -> None:
    dialog = make()
    press(qtbot, dialog, "Export")
    qtbot.waitUntil(lambda: len(list((tmp_path / "out").rglob("*.png"))) >= 2, timeout=LONG)
    shutil.rmtree(tmp_path / "out")
    held.set()
    qtbot.waitUntil(lambda: finished(dialog), timeout=LONG)
    assert "No such file or directory" in shown_text(dialog)
    assert shown_text(dialog, "status") == "Some files were not written."
    assert story_document.exporting == 0
    with qtbot.waitSignal(dialog.exported, timeout=LONG):
        press(qtbot, dialog, "Export")


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
