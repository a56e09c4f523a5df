"""Threads that let the window go first."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress

_NICENESS = 10


def lower_priority() -> None:
    """Have a processor only when the window needs it less, from now on; threads that this one starts do so too.

    Qt's priorities do nothing on Linux, where a thread has a niceness of its own instead. It cannot be taken back.
    """
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
