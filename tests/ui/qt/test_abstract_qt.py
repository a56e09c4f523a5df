"""Tests of the metaclass that allows abstract methods on Qt classes."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtGui import QUndoCommand
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from scstream_app.ui.document.document import Document
from scstream_app.ui.document.undo_commands.model_edits import ModelEditCommand
from scstream_app.ui.panels.plots.statistics_page import StatisticsPage
from scstream_app.ui.qt.form_fields import Field
from scstream_app.ui.qt.threads.background import BackgroundWorker


@pytest.mark.parametrize(
    ("kind", "missing"),
    [
        (StatisticsPage, "_has_content, _update_content"),
        (Field, "put, value"),
        (BackgroundWorker, "_work"),
        (ModelEditCommand, "_do, _reverse"),
    ],
)
@pytest.mark.usefixtures("qapp")
def test_abstract_classes_cannot_be_instantiated(kind: Any, missing: str) -> None:
    class Unfinished(kind):
        """Implements no abstract method."""

    with pytest.raises(TypeError, match=f"Cannot instantiate Unfinished: abstract methods {missing}"):
        Unfinished()


def test_complete_classes_can_be_instantiated(document: Document, qtbot: QtBot) -> None:
    class Whole(StatisticsPage):
        def _update_content(self) -> None:
            self.taken = True

        def _has_content(self) -> bool:
            return False

    class Kept(ModelEditCommand):
        def _do(self) -> None:
            raise AssertionError

        def _reverse(self) -> None:
            raise AssertionError

    page = Whole(document, "nothing yet")
    qtbot.addWidget(page)
    page.refresh()
    assert isinstance(page, QWidget)
    assert page.taken
    command = Kept(document, "Keep", [3])
    assert isinstance(command, QUndoCommand)
    assert command.text() == "Keep"
