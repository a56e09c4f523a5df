"""The choice of the frames to export, which follows the segmentation while the dialog is open."""

from __future__ import annotations

from bisect import bisect_left

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLabel, QRadioButton, QVBoxLayout, QWidget

from scstream_app.plural import counted
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.playback.frame_range import frames_to_segment
from scstream_app.ui.document.state import State

_STOPPED = (State.PAUSED, State.STOPPED)


class FrameChoice(QWidget):
    """All frames, those from in to out point, or the current one; a note tells if the clip is not finished.

    The signal ``changed`` is emitted when other frames are chosen, and when the chosen ones become available or
    unavailable.

    Parameters
    ----------
    in_out : pair of int, optional
        First and last frame of the range marked on the timeline.
    """

    changed = Signal()

    def __init__(self, document: Document, in_out: tuple[int, int] | None) -> None:
        super().__init__()
        self._document, self._in_out = document, in_out
        #: Whether any frame, any in the marked range, and the current one could be exported at the last update.
        self._usable = (False, False, False)
        self._all, self._current = QRadioButton(), QRadioButton()
        marked = "In to out" if in_out is None else f"In to out ({in_out[0]} to {in_out[1]})"
        self._range = QRadioButton(marked)
        self._range.setEnabled(in_out is not None)
        self._range.setToolTip("" if in_out else "Set the in and out points on the timeline first (I and O)")
        self._note = QLabel()
        self._note.setObjectName("unfinished")
        self._note.setWordWrap(True)
        self._which = QButtonGroup(self)
        row = QHBoxLayout()
        for button in (self._all, self._range, self._current):
            self._which.addButton(button)
            row.addWidget(button)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(row)
        column.addWidget(self._note)
        (self._all if in_out is None else self._range).setChecked(True)
        self._update()
        self._which.buttonToggled.connect(self.changed)
        for signal in (document.progressed, document.state_changed, document.display.shown_changed):
            signal.connect(self._update)

    @property
    def frames(self) -> tuple[int, int]:
        """The first and the last frame to export."""
        frames, index = self._document.summary.frames, self._document.display.index
        if self._current.isChecked() and index is not None:
            return index, index
        if self._range.isChecked() and self._in_out is not None:
            return self._in_out
        return (frames[0], frames[-1]) if len(frames) else (0, -1)

    @Slot()
    def _update(self) -> None:
        count, index = len(self._document.summary), self._document.display.index
        note = self._note_text(count)
        self._all.setText(" ".join(["All", *([str(count)] if count else []), *(["so far"] if count and note else [])]))
        self._note.setText(note)
        self._note.setVisible(bool(note))
        segmented = index is not None and self._document.summary.place(index) is not None
        self._current.setText("Current" if index is None else f"Current ({index})")
        self._current.setEnabled(segmented)
        self._current.setToolTip("" if segmented else "The frame shown is not segmented")
        usable, self._usable = self._usable, (count > 0, self._in_range(), segmented)
        if usable != self._usable:
            self.changed.emit()

    def _in_range(self) -> bool:
        """Whether a frame between the in and out points is segmented."""
        if self._in_out is None:
            return False
        frames, (first, last) = self._document.summary.frames, self._in_out
        place = bisect_left(frames, first)
        return place < len(frames) and frames[place] <= last

    def _note_text(self, count: int) -> str:
        """Text that tells how many frames are segmented and what is exported; empty if the clip is finished."""
        document = self._document
        if document.session is None or document.session.manifest.complete or document.state is State.DONE:
            return ""
        length = frames_to_segment(document)
        frames = f"{count} of {length} frames" if length and length > count else counted(count, "frame")
        if document.state in _STOPPED:
            return f"The clip is not finished: {frames} are segmented. Other frames are not exported."
        return (
            f"The clip is still being segmented: {frames} so far. The export contains the frames that are segmented "
            "when you click Export."
        )
