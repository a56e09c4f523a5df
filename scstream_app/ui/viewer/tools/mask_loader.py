"""Load a mask file as objects of the frame shown."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from scstream_app.errors import StudioError
from scstream_app.objects import MarkedObject, painting
from scstream_app.objects.mask_files import read_masks
from scstream_app.session import SourceFacts
from scstream_app.ui.actions.actions import BY_ID
from scstream_app.ui.document.action_availability import why_unavailable
from scstream_app.ui.document.answers import if_still_open
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.undo_commands.painting import PaintedChange, PaintedFrame, loaded_change, push_painted
from scstream_app.ui.qt.dialogs.folders import folder_of
from scstream_app.ui.qt.threads.job_queue import JobQueue

_FILTER = "Masks (*.png *.tif *.tiff *.bmp *.gif *.webp *.jpg *.jpeg);;All files (*)"


class MaskLoader(QObject):
    """Asks for a mask file, and makes an object of each of its values.

    ``message`` carries a text and its kind, ``loaded`` the name of the last object.
    """

    message = Signal(str, str)
    loaded = Signal(str)

    def __init__(self, document: Document, queue: JobQueue, window: QWidget) -> None:
        super().__init__(window)
        self._document, self._queue, self._window = document, queue, window

    def ask(self) -> None:
        """Ask for a mask of the frame shown."""
        frame, facts = PaintedFrame.shown(self._document), self._document.facts
        if frame is None or facts is None or why_unavailable(self._document, "load_mask"):
            return
        title = BY_ID["load_mask"].title.rstrip("…")
        path, _ = QFileDialog.getOpenFileName(self._window, title, str(folder_of(facts.address)), _FILTER)
        if path:
            self._queue.do(
                partial(_read, frame, facts, Path(path)),
                if_still_open(self._document, partial(self._make, Path(path))),
                lambda reason: self.message.emit(reason, "error"),
                what="Reading a mask",
            )

    def _make(self, path: Path, change: PaintedChange) -> None:
        if self._document.objects != change.frame.objects:
            self.message.emit("The objects have changed meanwhile. Load the mask again.", "error")
            return
        push_painted(self._document, change)
        names = [object_.name for object_ in change.objects[len(change.frame.objects) :]]
        what = f"object '{names[0]}'" if len(names) == 1 else f"objects '{names[0]}' to '{names[-1]}'"
        self.message.emit(f"'{path.name}' is {what} from frame {change.frame.result.index} on.", "notice")
        self.loaded.emit(names[-1])


def _read(frame: PaintedFrame, facts: SourceFacts, path: Path) -> PaintedChange:
    """Read a mask file and make objects of its values."""
    masks = read_masks(path, facts)
    values = np.unique(masks[masks > 0]).tolist()
    names = _names(path, len(values), frame.objects)
    found = {name: np.asarray(masks == value) for name, value in zip(names, values, strict=True)}
    return loaded_change(frame, found, f"Load mask '{path.name}'")


def _names(path: Path, count: int, objects: tuple[MarkedObject, ...]) -> list[str]:
    """Names of new objects: that of the file if it is free and no number, else "object N".

    >>> _names(Path("dog.png"), 1, ()), _names(Path("dog.png"), 2, ()), _names(Path("00040.png"), 1, ())
    (['dog'], ['dog 1', 'dog 2'], ['object 1'])
    """
    stem = path.stem
    try:
        MarkedObject.made(stem, (0, 0, 0), 0, ())
    except StudioError:
        stem = ""
    if not any(letter.isalpha() for letter in stem):
        return painting.free_names(objects, count)
    taken = stem.casefold() in {object_.name.casefold() for object_ in objects}
    return [stem] if count == 1 and not taken else painting.free_names(objects, count, stem)
