"""Orderly shutdown: wait for workers and file operations, and show what is pending."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from time import monotonic
from typing import Any

from PySide6.QtCore import QEvent, QEventLoop, Qt, QTimer, Slot
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QProgressBar, QVBoxLayout, QWidget

from scstream_app.plural import counted
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.live_feed import LiveFeed
from scstream_app.ui.qt.threads.background import BackgroundWorker
from scstream_app.ui.qt.threads.job_queue import JobQueue
from scstream_app.ui.sessions.opening.document_opener import DocumentOpener

#: Total seconds to wait for sources and disks that do not respond. Files that are being moved are waited for without
#: limit.
_PATIENCE = 30.0
#: Seconds after which the dialog shows the remaining time.
_UNUSUAL = 5.0
#: Seconds in which an idle thread ends for certain.
_GRACE = 1.0
#: Milliseconds before the dialog appears, and between checks of what is pending until then and afterwards.
_QUIET, _OFTEN, _CHECK = 300, 5, 30
#: Maximum width of a line in pixels.
_WIDEST = 560


class Shutdown:
    """Stops the workers, feeds and job queues of a window.

    Parameters
    ----------
    files : JobQueue
        Moves and deletes files; waited for without limit.
    lists : JobQueue
        Lists files.
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
        self._others: list[tuple[BackgroundWorker[Any], str]] = []
        self._begin = 0.0

    def end_as_well(self, worker: BackgroundWorker[Any], what: str) -> None:
        """End another thread with the window; what it does, described by ``what``, need not be finished."""
        self._others.append((worker, what))

    def finish(self) -> bool:
        """Wait until everything has ended or the time is up; returns whether everything has ended.

        The window keeps painting meanwhile but takes no input.
        """
        self._begin = monotonic()
        for worker, _ in self._others:
            worker.cancel()
        self._opening.close()
        self._feed.stop()
        ShutdownDialog(self.left, self._window).wait()
        # Idle threads end at once; the others have used up the common time limit.
        rest = max(self._rest(), _GRACE)
        ended = self._document.shut_down(round(1000.0 * rest))
        # Deliver the end of a worker that was late: a session to be moved or discarded waits for it.
        for receiver in (self._document, self._document.run):
            QApplication.sendPostedEvents(receiver, QEvent.Type.MetaCall.value)
        self._opening.clear_up()
        ended &= self._feed.shut_down(rest)
        # A list: each thread is asked to end, however late another one is.
        ended &= all([worker.shut_down(round(1000.0 * rest)) for worker, _ in self._others])
        listed = not self._lists.under_way
        self._lists.shut_down(wait=listed)
        self._files.shut_down()
        return ended and listed

    def left(self) -> list[str]:
        """Descriptions of the pending work."""
        hanging = self._document.at_work()
        if self._feed.recorder is not None:
            hanging.append(f"Writing the recording: {counted(self._feed.recorder.waiting, 'frame')} left")
        hanging += [what for worker, what in self._others if worker.busy]
        hanging += self._lists.under_way
        rest = self._rest()
        if rest <= 0.0:
            hanging = []
        elif hanging and rest < _PATIENCE - _UNUSUAL:
            hanging.append(
                f"Work that does not respond is given up in {ceil(rest)} s. Everything written so far is kept."
            )
        return [*self._files.under_way, *hanging]

    def _rest(self) -> float:
        """Seconds left of the time limit."""
        return _PATIENCE - (monotonic() - self._begin)


class ShutdownDialog(QDialog):
    """Dialog that lists the pending work and closes when there is none.

    Parameters
    ----------
    left : callable
        Returns descriptions of the pending work.
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
        self._text.setAccessibleName("Pending work")
        bar = QProgressBar()
        # The duration is unknown.
        bar.setRange(0, 0)
        bar.setTextVisible(False)
        column = QVBoxLayout(self)
        for widget in (title, self._text, bar):
            column.addWidget(widget)
        self.setMinimumWidth(360)
        self._timer = QTimer(self)
        self._timer.setInterval(_CHECK)
        self._timer.timeout.connect(self._look)

    @property
    def text(self) -> str:
        """Displayed lines."""
        return self._text.text()

    def wait(self) -> None:
        """Return when nothing is pending; the dialog appears only if that takes more than a moment."""
        self._look()
        if self._left():
            self._wait_quietly()
        if self._left():
            self._timer.start()
            self.exec()
            self._timer.stop()
        self.deleteLater()

    def _wait_quietly(self) -> None:
        loop, timer = QEventLoop(), QTimer()
        QTimer.singleShot(_QUIET, loop, loop.quit)

        def look() -> None:
            if not self._left():
                loop.quit()

        timer.timeout.connect(look)
        timer.start(_OFTEN)
        loop.exec(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)

    @Slot()
    def _look(self) -> None:
        lines = self._left()
        if lines:
            elided = self._text.fontMetrics().elidedText
            middle = Qt.TextElideMode.ElideMiddle
            self._text.setText("\n".join(elided(line, middle, _WIDEST) for line in dict.fromkeys(lines)))
            self.adjustSize()
        elif self.isVisible():
            self.accept()

    @Slot()
    def reject(self) -> None:
        """Ignore Escape: the dialog closes only when nothing is pending."""

    def closeEvent(self, event: QCloseEvent) -> None:
        event.ignore()
