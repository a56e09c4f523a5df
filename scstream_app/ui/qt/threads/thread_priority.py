"""Lower priority for worker threads."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress

_NICENESS = 10


def lower_priority() -> None:
    """Lower the priority of the current thread and of threads it starts, so that the window gets a processor first.

    Qt's priorities have no effect on Linux, where each thread has a niceness. It cannot be raised again.
    """
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
