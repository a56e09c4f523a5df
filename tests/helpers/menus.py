"""Find menus of a window's menu bar."""

from __future__ import annotations

from PySide6.QtWidgets import QMainWindow, QMenu


def menu_called(window: QMainWindow, title: str) -> QMenu:
    """The one with that title. What QAction.menu() returns does not outlive the action in older versions of Qt."""
    (menu,) = (menu for menu in window.findChildren(QMenu) if menu.title().replace("&", "") == title)
    return menu
