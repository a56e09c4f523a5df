"""The undo stack of a document."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from PySide6.QtGui import QUndoStack


@runtime_checkable
class RefersToFrames(Protocol):
    """An undo command that refers to segments or objects of frames which may be forgotten."""

    def forget_before(self, index: int) -> None:
        """Refer to what the segments and objects of earlier frames have become on this frame."""


class UndoStack(QUndoStack):
    """An undo stack whose commands can forget old frames of a live source."""

    def forget_before(self, index: int) -> None:
        """Have all commands forget the frames before this one."""
        for place in range(self.count()):
            command = self.command(place)
            if isinstance(command, RefersToFrames):
                command.forget_before(index)
