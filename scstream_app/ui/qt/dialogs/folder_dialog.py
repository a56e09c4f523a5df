"""A dialog that asks for a folder and may be closed by what opened it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget


def ask_folder(parent: QWidget, title: str, folder: Path | str, on_chosen: Callable[[str], object]) -> QFileDialog:
    """Open the dialog at a folder and return at once; ``on_chosen`` gets the path unless the user cancels.

    `QFileDialog.getExistingDirectory` would keep running while its parent is deleted.
    """
    dialog = QFileDialog(parent, title, str(folder))
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    dialog.fileSelected.connect(on_chosen)
    dialog.open()
    return dialog
