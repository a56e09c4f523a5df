"""Ctrl-C and requests of the system to end: a job ends after the current frame, with complete files."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType

#: Signals that end a job. Windows has no SIGHUP, and sends no SIGTERM.
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Terminated(KeyboardInterrupt):
    """The system asked the program to end, by the signal ``number``."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def exit_code(stop: KeyboardInterrupt) -> int:
    """The exit code of an interrupted program as shells give it: 130 after Ctrl-C, 143 after SIGTERM.

    >>> exit_code(KeyboardInterrupt())
    130
    """
    return 128 + (stop.number if isinstance(stop, Terminated) else signal.SIGINT)


@contextmanager
def cancel_on_interrupt() -> Iterator[threading.Event]:
    """Yield an event that Ctrl-C and SIGTERM set, to end the job after the current frame; a second one ends it at once.

    When the body has ended, raises the KeyboardInterrupt that was put off.
    """
    cancel = threading.Event()
    received: list[int] = []

    def on_signal(number: int, frame: FrameType | None) -> None:
        received.append(number)
        if cancel.is_set():
            raise _interruption(received[0])
        cancel.set()

    with ExitStack() as stack:
        for number in _SIGNALS:
            # `nohup` lets programs ignore that the terminal was closed.
            if number == signal.SIGINT or signal.getsignal(number) != signal.SIG_IGN:
                stack.callback(signal.signal, number, signal.signal(number, on_signal))
        yield cancel
    if received:
        raise _interruption(received[0])


def _interruption(number: int) -> KeyboardInterrupt:
    return KeyboardInterrupt() if number == signal.SIGINT else Terminated(number)
