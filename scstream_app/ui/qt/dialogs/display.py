"""The display: whether there is one, and a message box for failures before the window opens."""

from __future__ import annotations

import os
import sys

from PySide6.QtWidgets import QApplication, QMessageBox


def has_display() -> bool:
    """Whether a display is available."""
    if sys.platform in ("win32", "darwin") or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def show_failure(text: str) -> None:
    """Show a message box and wait until it is closed; do nothing without a display."""
    if has_display():
        # A message box needs a QApplication that stays referenced.
        running = QApplication.instance() or QApplication(sys.argv[:1])
        QMessageBox(QMessageBox.Icon.Critical, "ScStream Studio", text).exec()
        del running
