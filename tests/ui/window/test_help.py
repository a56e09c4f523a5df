"""Help: the guide as a page of the program, and the sheet of keys and of what the mouse does."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QTabBar
from pytestqt.qtbot import QtBot

from helpers.menus import entry_called, menu_called
from helpers.paths import ROOT
from scstream_app import assets
from scstream_app.ui.window.guide import GuideDialog
from scstream_app.ui.window.help_dialogs import KeysDialog
from scstream_app.ui.window.main_window import MainWindow

GUIDE = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
PICTURES = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", GUIDE)


def open_guide(window: MainWindow, qtbot: QtBot) -> GuideDialog:
    """Choose Help > Guide."""
    menu = menu_called(window, "Help")
    menu.popup(window.mapToGlobal(QPoint(20, 20)))
    qtbot.waitUntil(menu.isVisible)
    entry = entry_called(menu, "Guide")
    qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(entry).center())
    (dialog,) = window.findChildren(GuideDialog)
    qtbot.waitUntil(dialog.isVisible)
    return dialog


def shown_pictures(dialog: GuideDialog) -> list[int]:
    """How wide each picture of the guide is on the page; 0 if it is not there."""
    image = QTextDocument.ResourceType.ImageResource
    found = [dialog.text.document().resource(image.value, QUrl(name)) for name in PICTURES]
    return [0 if one is None else one.deviceIndependentSize().width() for one in found]


def test_the_guide_is_a_page_with_pictures_and_chapters(window: MainWindow, qtbot: QtBot) -> None:
    dialog = open_guide(window, qtbot)
    titles = re.findall(r"^## (.*)$", GUIDE, re.MULTILINE)
    assert [dialog.chapters.item(row).text() for row in range(dialog.chapters.count())] == titles
    text = dialog.text.toPlainText()
    assert "A short guide to the window" in text
    assert "**" not in text
    assert PICTURES
    assert all(0 < width <= dialog.text.viewport().width() for width in shown_pictures(dialog))
    assert not dialog.text.horizontalScrollBar().isVisible()
    # One can try what one reads.
    assert not dialog.isModal()


def test_a_chapter_is_a_click_away(window: MainWindow, qtbot: QtBot) -> None:
    dialog = open_guide(window, qtbot)
    row = next(n for n in range(dialog.chapters.count()) if dialog.chapters.item(n).text() == "Exporting")
    place = dialog.chapters.visualItemRect(dialog.chapters.item(row)).center()
    qtbot.mouseClick(dialog.chapters.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert dialog.text.verticalScrollBar().value() > 0
    top = dialog.text.cursorForPosition(QPoint(40, 20)).block().text()
    assert top == "Exporting"


def test_there_is_one_guide_until_it_is_closed(window: MainWindow, qtbot: QtBot) -> None:
    first = open_guide(window, qtbot)
    assert open_guide(window, qtbot) is first
    qtbot.keyClick(first, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not window.findChildren(GuideDialog))
    open_guide(window, qtbot)


def test_nothing_is_fetched_from_elsewhere(window: MainWindow, qtbot: QtBot) -> None:
    page = open_guide(window, qtbot).text
    image = QTextDocument.ResourceType.ImageResource
    assert page.loadResource(image.value, QUrl("https://example.org/a.png")) is None


def test_the_guide_comes_with_an_installed_program(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    files = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    for source, target in files.items():
        (tmp_path / target).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
        copy(ROOT / source, tmp_path / target)
    monkeypatch.setattr(assets, "_PLACES", (tmp_path / "scstream_app",))
    dialog = open_guide(window, qtbot)
    assert Path(dialog.text.source().toLocalFile()) == tmp_path / "scstream_app" / "docs" / "guide.md"
    assert all(shown_pictures(dialog))


def test_f1_tells_what_the_mouse_does(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(window, Qt.Key.Key_F1)
    (sheet,) = window.findChildren(KeysDialog)
    qtbot.waitUntil(sheet.isVisible)
    assert sheet.table.isVisible()
    bar = sheet.findChild(QTabBar)
    qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(1).center())
    assert sheet.mouse.isVisible()
    assert not any("original" in button.text() for button in sheet.buttons.buttons() if button.isVisible())
    rows, place = dict[tuple[str, str], str](), ""
    for row in range(sheet.mouse.rowCount()):
        gesture, effect = sheet.mouse.item(row, 0).text(), sheet.mouse.item(row, 1)
        place = gesture if effect is None else place
        if effect is not None:
            rows[place, gesture] = effect.text()
    assert rows["Picture", "Wheel, pinch"] == "Zoom at the cursor"
    assert {"Picture", "Timeline", "Segments", "Objects", "Over time", "Events"} <= {place for place, _ in rows}
    sheet.close()
