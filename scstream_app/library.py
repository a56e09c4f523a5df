"""Where sessions are kept before anybody saves them, and which were left behind."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from platformdirs import user_data_path

from scstream_app.errors import SessionError, StudioError
from scstream_app.session import SUFFIX, Session


class Library:
    """A folder of sessions: every run is written there from its first frame on, so that a crash loses nothing."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or user_data_path("scstream-studio", appauthor=False) / "sessions"

    def new_path(self, name: str) -> Path:
        """Where the session of a source called ``name`` is to be."""
        self.folder.mkdir(parents=True, exist_ok=True)
        stem = re.sub(r"[^\w .()-]", "_", Path(name).stem).strip(" .") or "video"
        stamp = datetime.now().strftime("%Y-%m-%d %H.%M.%S")
        path = self.folder / f"{stem} {stamp}{SUFFIX}"
        count = 1
        while path.exists():
            count += 1
            path = self.folder / f"{stem} {stamp} ({count}){SUFFIX}"
        return path

    def holds(self, path: Path) -> bool:
        """Whether a session is one of these, which nobody has saved yet."""
        return path.parent == self.folder

    def left_behind(self) -> Iterator[tuple[str, str]]:
        """What to say of each session that is here, newest first, and its path."""
        for path in sorted(self.folder.glob(f"*{SUFFIX}"), key=lambda p: p.stat().st_mtime, reverse=True):
            try:
                with Session.open(path) as session:
                    count, name = len(session), session.manifest.source.name
            except StudioError:
                continue
            if count:
                yield f"{name}\n{count} frames", str(path)

    def discard(self, path: Path) -> None:
        """Delete a session that nobody wants to keep; one that is not here is left alone."""
        if self.holds(path):
            shutil.rmtree(path, ignore_errors=True)


def move_session(path: Path, target: Path) -> None:
    """Put a session that is not open elsewhere; a session that is there already goes."""
    if target.suffix != SUFFIX:
        raise SessionError(f"Cannot save '{target}': the name of a session ends in {SUFFIX}.")
    if target.exists():
        with Session.open(target, writable=True):
            pass
        shutil.rmtree(target)
    try:
        shutil.move(path, target)
    except OSError as error:
        raise SessionError(f"Cannot save '{target}': {error.strerror or error}.") from error
