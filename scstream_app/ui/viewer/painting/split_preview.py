"""Preview of a split: the line along which the selected segment would divide."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from scstream_app.ui.document.action_availability import can_edit
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.look import Shown
from scstream_app.ui.document.split_line import Mask, PendingSplit

#: Number of frames whose lines are cached: the frame on the screen is a little behind the engine.
_KEPT = 8


class SplitPreview(QObject):
    """Requests the sub-clusters of the selected segment from the engine while the segment can be split.

    ``changed`` is emitted when the line changes or disappears.
    """

    changed = Signal()

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._splits: dict[int, PendingSplit] = {}
        document.display.selection_changed.connect(self._ask)
        document.state_changed.connect(self._ask)
        document.opened.connect(self._ask)
        document.closed.connect(self._ask)
        document.run.worker.split_found.connect(self._on_halved)

    def line(self, shown: Shown) -> Mask | None:
        """Mask (H, W) of the dividing line on the shown frame; None if unknown."""
        found = self._splits.get(shown.result.index)
        fits = found is not None and found.id == self._wanted() and found.line.shape == shown.result.ids.shape
        return found.line if found is not None and fits else None

    def _wanted(self) -> int | None:
        chosen = self._document.display.selection
        return min(chosen) if len(chosen) == 1 and can_edit(self._document) else None

    @Slot()
    def _ask(self) -> None:
        wanted = self._wanted()
        self._document.run.worker.watch(wanted)
        if any(split.id != wanted for split in self._splits.values()):
            self._splits.clear()
            self.changed.emit()

    @Slot()
    def _on_halved(self) -> None:
        found = self._document.run.worker.split_lines.take()
        if found is not None and found.id == self._wanted():
            self._splits[found.index] = found
            while len(self._splits) > _KEPT:
                del self._splits[next(iter(self._splits))]
            self.changed.emit()
