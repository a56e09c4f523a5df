"""Undo commands of a run that continues another one: back to that one, and marks that are carried over."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtGui import QUndoCommand

from scstream_app.session import MarkedObject, Names
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.undo_commands.swap import SwapCommand

Marks = tuple[Names, tuple[MarkedObject, ...]]


class RerunCommand(QUndoCommand):
    """Undoing calls ``back``, which opens the run before; redoing does nothing, because that run has its own stack."""

    def __init__(self, text: str, back: Callable[[], object]) -> None:
        super().__init__(text)
        self._back = back

    def undo(self) -> None:
        # Opening another session clears the stack, which must not happen while the stack is undoing.
        QTimer.singleShot(0, self._back)


class _CarryOver(SwapCommand):
    """Marks that a run takes over when their frames are there; not a step of the user."""

    follows_step_before = True


def carry_over(document: Document, names: Names, objects: tuple[MarkedObject, ...]) -> None:
    """Take over marks of the run before."""

    def put(marks: Marks) -> None:
        if marks[0] != document.names:
            document.set_names(marks[0])
        if marks[1] != document.objects:
            document.set_objects(marks[1])

    before = document.names, document.objects
    if before != (names, objects):
        document.undo.push(_CarryOver(document, "Carry over marks", put, before, (names, objects)))
