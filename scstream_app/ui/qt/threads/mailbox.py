"""Mailbox between two threads that holds one item: a newer item replaces an older one."""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

T = TypeVar("T")


class Mailbox(Generic[T]):
    """Holds one item; a newer item replaces one that was not taken.

    Attributes
    ----------
    replaced : int
        Number of items that were replaced.

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

    def put(self, item: T) -> bool:
        """Put an item in; return whether the box was empty, so that the receiver must be notified."""
        with self._lock:
            was_empty = self._content is None
            self.replaced += not was_empty
            self._content = item
            return was_empty

    def take(self) -> T | None:
        """Take the item out; return None if the box is empty."""
        with self._lock:
            item, self._content = self._content, None
            return item
