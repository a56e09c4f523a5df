"""Measure live mode in the real window, with a clip that is played in a loop in place of a camera.

    python tools/live_bench.py CLIP [--seconds 300] [--rate 30] [--height 480] [--target 20] [--record] [--json]

Prints the frames shown per second, their latency (from the camera to the screen), how many were later than 150 ms and
how many of these while the host of the virtual machine withheld the processors ("robbed"), the dropped camera frames,
the processing sizes used, and the resident memory every 30 seconds. ``--target 0`` keeps the processing size fixed.
``--record`` records the session as well.

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
from scstream_app.ui.window.main_window import MainWindow
from scstream_app.ui.window.startup.app import application
from scstream_app.ui.window.startup.gc_timer import freeze_loaded_objects

_MOST_FRAMES = 200
_MEMORY_SECONDS = 30.0
#: A frame is late after this latency in seconds.
_LATE = 0.15
#: The host is the cause if it stole at least this time in seconds, within the second time before the frame.
_STOLEN, _STOLEN_WINDOW = 0.05, 0.5


class LoopDevice:
    """A camera device that plays a clip in a loop at a constant rate. See `sources.devices.Device`."""

    name = "Clip"

    def __init__(self, pictures: list[Picture], rate: float) -> None:
        self.rate = rate
        self._pictures, self._begin, self._given = pictures, monotonic(), -1

    def grab(self) -> Picture:
        """Wait for the next picture; pictures that were not fetched in time are skipped."""
        due = max(self._given + 1, int((monotonic() - self._begin) * self.rate))
        sleep(max(0.0, self._begin + due / self.rate - monotonic()))
        self._given = due
        # A camera returns every picture in new memory.
        return self._pictures[due % len(self._pictures)].copy()

    def release(self) -> None:
        """Nothing to release."""


def pictures(clip: Path, height: int) -> list[Picture]:
    """The first frames of the clip, resized to a height."""
    with open_source(str(clip)) as source:
        frames = [frame.rgb for frame in source.frames(0, _MOST_FRAMES)]
    width = 2 * round(frames[0].shape[1] * height / frames[0].shape[0] / 2)
    return [np.asarray(cv2.resize(rgb, (width, height), interpolation=cv2.INTER_AREA), np.uint8) for rgb in frames]


class LatencyProbe(QObject):
    """Records time, latency and stolen time whenever a new frame is painted."""

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
    """Seconds that the host of a virtual machine has withheld the processors since boot."""
    try:
        return int(Path("/proc/stat").read_text().split("\n", 1)[0].split()[8]) / 100.0
    except (OSError, IndexError):
        return 0.0


def late_by_host(seen: list[tuple[float, float, float]]) -> int:
    """Number of late frames for which the host of the virtual machine is the cause."""
    count = 0
    for place, (now, late, taken) in enumerate(seen):
        before = next((row[2] for row in seen[:place][::-1] if now - row[0] > _STOLEN_WINDOW), taken)
        count += late > _LATE and taken - before >= _STOLEN
    return count


def measure(clip: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Run the window and return the figures."""
    frames = pictures(clip, arguments.height)
    application()
    with tempfile.TemporaryDirectory() as scratch:
        settings = QSettings(str(Path(scratch) / "settings.ini"), QSettings.Format.IniFormat)
        settings.setValue("live/target", arguments.target)
        library = Library(Path(scratch) / "sessions")
        window = MainWindow(settings, library)
        freeze_loaded_objects(window.document)
        window.resize(1500, 950)
        window.show()
        with patch(
            "scstream_app.ui.document.workers.segmentation_worker.open_source",
            lambda text: Camera(0, opener=lambda: LoopDevice(frames, arguments.rate)),
        ):
            window.open_address("camera:0")
            report = measure_window(window, arguments)
            if arguments.picture is not None:
                window.grab().save(str(arguments.picture))
            window.close()
        if arguments.record:
            report["recorded"] = dict(library.unsaved_sessions())
        return report


def measure_window(window: MainWindow, arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure from the third frame on."""
    # The first frames are late, because the first one takes long.
    run_events(window, until=lambda: len(window.document.summary) > 2)
    if arguments.record:
        window.actions_["record"].trigger()
    probe, begin = LatencyProbe(window), monotonic()
    memory, sizes = [], Counter[str]()
    while (left := begin + arguments.seconds - monotonic()) > 0:
        run_events(window, seconds=min(1.0, left))
        sizes[f"{window.feed.scale:g}"] += 1
        if monotonic() - begin >= _MEMORY_SECONDS * len(memory):
            memory.append(round(resident(), 1))
            print(f"{monotonic() - begin:4.0f} s  {memory[-1]} MiB  {window.live_bar.latency}", file=sys.stderr)
    late = 1000.0 * np.array([lateness for _, lateness, _ in probe.seen])
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
        "over_150_ms": {"all": int((late > 1000.0 * _LATE).sum()), "robbed": late_by_host(probe.seen)},
        "stolen_seconds": round(probe.seen[-1][2] - probe.seen[0][2], 2),
        "engine_ms": round(float(np.nanmedian(window.document.summary.column("engine"))), 1),
        "dropped": window.feed.dropped,
        "left_out_of_recording": None if recorder is None else recorder.dropped,
        "seconds_at_size": dict(sizes),
        "resident_mib": memory,
    }


def run_events(window: MainWindow, seconds: float = 300.0, until: Any = None) -> None:
    """Run the event loop for some seconds, or until a condition holds."""
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
    parser.add_argument("--picture", type=Path, help="write a screenshot of the window at the end")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    print(json.dumps(measure(arguments.clip, arguments), indent=None if arguments.json else 1))


if __name__ == "__main__":
    main()
