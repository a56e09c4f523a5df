"""Dialog that asks for another run of the open clip."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from scstream_app.errors import StudioError
from scstream_app.evaluation.run_statistics import same_clip
from scstream_app.session import Manifest
from scstream_app.session.library import Library
from scstream_app.ui.compare.statistics_table import setting_rows
from scstream_app.ui.qt.dialogs.folder_dialog import ask_folder
from scstream_app.ui.sessions.opening.unsaved_sessions import describe_unsaved

_NONE = "No other unsaved run of this clip is in the library. Choose a saved session."
_SOME = "Unsaved runs of this clip, newest first:"


def other_runs(library: Library, path: Path, manifest: Manifest) -> list[tuple[str, str]]:
    """Description and path of each unsaved run of the same clip except the one at ``path``, newest first.

    The description ends with the settings that differ from those of ``manifest``.

    Reads files; do not call on the window's thread.
    """
    found = []
    for text, other in describe_unsaved(library):
        # A session may be deleted meanwhile.
        with suppress(StudioError, OSError):
            its = Manifest.read(Path(other) / "manifest.json")
            if Path(other) != path and same_clip(its, manifest):
                # All are runs of one clip, so the settings tell them apart better than its name.
                lines = [*text.splitlines()[1:], _settings_text(manifest, its)]
                found.append(("\n".join(lines), other))
    return found


def _settings_text(here: Manifest, there: Manifest) -> str:
    return "; ".join(f"{row.name}: {row.second}" for row in setting_rows(here.settings, there.settings))


class RunChooser(QDialog):
    """Lists the unsaved runs of a clip, and opens a file dialog for a saved one; ``chosen`` carries the path."""

    chosen = Signal(object)

    def __init__(self, runs: Sequence[tuple[str, str]], folder: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._folder = folder
        self.setWindowTitle("Compare with Another Run")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.runs = QListWidget()
        self.runs.setAccessibleName("Runs")
        self.runs.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.runs.setSpacing(3)
        for text, path in runs:
            item = QListWidgetItem(text)
            item.setData(Qt.ItemDataRole.UserRole, path)
            item.setToolTip(path)
            self.runs.addItem(item)
        self.runs.setCurrentRow(0)
        self.runs.setVisible(bool(runs))
        self.runs.itemActivated.connect(self._accept)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.compare = self.buttons.addButton("Compare", QDialogButtonBox.ButtonRole.AcceptRole)
        self.compare.setEnabled(bool(runs))
        self.browse = self.buttons.addButton("Saved Session…", QDialogButtonBox.ButtonRole.ActionRole)
        self.browse.clicked.connect(self._browse)
        self.buttons.accepted.connect(self._accept)
        self.buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        label = QLabel(_SOME if runs else _NONE)
        label.setWordWrap(True)
        column.addWidget(label)
        column.addWidget(self.runs)
        column.addWidget(self.buttons)
        self.resize(460, 320 if runs else 100)

    @Slot()
    def _accept(self) -> None:
        item = self.runs.currentItem()
        if item is not None:
            self._leave_for(Path(str(item.data(Qt.ItemDataRole.UserRole))))

    @Slot()
    def _browse(self) -> None:
        title = "Choose a Session (a folder NAME.scstream)"
        ask_folder(self, title, self._folder, lambda path: self._leave_for(Path(path)))

    def _leave_for(self, path: Path) -> None:
        self.accept()
        self.chosen.emit(path)
