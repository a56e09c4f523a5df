"""Taking turns: one panel at a time, after a picture, not too often, and without pictures all the same."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from scstream_app.ui.document import refresh_scheduler
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.refresh_scheduler import PanelRefresh


class Panels(QObject):
    """Two of them, which note when their turns come."""

    def __init__(self, document: Document, pause: float) -> None:
        super().__init__(document)
        self.had: list[str] = []
        self.turns = {}
        for name in ("first", "second"):
            self.turns[name] = PanelRefresh(document, pause, self)
            self.turns[name].come.connect(lambda name=name: self.had.append(name))
            document.display.shown_changed.connect(self.turns[name].ask)


def picture(document: Document) -> None:
    document.display.shown_changed.emit()
    QApplication.processEvents()


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's turn comes without a picture."""
    monkeypatch.setattr(refresh_scheduler, "_STILL", 3_600_000)


@pytest.mark.usefixtures("patient")
def test_each_picture_is_one_panels_turn(document: Document) -> None:
    panels = Panels(document, pause=0.0)
    for _ in range(4):
        picture(document)
    assert panels.had == ["first", "second", "first", "second"]


@pytest.mark.usefixtures("patient")
def test_a_turn_comes_when_everybody_has_heard_of_the_picture(document: Document) -> None:
    panels = Panels(document, pause=0.0)
    seen: list[list[str]] = []
    document.display.shown_changed.connect(lambda: seen.append(list(panels.had)))
    document.display.shown_changed.emit()
    assert seen == [[]]
    assert panels.had == []
    QApplication.processEvents()
    assert panels.had == ["first"]


@pytest.mark.usefixtures("patient")
def test_a_panel_rests_after_its_turn(document: Document) -> None:
    panels = Panels(document, pause=3600.0)
    for _ in range(4):
        picture(document)
    assert panels.had == ["first", "second"]


def test_without_pictures_turns_come_soon(document: Document, qtbot: QtBot) -> None:
    panels = Panels(document, pause=0.0)
    for turn in panels.turns.values():
        turn.ask()
    assert panels.had == []
    qtbot.waitUntil(lambda: panels.had == ["first", "second"])


def test_a_panel_that_has_gone_is_not_waited_for(document: Document, qtbot: QtBot) -> None:
    panels = Panels(document, pause=0.0)
    for turn in panels.turns.values():
        turn.ask()
    panels.turns["first"].deleteLater()
    qtbot.waitUntil(lambda: panels.had == ["second"])
