"""A recording that never ends, to be killed: `python killed_recording.py SESSION`."""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path
from time import sleep

from helpers.export_scenes import story
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.session import LiveRecorder, SourceFacts
from scstream_app.settings import Settings

SHAPE = (48, 64)


def frame(index: int) -> FrameResult:
    """What is recorded as frame ``index``."""
    told = story(SHAPE, first=index - index % 5)
    return told[index % 5]


def main() -> None:
    """Record one frame after another, none before the one in front is on its way to the disk."""
    facts = SourceFacts("camera:0", "Fake Cam", SHAPE[1], SHAPE[0], 30.0, None, True)
    recorder = LiveRecorder(Path(sys.argv[1]), facts, Settings(), print)
    for index in count():
        recorder.put(frame(index))
        while recorder.waiting:
            sleep(0.001)


if __name__ == "__main__":
    main()
