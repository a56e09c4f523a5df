"""The undo stack of a document."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from PySide6.QtGui import QUndoStack


@runtime_checkable
class RefersToFrames(Protocol):
    """An undo command that refers to segments or objects of frames which may be forgotten."""

    def forget_before(self, index: int) -> None:
        """Refer to what the segments and objects of earlier frames have become on this frame."""


@runtime_checkable
class FollowsStepBefore(Protocol):
    """An undo command that the program pushed and not the user: it is undone and redone with the step before."""

    follows_step_before: bool


class UndoStack(QUndoStack):
    """An undo stack whose commands can forget old frames of a live source, and can belong to the step before."""

    def undo(self) -> None:
        """Undo the last step of the user."""
        while self._follows(self.index() - 1):
            super().undo()
        super().undo()

    def redo(self) -> None:
        """Redo the next step of the user."""
        super().redo()
        while self._follows(self.index()):
            super().redo()

    def undoText(self) -> str:
        """Describe the step that `undo` undoes."""
        place = self.index() - 1
        while self._follows(place):
            place -= 1
        return self.text(place) if place >= 0 else ""

    def _follows(self, place: int) -> bool:
        """Whether a command exists and belongs to the one before."""
        return 0 < place < self.count() and isinstance(self.command(place), FollowsStepBefore)

    def forget_before(self, index: int) -> None:
        """Have all commands forget the frames before this one."""
        for place in range(self.count()):
            command = self.command(place)
            if isinstance(command, RefersToFrames):
                command.forget_before(index)
