"""Commands that compare the open run with another one of the same clip, and keep one of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QMessageBox, QWidget

from scstream_app.session import PICTURES
from scstream_app.session.library import Library, discard, is_unsaved
from scstream_app.ui.compare.comparison_reader import ComparisonReader
from scstream_app.ui.compare.comparison_window import ComparisonWindow
from scstream_app.ui.compare.run_chooser import RunChooser, other_runs
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.playback.player import Player
from scstream_app.ui.qt.message_bar import MessageBar
from scstream_app.ui.qt.threads.job_queue import JobQueue
from scstream_app.ui.sessions.opening.document_opener import DocumentOpener
from scstream_app.ui.sessions.opening.recent_files import RecentFiles

Answer = Literal["delete", "keep", "cancel"]


class CompareRuns(QObject):
    """Opens the comparison of two runs. ``deleted`` is emitted when a run that was not kept is deleted.

    Parameters
    ----------
    document : Document
    player : Player
    opening : DocumentOpener
        Opens the other run if the user keeps that one.
    addresses : RecentFiles
    library : callable
        Returns the library of unsaved sessions.
    message : MessageBar
    window : QWidget
    """

    deleted = Signal()

    def __init__(
        self,
        document: Document,
        player: Player,
        opening: DocumentOpener,
        addresses: RecentFiles,
        library: Callable[[], Library],
        message: MessageBar,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._document, self._player, self._opening = document, player, opening
        self._addresses, self._library, self._message, self._window = addresses, library, message, window
        self._reader, self._jobs = ComparisonReader(), JobQueue(self)
        self._comparison: ComparisonWindow | None = None

    def handlers(self) -> dict[str, Callable[[], object]]:
        """Return what the actions do."""
        return {"compare_runs": self.choose}

    def shut_down(self) -> bool:
        """End the threads; return whether they ended in time."""
        if self._comparison is not None:
            self._comparison.close()
        self._jobs.shut_down(wait=not self._jobs.under_way)
        return self._reader.shut_down()

    # --- choosing

    @Slot()
    def choose(self) -> None:
        """Ask for another run of the open clip, and compare with it."""
        session = self._document.session
        if session is not None:
            look = partial(other_runs, self._library(), session.path, session.manifest)
            self._jobs.do(look, self._ask, what="Looking for runs of the clip")

    def _ask(self, runs: list[tuple[str, str]]) -> None:
        if self._document.session is None:
            return
        folder = next(iter(self._addresses.folders(sessions_first=True)), Path.home())
        chooser = RunChooser(runs, folder, self._window)
        chooser.chosen.connect(self.compare_with)
        chooser.open()

    @Slot(object)
    def compare_with(self, path: Path) -> None:
        """Compare the open run with the session at ``path``."""
        session = self._document.session
        if session is None:
            return
        if not path.is_dir():
            self._message.show_message(f"Cannot compare with '{path.name}': it does not exist any more.", "error")
            return
        if path == session.path:
            self._message.show_message("This run is open already. Choose another one to compare it with.", "notice")
            return
        if self._comparison is not None:
            self._comparison.close()
        made = ComparisonWindow(self._document, self._player, path, self._reader, self._jobs, self._window)
        made.keep_first.connect(self._keep_first)
        made.keep_second.connect(self._keep_second)
        made.finished.connect(partial(self._on_finished, made))
        self._comparison = made
        made.show()

    def _on_finished(self, window: ComparisonWindow, result: int) -> None:
        if self._comparison is window:
            self._comparison = None

    # --- keeping

    @Slot()
    def _keep_first(self) -> None:
        """Keep the open run; delete the other one if the user wants that."""
        comparison = self._comparison
        if comparison is None:
            return
        answer = self._ask_about(comparison, comparison.second, "the other run")
        if answer == "cancel":
            return
        comparison.close()
        if answer == "delete":
            # After the comparison, which may still read it.
            self._jobs.do(partial(discard, comparison.second), self._report, what="Deleting the other run")

    @Slot()
    def _keep_second(self) -> None:
        """Open the other run; delete the one that was open if the user wants that."""
        comparison, session = self._comparison, self._document.session
        if comparison is None or session is None:
            return
        answer = self._ask_about(comparison, session.path, "this run")
        if answer != "cancel":
            comparison.close()
            self._opening.switch_to(comparison.second, delete=answer == "delete")

    def _ask_about(self, parent: QWidget, path: Path, which: str) -> Answer:
        """Ask whether to delete a run. Saved sessions and recordings are always kept, without a question."""
        # A recording has the only copy of its pictures, which the run that is kept may show.
        if not is_unsaved(path) or (path / PICTURES).exists():
            return "keep"
        question = f"Delete {which}, '{path.stem}'? It is not saved. Its names, objects and edits are deleted with it."
        box = QMessageBox(QMessageBox.Icon.Question, "ScStream Studio", question, parent=parent)
        delete = box.addButton("Delete", QMessageBox.ButtonRole.DestructiveRole)
        keep = box.addButton("Keep Both", QMessageBox.ButtonRole.AcceptRole)
        cancel = box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(keep)
        box.setEscapeButton(cancel)
        box.exec()
        clicked = box.clickedButton()
        box.deleteLater()
        return "delete" if clicked is delete else "keep" if clicked is keep else "cancel"

    def _report(self, gone: bool) -> None:
        if gone:
            self._message.show_message("Deleted the other run.", "notice")
            self.deleted.emit()
        else:
            self._message.show_message("Cannot delete the other run: it is open elsewhere.", "error")
