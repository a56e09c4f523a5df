"""Find menus of a window's menu bar, and their entries."""

from __future__ import annotations

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMainWindow, QMenu


def menu_called(window: QMainWindow, title: str) -> QMenu:
    """The one with that title. What QAction.menu() returns does not outlive the action in older versions of Qt."""
    (menu,) = (menu for menu in window.findChildren(QMenu) if menu.title().replace("&", "") == title)
    return menu


def entry_called(menu: QMenu, title: str) -> QAction:
    """The entry with that text; an open menu has mnemonics."""
    return next(action for action in menu.actions() if action.text().replace("&", "") == title)
