"""The folder of an export: which one is proposed or refused, and what happens to files that are there."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QSettings, QStandardPaths
from PySide6.QtWidgets import (
    QComboBox,
    QLineEdit,
)
from pytestqt.qtbot import QtBot

from helpers.clips import write_images
from helpers.export_dialog import LONG, Made, answer, button, control, finished, press, read_ids, shown_text, tick
from helpers.export_scenes import story
from scstream_app.session import UNSAVED, Session
from scstream_app.settings import Settings
from scstream_app.sources import open_source
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State
from scstream_app.ui.export.export_dialog import ExportDialog
from scstream_app.ui.qt.dialogs import folders


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
    assert film_dialog(kept=kept).folder == tmp_path / "work" / "walk_segments"
    (path / UNSAVED).touch()
    assert film_dialog(kept=kept).folder == tmp_path / "other clips" / "frames_segments"


def test_no_folder_among_the_users_images_is_proposed(
    document: Document, own: dict[str, Path], qtbot: QtBot, tmp_path: Path, bare: Made, story_document: Document
) -> None:
    assert bare().folder == own["Movies"] / "clip_segments"
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
        (path / UNSAVED).touch()
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
    assert bare(kept=kept).folder == tmp_path / "mine" / "clip_segments"


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
