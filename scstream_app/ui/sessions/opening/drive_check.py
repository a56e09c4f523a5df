"""Which files exist, without waiting for drives that do not respond."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import Future, wait
from threading import Thread

#: Seconds to wait for all drives together: no one notices them before a file dialog opens.
_PATIENCE = 0.3


class DriveCheck:
    """Looks for files on threads. A file on a drive that does not respond counts as missing until it does."""

    def __init__(self) -> None:
        self._asked: dict[str, Future[bool]] = {}

    def existing(self, paths: Iterable[str]) -> list[str]:
        """Return those of the paths that exist, in their order; takes a moment at most."""
        wanted = list(paths)
        asked = {path: self._asked.get(path) or _look(path) for path in wanted}
        done = wait(asked.values(), _PATIENCE).done
        # A drive that hangs is not asked again before it has responded.
        self._asked = {path: answer for path, answer in asked.items() if answer not in done}
        return [path for path in wanted if asked[path] in done and asked[path].result()]


def _look(path: str) -> Future[bool]:
    answer: Future[bool] = Future()
    Thread(target=lambda: answer.set_result(os.path.exists(path)), name="scstream-look", daemon=True).start()
    return answer
