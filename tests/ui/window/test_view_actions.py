"""Views in the menu: their order and keys, and that a new view takes one entry in the table of views."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.menus import menu_called
from scstream_app.ui.document.document import Document
from scstream_app.ui.window.main_window import MainWindow
from scstream_app.ui.window.status.status_bar_widgets import OpacitySlider

VIEWS = [
    ["Original", "1"],
    ["Overlay", "2"],
    ["Mean Colour", "3"],
    ["Boundaries", "4"],
    ["Uncertainty", "5"],
    ["Object Matte", "6"],
    ["Side by Side", "7"],
    ["Wipe", "8"],
]

# The tables of actions and of movies are made at the import, so the new views have to be there before.
_SCRIPT = """
import json, sys
from types import MappingProxyType
from scstream_app.render import views

def negative(scene):
    return 255 - scene.rgb

new = {name: views.View(f"{name} of the picture", name, negative) for name in ("negative", "second", "third")}
views.VIEWS = MappingProxyType({**views.VIEWS, **new})

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QMainWindow, QMenu
from scstream_app.export import ExportOptions
from scstream_app.export.options import VIEWS
from scstream_app.ui.actions.actions import Actions
from scstream_app.ui.window.startup.app import application
from scstream_app.ui.window.menus import build_menus

app = application()
window = QMainWindow()
actions = Actions(window, QSettings(sys.argv[1], QSettings.Format.IniFormat))
build_menus(window, actions, [])
entries = next(menu for menu in window.findChildren(QMenu) if menu.title().replace("&", "") == "View").actions()
ExportOptions(view="negative").check()
print(json.dumps({"menu": [[entry.text(), entry.shortcut().toString()] for entry in entries], "movies": VIEWS}))
"""


def test_the_views_are_the_first_entries_of_their_menu(window: MainWindow) -> None:
    entries = menu_called(window, "View").actions()
    assert [[entry.text(), entry.shortcut().toString()] for entry in entries[: len(VIEWS)]] == VIEWS
    assert entries[len(VIEWS)].isSeparator()


def test_new_views_are_in_the_menu_on_the_next_keys_and_in_movies(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _SCRIPT, str(tmp_path / "settings.ini")]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    new = [["Negative of the Picture", "9"], ["Second of the Picture", "0"], ["Third of the Picture", ""], ["", ""]]
    assert found["menu"][: len(VIEWS) + 4] == VIEWS + new
    assert found["movies"][-3:] == ["negative", "second", "third"]


@pytest.mark.parametrize("view", ["original", "overlay", "boundaries", "matte", "side_by_side", "wipe"])
def test_the_opacity_can_be_set_in_views_that_use_it(story_document: Document, view: str) -> None:
    slider = OpacitySlider(story_document)
    story_document.display.set_look(view=view)
    assert slider.isEnabled() == (view in ("overlay", "side_by_side", "wipe"))
    slider.deleteLater()
