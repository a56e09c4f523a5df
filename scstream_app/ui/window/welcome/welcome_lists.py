"""Fills the lists of the welcome page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Slot

from scstream_app.session.library import Library
from scstream_app.ui.qt.threads.job_queue import JobQueue
from scstream_app.ui.sessions.opening.recent_files import RecentFiles
from scstream_app.ui.sessions.opening.recent_sessions import RecentSessions
from scstream_app.ui.sessions.opening.unsaved_sessions import describe_unsaved
from scstream_app.ui.window.welcome.welcome import Welcome


class WelcomeLists(QObject):
    """Lists recent files and unsaved sessions on the welcome page whenever it asks for them.

    Parameters
    ----------
    welcome : Welcome
    addresses : RecentFiles
    sessions : RecentSessions
        Sessions of the recent files.
    library : callable
        Returns the library of the unsaved sessions.
    jobs : JobQueue
        Reads files.
    """

    def __init__(
        self,
        welcome: Welcome,
        addresses: RecentFiles,
        sessions: RecentSessions,
        library: Callable[[], Library],
        jobs: JobQueue,
    ) -> None:
        super().__init__(welcome)
        self._welcome, self._addresses, self._sessions = welcome, addresses, sessions
        self._library, self._jobs = library, jobs
        welcome.stale.connect(self._fill)
        sessions.changed.connect(self._fill_recent)

    @Slot()
    def _fill(self) -> None:
        self._fill_recent()
        self._sessions.refresh()
        work = partial(describe_unsaved, self._library())
        self._jobs.do(work, self._welcome.set_unsaved, what="Looking for sessions")

    @Slot()
    def _fill_recent(self) -> None:
        self._welcome.set_recent(self._addresses.recent(), self._sessions.of)
