"""Carry an object of the open clip back from the frame shown, in the background, as one step of the undo stack."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal, Slot

from scstream_app.ui.document.document import Document
from scstream_app.ui.document.undo_commands.objects import ObjectsCommand
from scstream_app.ui.document.workers.carry_back_worker import CarryBackTask, CarryBackWorker


class CarryBack(QObject):
    """Starts the worker, and applies what it found; ``message`` carries what happens, for the user.

    Parameters
    ----------
    document : Document
    target : callable
        Returns the name of the object to carry back; None if there is none.
    parent : QObject, optional

    Attributes
    ----------
    worker : CarryBackWorker
    """

    message = Signal(str)

    def __init__(self, document: Document, target: Callable[[], str | None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document, self._target, self.worker = document, target, CarryBackWorker()
        self.worker.done.connect(self._on_done)
        document.closed.connect(self._cancel)
        document.state_changed.connect(self._on_state)

    @Slot()
    def start(self) -> None:
        """Carry the object back from the frame shown; say so, or why that is not possible."""
        document, index, name = self._document, self._document.display.index, self._target()
        if name is None:
            self.message.emit("Highlight an object in the list of objects to carry it back.")
            return
        if document.session is None or index is None:
            return
        place = [one.name for one in document.objects].index(name)
        if not any(edit.frame <= index for edit in document.objects[place].edits):
            first = document.objects[place].frame
            self.message.emit(f"'{name}' begins at frame {first}: go there to carry it back.")
            return
        self.message.emit(f"Carrying '{name}' back from frame {index}…")
        self.worker.start(CarryBackTask(document.session, document.objects, place, index))

    @Slot()
    def _cancel(self) -> None:
        # A direct call: connected to the signal, the worker's thread would cancel the next task when it begins.
        self.worker.cancel()

    @Slot()
    def _on_state(self) -> None:
        """Stop while the session, which the worker reads, is being moved."""
        if self._document.saving and not self.worker.cancelled:
            self.worker.cancel()
            self.message.emit("The session is being saved: the object was not carried back. Try again afterwards.")

    @Slot()
    def _on_done(self) -> None:
        outcome, document = self.worker.take(), self._document
        task = outcome.task
        if task.session is not document.session:
            return
        name = task.objects[task.place].name
        if outcome.problem:
            self.message.emit(outcome.problem)
        elif task.objects != document.objects:
            self.message.emit(f"The objects have changed: '{name}' was not carried back. Try again.")
        elif outcome.objects == task.objects:
            self.message.emit(f"There is no frame before frame {task.index} to which '{name}' could be carried back.")
        else:
            text = f"Carry object '{name}' back from frame {task.index}"
            document.undo.push(ObjectsCommand(document, text, outcome.objects, name))
            before, after = (set(objects[task.place].edits) for objects in (task.objects, outcome.objects))
            first = min(edit.frame for edit in after - before)
            self.message.emit(f"'{name}' is carried back to frame {first}.")
