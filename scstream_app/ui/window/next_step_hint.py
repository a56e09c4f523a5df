"""Hint over the lower edge of the picture: what to do after the first clip was opened."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSettings, Qt, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton

from scstream_app.ui.actions.actions import Actions
from scstream_app.ui.document.document import Document
from scstream_app.ui.viewer.geometry.zoom_view import ZoomView

_KEY = "hints/next_step"
#: Distance from the lower edge, and minimum distance from the others, in pixels.
_MARGIN = 12
#: The hint may cover this share of the picture's height at most.
_SHARE = 0.25


class NextStepHint(QFrame):
    """Sentence that leads from a clip to an object and from an object to an export.

    It is shown until the user closes it, exports or corrects an object, and then never again. It appears with the first
    segmented frame of a clip that can be exported, and makes room while the user looks closer.

    Parameters
    ----------
    document : Document
    actions : Actions
        Their keys are named.
    settings : QSettings
        Remembers that the hint is done.
    picture : ZoomView
        Widget that the hint lies on.
    """

    def __init__(self, document: Document, actions: Actions, settings: QSettings, picture: ZoomView) -> None:
        super().__init__(picture)
        self.setObjectName("next_step")
        self.setStyleSheet(
            "#next_step { background: rgba(18, 18, 22, 225); border-radius: 5px; }"
            "#next_step QLabel, #next_step QToolButton { color: #f2f2f4; background: transparent; border: none; }"
            "#next_step QToolButton:hover, #next_step QToolButton:focus { background: rgba(255, 255, 255, 50); }"
        )
        self._document, self._actions, self._settings, self._picture = document, actions, settings, picture
        self._text = QLabel()
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setWordWrap(True)
        close = self._close = QToolButton()
        close.setText("✕")
        close.setToolTip("Do not show this again")
        close.setAccessibleName("Close the hint")
        close.clicked.connect(self._finish)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 5, 5, 5)
        row.addWidget(self._text, 1)
        row.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()
        if settings.value(_KEY) is None:
            self._follow_document()

    def _follow_document(self) -> None:
        document = self._document
        for signal in (document.opened, document.closed, document.progressed, document.marks_changed):
            signal.connect(self._follow)
        self._actions.keys_changed.connect(self._follow)
        self._picture.zoomed.connect(self._follow)
        self._actions["export"].triggered.connect(self._finish)
        self._picture.installEventFilter(self)

    @property
    def text(self) -> str:
        """Displayed sentence."""
        return self._text.text()

    @Slot()
    def _follow(self) -> None:
        document = self._document
        if any(len(one.edits) > 1 for one in document.objects):
            self._finish()
        ready = document.session is not None and len(document.summary) > 0 and self._settings.value(_KEY) is None
        ready &= self._picture.fits
        text = self._sentence()
        if ready and text != self.text:
            self._text.setText(text)
            self.setAccessibleName(text)
        self.setVisible(ready)
        if ready:
            self._place()

    def _sentence(self) -> str:
        group, export = (self._actions.key(id) for id in ("group", "export"))
        exporting = f"{export} to export" if export else "export it from the File menu"
        if self._document.objects:
            return f"The object is followed through the clip. {self._correcting()}Then {exporting}."
        making = f"press {group} to make an object" if group else "make an object of them in the Object menu"
        first = self._actions.key("start")
        where = f" ({first}: the first frame)" if first else ""
        return f"Go where a thing first appears{where}, drag over its segments or Ctrl+click them, {making}."

    def _correcting(self) -> str:
        """The keys that find and correct errors."""
        keys = [self._actions.key(id) for id in ("next_low", "ungroup", "tool_brush", "tool_eraser")]
        seek, remove, brush, eraser = keys
        ways = [f"{remove} removes a selected segment"] if remove else []
        ways += [f"{brush} and {eraser} draw and erase"] if brush and eraser else []
        found = f"Step through it; {seek} goes to the next doubtful frame" if seek else "Step through it"
        return f"{found}. {', '.join(ways)}. " if ways else f"{found}. "

    @Slot()
    def _finish(self) -> None:
        self._settings.setValue(_KEY, "done")
        self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay at the lower edge when the picture changes its size."""
        if event.type() == QEvent.Type.Resize and not self.isHidden():
            self._place()
        return False

    def _place(self) -> None:
        """Put the hint at the lower edge; in a very low window it is moved out of sight."""
        room = self._picture.size()
        # The size hint would wrap a line that fits.
        words = self._text.fontMetrics().horizontalAdvance(self.text) + self._close.sizeHint().width() + 3 * _MARGIN
        width = max(1, min(words, room.width() - 2 * _MARGIN))
        height = max(self.heightForWidth(width), self.minimumSizeHint().height())
        fits = height + _MARGIN <= _SHARE * room.height()
        top = room.height() - height - _MARGIN if fits else room.height()
        self.setGeometry((room.width() - width) // 2, top, width, height)
        self.raise_()
