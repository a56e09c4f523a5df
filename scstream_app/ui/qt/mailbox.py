"""Handing things from a busy thread to the window: only the newest matters."""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

T = TypeVar("T")


class Mailbox(Generic[T]):
    """Holds one thing. Whoever puts a new one in while the old one waits replaces it.

    Examples
    --------
    >>> box = Mailbox[int]()
    >>> box.put(1), box.put(2), box.take(), box.take()
    (True, False, 2, None)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._content: T | None = None
        self.replaced = 0

    def put(self, thing: T) -> bool:
        """Put it in; True if the box was empty, so that its owner has to be told."""
        with self._lock:
            was_empty = self._content is None
            self.replaced += not was_empty
            self._content = thing
            return was_empty

    def take(self) -> T | None:
        """What is in it, which is then empty."""
        with self._lock:
            thing, self._content = self._content, None
            return thing
