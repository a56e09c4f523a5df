"""Work with files that may take long, done on a thread of its own; the window hears of it when it is over."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from PySide6.QtCore import QObject, Signal, Slot

from scstream_app.errors import StudioError

T = TypeVar("T")


class Chores(QObject):
    """Does one thing after another."""

    _over = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="chores")
        self._over.connect(self._call)
        self._ended = False

    def do(
        self,
        work: Callable[[], T],
        then: Callable[[T], object] | None = None,
        failed: Callable[[str], object] | None = None,
    ) -> None:
        """Have something done. ``then`` gets what comes of it, ``failed`` the message of a StudioError instead.

        Both are called on the thread of this object.
        """
        if not self._ended:
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
            message = str(error)
            if failed is not None:
                self._over.emit(lambda: failed(message))
        except Exception as error:
            self._over.emit(_raising(error))
        else:
            if then is not None:
                self._over.emit(lambda: then(result))

    @Slot(object)
    def _call(self, action: Callable[[], object]) -> None:
        if not self._ended:
            action()

    def shut_down(self) -> None:
        """Wait for what is to be done, and do no more; nobody hears of it."""
        self._ended = True
        self._thread.shutdown()


def _raising(error: Exception) -> Callable[[], None]:
    """A fault of the program is not to be lost on a thread that nobody looks at."""

    def action() -> None:
        raise error

    return action
