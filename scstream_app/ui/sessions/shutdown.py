"""Closing the window: what is being done ends, what is to be kept is written, and a person sees what is waited for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from time import monotonic

from PySide6.QtCore import QEvent, QEventLoop, Qt, QTimer, Slot
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QProgressBar, QVBoxLayout, QWidget

from scstream_app.ui.document.document import Document
from scstream_app.ui.document.live_feed import LiveFeed
from scstream_app.ui.qt.job_queue import JobQueue
from scstream_app.ui.sessions.document_opener import DocumentOpener

#: Seconds that sources and disks which hang are waited for, all together. Files that are being moved are waited for
#: till the end.
_PATIENCE = 30.0
#: Seconds from which on it is said how long the wait will be.
_UNUSUAL = 5.0
#: Seconds in which a thread that is at nothing has ended for certain.
_GRACE = 1.0
#: Milliseconds before a person is told, and between looks at what is left.
_UNTOLD, _GLANCE = 300, 30
#: Pixels of a line.
_WIDEST = 560


class Shutdown:
    """Ends everything behind a window.

    Parameters
    ----------
    files : Chores
        Whatever moves and deletes files: waited for till the end.
    lists : Chores
        Whatever only looks for files.
    """

    def __init__(
        self,
        document: Document,
        opening: DocumentOpener,
        feed: LiveFeed,
        files: JobQueue,
        lists: JobQueue,
        window: QWidget,
    ) -> None:
        self._document, self._opening, self._feed, self._window = document, opening, feed, window
        self._files, self._lists = files, lists
        self._begin = 0.0

    def finish(self) -> bool:
        """Return when all has ended, or what hangs was waited for long enough; True if nothing does.

        The window answers meanwhile, and takes no orders.
        """
        self._begin = monotonic()
        self._opening.close()
        self._feed.stop()
        ShutdownDialog(self.left, self._window).wait()
        # Who is at nothing ends at once; who hangs has had the time there is for all of them.
        rest = max(self._rest(), _GRACE)
        ended = self._document.shut_down(round(1000.0 * rest))
        # Of a worker that did not end in time; a session that is to be moved or discarded waits for that.
        for receiver in (self._document, self._document.run):
            QApplication.sendPostedEvents(receiver, QEvent.Type.MetaCall.value)
        self._opening.clear_up()
        ended &= self._feed.shut_down(rest)
        listed = not self._lists.under_way
        self._lists.shut_down(wait=listed)
        self._files.shut_down()
        return ended and listed

    def left(self) -> list[str]:
        """What is still being done, in words."""
        hanging = self._document.at_work()
        if self._feed.recorder is not None:
            hanging.append(f"Writing the recording: {self._feed.recorder.waiting} frames left")
        hanging += self._lists.under_way
        rest = self._rest()
        if rest <= 0.0:
            hanging = []
        elif hanging and rest < _PATIENCE - _UNUSUAL:
            hanging.append(f"What does not answer is given up in {ceil(rest)} s. All that was written is kept.")
        return [*self._files.under_way, *hanging]

    def _rest(self) -> float:
        """Seconds that what hangs is still waited for."""
        return _PATIENCE - (monotonic() - self._begin)


class ShutdownDialog(QDialog):
    """Says what is still being done, and goes when nothing is.

    Parameters
    ----------
    left : callable
        Gives what is still being done, in words.
    """

    def __init__(self, left: Callable[[], Sequence[str]], parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("finishing")
        self.setWindowTitle("ScStream Studio")
        self.setWindowFlag(Qt.WindowType.WindowCloseButtonHint, False)
        self._left = left
        title = QLabel("Finishing …")
        font = title.font()
        font.setBold(True)
        title.setFont(font)
        self._text = QLabel()
        self._text.setAccessibleName("What is still being done")
        bar = QProgressBar()
        # How long it takes is not known.
        bar.setRange(0, 0)
        bar.setTextVisible(False)
        column = QVBoxLayout(self)
        for widget in (title, self._text, bar):
            column.addWidget(widget)
        self.setMinimumWidth(360)
        self._timer = QTimer(self)
        self._timer.setInterval(_GLANCE)
        self._timer.timeout.connect(self._look)

    @property
    def text(self) -> str:
        """What it says."""
        return self._text.text()

    def wait(self) -> None:
        """Return when nothing is left; what takes only a moment is waited for without a word."""
        self._look()
        if self._left():
            self._wait_untold()
        if self._left():
            self._timer.start()
            self.exec()
            self._timer.stop()
        self.deleteLater()

    def _wait_untold(self) -> None:
        loop, timer = QEventLoop(), QTimer()
        QTimer.singleShot(_UNTOLD, loop, loop.quit)

        def look() -> None:
            if not self._left():
                loop.quit()

        timer.timeout.connect(look)
        timer.start(_GLANCE)
        loop.exec(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)

    @Slot()
    def _look(self) -> None:
        lines = self._left()
        if lines:
            told = self._text.fontMetrics().elidedText
            middle = Qt.TextElideMode.ElideMiddle
            self._text.setText("\n".join(told(line, middle, _WIDEST) for line in dict.fromkeys(lines)))
            self.adjustSize()
        elif self.isVisible():
            self.accept()

    @Slot()
    def reject(self) -> None:
        """Nobody can leave it before all is done."""

    def closeEvent(self, event: QCloseEvent) -> None:
        event.ignore()
