"""Tests of the application process: the memory of pictures is reused from frame to frame."""

from __future__ import annotations

import subprocess
import sys

import pytest

_SCRIPT = """
import resource, threading
import numpy as np
from scstream_app.render import views
from scstream_app.ui.window.app import application

application()
rgb = np.zeros((480, 854, 3), np.uint8)
ids = np.zeros((480, 854), np.int32)

def draw():
    pictures = [views.overlay(rgb, ids) for _ in range(4)]
    begin = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    for _ in range(20):
        pictures = [*pictures[1:], views.overlay(rgb, ids)]
    print((resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - begin) / 20)

thread = threading.Thread(target=draw)
thread.start()
thread.join()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other ways to keep memory")
def test_drawing_frame_after_frame_fetches_no_memory_anew() -> None:
    """A picture of this size has 300 pages, and drawing an overlay takes several steps."""
    done = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 100.0
