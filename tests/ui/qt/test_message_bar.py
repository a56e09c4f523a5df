"""Tests of the message bar: errors and offers are not lost to other messages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from scstream_app.ui.qt import message_bar
from scstream_app.ui.qt.message_bar import MessageBar


@pytest.fixture
def bar(qtbot: QtBot) -> Iterator[MessageBar]:
    bar = MessageBar()
    qtbot.addWidget(bar)
    yield bar
    bar.close()


def press(bar: MessageBar, qtbot: QtBot, text: str) -> None:
    button = next(button for button in bar.findChildren(QToolButton) if button.text() == text)
    assert button.isVisible()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_an_error_stays_until_it_is_closed(bar: MessageBar, qtbot: QtBot) -> None:
    bar.show_message("broken", "error")
    bar.show_message("by the way", "notice")
    assert bar.text == "broken"
    press(bar, qtbot, "✕")
    assert bar.text == "by the way"
    press(bar, qtbot, "✕")
    assert bar.isHidden()


def test_a_notice_disappears_after_a_while(bar: MessageBar, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_bar, "_NOTICE_MILLISECONDS", 1)
    bar.show_message("by the way", "notice")
    assert bar.isVisible()
    qtbot.waitUntil(bar.isHidden)


def test_an_offer_outlasts_notices_and_errors(bar: MessageBar, qtbot: QtBot) -> None:
    taken: list[str] = []
    bar.show_message("recorded", "notice", ("Open Recording", lambda: taken.append("first")))
    bar.show_message("by the way", "notice")
    assert bar.text == "recorded"
    bar.show_message("broken", "error")
    assert bar.text == "broken"
    bar.show_message("recorded again", "notice", ("Open Recording", lambda: taken.append("second")))
    press(bar, qtbot, "✕")
    assert bar.text == "recorded"
    press(bar, qtbot, "Open Recording")
    assert bar.text == "recorded again"
    press(bar, qtbot, "Open Recording")
    assert taken == ["first", "second"]
    assert bar.text == "by the way"


def test_the_newest_error_is_shown(bar: MessageBar, qtbot: QtBot) -> None:
    bar.show_message("broken", "error")
    bar.show_message("broken worse", "error")
    assert bar.text == "broken worse"
    press(bar, qtbot, "✕")
    assert bar.isHidden()


def test_a_message_of_an_offer_is_shown(bar: MessageBar, qtbot: QtBot) -> None:
    bar.show_message("recorded", "notice", ("Open Recording", lambda: bar.show_message("opened", "notice")))
    press(bar, qtbot, "Open Recording")
    assert bar.text == "opened"


def test_clearing_leaves_offers_that_are_kept(bar: MessageBar) -> None:
    bar.show_message("recorded", "notice", ("Open Recording", bool), kept=True)
    bar.show_message("by the way", "notice")
    bar.show_message("broken", "error")
    bar.clear()
    assert bar.text == "recorded"
    bar.clear()
    assert bar.isVisible()


def test_clearing_takes_offers_of_the_clip(bar: MessageBar) -> None:
    bar.show_message("segmented again", "notice", ("Back to the Run Before", bool))
    bar.show_message("merged", "notice", ("Undo", bool))
    bar.clear()
    assert bar.isHidden()


def test_clearing_takes_errors_and_notices(bar: MessageBar) -> None:
    bar.show_message("broken", "error")
    bar.show_message("by the way", "notice")
    bar.clear()
    assert bar.isHidden()
