"""Undo and redo, which say what they did: it may be on another frame or behind another panel."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QUndoStack


def undo_handlers(stack: QUndoStack, message: Callable[[str], object]) -> dict[str, Callable[[], object]]:
    """Return what the actions do, by id; ``message`` shows a text."""

    def undo() -> None:
        text = stack.undoText()
        stack.undo()
        message(f"Undone: {_begun(text)}." if text else "")

    def redo() -> None:
        text = stack.redoText()
        stack.redo()
        message(f"Done again: {_begun(text)}." if text else "")

    return {"undo": undo, "redo": redo}


def _begun(text: str) -> str:
    """Return a command's text as a part of a sentence.

    >>> _begun("Make object 'Kite'")
    "make object 'Kite'"
    """
    return f"{text[:1].lower()}{text[1:]}"
