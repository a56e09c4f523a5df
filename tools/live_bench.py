"""Measure live mode: a clip played in a loop as a camera would give it, through the real window.

    python tools/live_bench.py CLIP [--seconds 300] [--rate 30] [--height 480] [--target 20] [--record] [--json]

Prints how many frames a second came to the screen, how late they were (from the camera handing a frame over to its
being painted), how many were later than 150 ms, and of these while the host of a virtual machine took its processors
away ("robbed"), how many of the camera's frames were passed over, the processing sizes that were chosen, and resident
memory every 30 seconds. ``--target 0`` keeps the processing size fixed. ``--record`` records all of it as well.

Needs a display; without one, run it under Xvfb: `xvfb-run -s "-screen 0 1600x1000x24" python tools/live_bench.py CLIP`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from unittest.mock import patch

import cv2
import numpy as np
from long_run import resident
from PySide6.QtCore import QEventLoop, QObject, QSettings, QTimer

from scstream_app.render.image_types import Picture
from scstream_app.session.library import Library
from scstream_app.sources import Camera, open_source
from scstream_app.ui.window.app import application
from scstream_app.ui.window.gc_timer import spare_searches
from scstream_app.ui.window.main_window import MainWindow

_MOST_FRAMES = 200
_LOOK_SECONDS = 30.0
#: Seconds from which on a frame is too late; and what the host of a virtual machine must have taken meanwhile, of how
#: long, to be the reason.
_LATE, _ROBBED, _ROBBED_SPAN = 0.15, 0.05, 0.5


class Loop:
    """A camera that shows a clip over and over at a steady rate. See `sources.devices.Device`."""

    name = "Clip"

    def __init__(self, pictures: list[Picture], rate: float) -> None:
        self.rate = rate
        self._pictures, self._begin, self._given = pictures, monotonic(), -1

    def grab(self) -> Picture:
        """The picture that is due next; those that were not fetched in time are gone."""
        due = max(self._given + 1, int((monotonic() - self._begin) * self.rate))
        sleep(max(0.0, self._begin + due / self.rate - monotonic()))
        self._given = due
        # A camera gives every picture in memory of its own.
        return self._pictures[due % len(self._pictures)].copy()

    def release(self) -> None:
        """Nothing is held."""


def pictures(clip: Path, height: int) -> list[Picture]:
    """The clip's frames at that height."""
    with open_source(str(clip)) as source:
        frames = [frame.rgb for frame in source.frames(0, _MOST_FRAMES)]
    width = 2 * round(frames[0].shape[1] * height / frames[0].shape[0] / 2)
    return [np.asarray(cv2.resize(rgb, (width, height), interpolation=cv2.INTER_AREA), np.uint8) for rgb in frames]


class Eye(QObject):
    """Notes when each frame has been painted, and how late that was."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__()
        self.seen: list[tuple[float, float, float]] = []
        self._window = window
        self._last = -1.0
        window.viewer.painted.connect(self._on_painted)

    def _on_painted(self) -> None:
        now, shown = monotonic(), self._window.document.display.shown
        if shown is not None and shown.result.captured > self._last:
            self._last = shown.result.captured
            self.seen.append((now, now - self._last, stolen()))


def stolen() -> float:
    """Seconds that the host of a virtual machine has taken from its processors so far."""
    try:
        return int(Path("/proc/stat").read_text().split("\n", 1)[0].split()[8]) / 100.0
    except (OSError, IndexError):
        return 0.0


def robbed(seen: list[tuple[float, float, float]]) -> int:
    """How many of the frames that were too late were so while the host took a good part of the time."""
    count = 0
    for place, (now, late, taken) in enumerate(seen):
        before = next((row[2] for row in seen[:place][::-1] if now - row[0] > _ROBBED_SPAN), taken)
        count += late > _LATE and taken - before >= _ROBBED
    return count


def measure(clip: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Run the window for that long."""
    frames = pictures(clip, arguments.height)
    application()
    with tempfile.TemporaryDirectory() as scratch:
        settings = QSettings(str(Path(scratch) / "settings.ini"), QSettings.Format.IniFormat)
        settings.setValue("live/target", arguments.target)
        library = Library(Path(scratch) / "sessions")
        window = MainWindow(settings, library)
        spare_searches(window.document)
        window.resize(1500, 950)
        window.show()
        with patch(
            "scstream_app.ui.document.workers.segmentation_worker.open_source",
            lambda text: Camera(0, opener=lambda: Loop(frames, arguments.rate)),
        ):
            window.open_address("camera:0")
            report = watched(window, arguments)
            if arguments.picture is not None:
                window.grab().save(str(arguments.picture))
            window.close()
        if arguments.record:
            report["recorded"] = dict(library.unsaved_sessions())
        return report


def watched(window: MainWindow, arguments: argparse.Namespace) -> dict[str, Any]:
    """The figures, from the moment that the first frame has settled."""
    # The first frame was old when it had settled.
    spend(window, until=lambda: len(window.document.summary) > 2)
    if arguments.record:
        window.actions_["record"].trigger()
    eye, begin = Eye(window), monotonic()
    memory, sizes = [], Counter[str]()
    while (left := begin + arguments.seconds - monotonic()) > 0:
        spend(window, seconds=min(1.0, left))
        sizes[f"{window.feed.scale:g}"] += 1
        if monotonic() - begin >= _LOOK_SECONDS * len(memory):
            memory.append(round(resident(), 1))
            print(f"{monotonic() - begin:4.0f} s  {memory[-1]} MiB  {window.live_bar.latency}", file=sys.stderr)
    late = 1000.0 * np.array([lateness for _, lateness, _ in eye.seen])
    recorder = window.feed.recorder
    return {
        "seconds": arguments.seconds,
        "frames_shown": len(late),
        "fps": round(len(late) / arguments.seconds, 2),
        "latency_ms": {
            "p50": round(float(np.percentile(late, 50)), 1),
            "p95": round(float(np.percentile(late, 95)), 1),
            "p99": round(float(np.percentile(late, 99)), 1),
            "max": round(float(late.max()), 1),
        },
        "over_150_ms": {"all": int((late > 1000.0 * _LATE).sum()), "robbed": robbed(eye.seen)},
        "stolen_seconds": round(eye.seen[-1][2] - eye.seen[0][2], 2),
        "engine_ms": round(float(np.nanmedian(window.document.summary.column("engine"))), 1),
        "dropped": window.feed.dropped,
        "left_out_of_recording": None if recorder is None else recorder.dropped,
        "seconds_at_size": dict(sizes),
        "resident_mib": memory,
    }


def spend(window: MainWindow, seconds: float = 300.0, until: Any = None) -> None:
    """Let the window work for a while, or until something is so."""
    loop, end, look = QEventLoop(), QTimer(), QTimer()
    end.setSingleShot(True)
    end.timeout.connect(loop.quit)
    end.start(int(1000 * seconds))
    if until is not None:
        look.timeout.connect(lambda: loop.quit() if until() else None)
        look.start(20)
    loop.exec()


def main() -> None:
    """Parse the command line and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clip", type=Path)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--rate", type=float, default=30.0)
    parser.add_argument("--height", type=int, default=480)
    parser.add_argument("--target", type=float, default=20.0)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--picture", type=Path, help="write what the window looks like in the end")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    print(json.dumps(measure(arguments.clip, arguments), indent=None if arguments.json else 1))


if __name__ == "__main__":
    main()
