"""Sessions of recently opened clips: offers to open those that are complete and to continue others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from scstream_app.addresses import absolute_address, split_reading
from scstream_app.errors import StudioError
from scstream_app.plural import counted
from scstream_app.session import SUFFIX, Manifest
from scstream_app.session.library import Library, count_frames
from scstream_app.ui.qt.threads.job_queue import JobQueue
from scstream_app.ui.sessions.opening.recent_files import RecentFiles


@dataclass(frozen=True, slots=True)
class Continuation:
    """The newest session of a clip.

    Parameters
    ----------
    path : str
    frames : int
        Number of frames that are segmented.
    length : int or None
        Number of frames of the clip; None if unknown.
    complete : bool
        Whether the run reached its end.
    """

    path: str
    frames: int
    length: int | None
    complete: bool = False

    def describe(self) -> str:
        """Short text for lists.

        >>> Continuation("a.scstream", 120, 300).describe()
        'continue (frame 120 of 300)'
        >>> Continuation("a.scstream", 300, 300, complete=True).describe()
        'open (300 frames)'
        >>> Continuation("a.scstream", 1, None).describe()
        'continue (1 frame)'
        """
        if self.complete or self.frames == self.length:
            return f"open ({counted(self.frames, 'frame')})"
        if self.length is None or self.frames > self.length:
            return f"continue ({counted(self.frames, 'frame')})"
        return f"continue (frame {self.frames} of {self.length})"


class RecentSessions(QObject):
    """Finds the sessions of the recent clips on a job queue; ``changed`` is emitted when there are others.

    Parameters
    ----------
    addresses : RecentFiles
    library : callable
        Returns the library of new sessions.
    jobs : JobQueue
    """

    changed = Signal()

    def __init__(
        self, addresses: RecentFiles, library: Callable[[], Library], jobs: JobQueue, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._addresses, self._library, self._jobs = addresses, library, jobs
        self._found: Mapping[str, Continuation] = {}

    def of(self, address: str) -> Continuation | None:
        """Newest session of a clip, as far as it is known."""
        return self._found.get(address)

    @Slot()
    def refresh(self) -> None:
        """Look for sessions; ``changed`` follows if there are others than before."""
        recent = self._addresses.recent()
        self._jobs.do(partial(find_continuations, self._library(), recent), self._take, what="Looking for sessions")

    def _take(self, found: Mapping[str, Continuation]) -> None:
        if found != self._found:
            self._found = found
            self.changed.emit()


def find_continuations(library: Library, addresses: Sequence[str]) -> dict[str, Continuation]:
    """Newest session of each address, among those of the library and among the addresses themselves.

    Reads files; do not call on the window's thread.
    """
    clips = {_key(address): address for address in addresses if not address.endswith(SUFFIX)}
    newest: dict[str, tuple[float, Continuation]] = {}
    for path in {*library.sessions(), *(Path(address) for address in addresses if address.endswith(SUFFIX))}:
        # A session may be damaged, or deleted meanwhile.
        with suppress(StudioError, OSError):
            manifest = Manifest.read(path / "manifest.json")
            source = manifest.source
            address = clips.get(_key(source.address))
            if address is None or source.live:
                continue
            written, frames = (path / "frames.jsonl").stat().st_mtime, count_frames(path)
            if frames and (address not in newest or written > newest[address][0]):
                newest[address] = written, Continuation(str(path), frames, source.length, manifest.complete)
    return {address: continuation for address, (_, continuation) in newest.items()}


def _key(address: str) -> str:
    """Text that is equal for the same images in any order, however they are read."""
    return "\n".join(sorted(absolute_address(split_reading(address)[0]).splitlines()))
