"""Work with files that may take long, done on a thread of its own; the window hears of it when it is over."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QObject, Signal, Slot

from scstream_app.errors import StudioError

T = TypeVar("T")


class JobQueue(QObject):
    """Does one thing after another.

    Attributes
    ----------
    under_way : tuple of str
        What is being done and what waits for that, in words.
    """

    _over = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="chores")
        self._over.connect(self._call)
        self._ended = False
        self.under_way: tuple[str, ...] = ()

    def do(
        self,
        work: Callable[[], T],
        then: Callable[[T], object] | None = None,
        failed: Callable[[str], object] | None = None,
        *,
        what: str,
    ) -> None:
        """Have something done. ``then`` gets what comes of it, ``failed`` the message of a StudioError instead.

        Both are called on the thread of this object. ``what`` says to people what it is.
        """
        if not self._ended:
            self.under_way = (*self.under_way, what)
            self._thread.submit(self._do, work, then, failed)

    def _do(
        self,
        work: Callable[[], T],
        then: Callable[[T], object] | None,
        failed: Callable[[str], object] | None,
    ) -> None:
        try:
            result = work()
        except StudioError as error:
            self._over.emit(None if failed is None else partial(failed, str(error)))
        except Exception as error:
            self._over.emit(_raising(error))
        else:
            self._over.emit(None if then is None else partial(then, result))

    @Slot(object)
    def _call(self, action: Callable[[], object] | None) -> None:
        self.under_way = self.under_way[1:]
        if action is not None and not self._ended:
            action()

    def shut_down(self, wait: bool = True) -> None:
        """Take nothing more on.

        Wait for what was taken on, or (``wait=False``) drop what has not begun; no callback is called.
        """
        self._ended = True
        self._thread.shutdown(wait, cancel_futures=not wait)


def _raising(error: Exception) -> Callable[[], None]:
    """A fault of the program is not to be lost on a thread that nobody looks at."""

    def action() -> None:
        raise error

    return action
