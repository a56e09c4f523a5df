"""Export dialogs, and exports that wait."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import (
    QLineEdit,
)
from pytestqt.qtbot import QtBot

from helpers.export_dialog import IDS, LONG, Made, control, tick
from scstream_app import headless
from scstream_app.ui.document.document import Document
from scstream_app.ui.export.export_dialog import ExportDialog


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
