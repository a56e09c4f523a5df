"""Measure the real window: latency of the interface, playback, start-up, memory, and leaks after closing clips.

    python tools/window_bench.py CLIP [--frames 5000] [--clips 50] [--profile] [--json]

Always measured: the delay of a 20 ms timer on the interface's thread while 300 frames are segmented with overlay and
statistics shown; the frames painted per second when these frames are played at 30 per second; and, in separate
processes, the time from the start to the first picture and to the first segments. ``--frames`` adds the resident memory
on a long clip, ``--clips`` the objects left after that number of clips was opened and closed. For comparison, the delay
of the same timer is measured in an empty application while compiled code keeps as many threads busy. ``--profile``
lists the events that took longest.

Needs a display; without one, run it under Xvfb:

    xvfb-run -s "-screen 0 1600x1000x24" python tools/window_bench.py CLIP
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter, thread_time, time
from typing import Any

import av
import numpy as np
import shiboken6
from long_run import resident
from PySide6.QtCore import QEvent, QEventLoop, QObject, QSettings, Qt, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from scstream_app.session.library import Library
from scstream_app.ui.document.state import State
from scstream_app.ui.window.main_window import MainWindow
from scstream_app.ui.window.startup.app import application
from scstream_app.ui.window.startup.gc_timer import freeze_loaded_objects

_INTERVAL = 0.020
_RATE = 30
_SEGMENTED = 300
_STARTS = 3
#: Clips opened and closed before counting: objects that are created once and kept are not leaks.
_FIRST_CLIPS = 3
_EVERY = 500
_SLOW = 0.010
Row = tuple[str, str, str]


# --- clips


def repeated(clip: Path, frames: int, path: Path) -> Path:
    """Repeat a clip to at least ``frames`` frames at 30 per second, without encoding it again."""
    with av.open(str(clip)) as source, av.open(str(path), "w", format="matroska") as target:
        stream = source.streams.video[0]
        assert stream.average_rate is not None
        assert stream.time_base is not None
        packets = [(bytes(p), p.pts, p.dts, p.is_keyframe) for p in source.demux(stream) if p.size]
        output = target.add_stream_from_template(stream)
        factor, step = float(stream.average_rate) / _RATE, round(1 / (_RATE * stream.time_base))
        first = min(pts for _, pts, _, _ in packets)
        for n in range(-(-frames // len(packets))):
            for data, pts, dts, key in packets:
                packet = av.Packet(data)
                packet.stream, packet.time_base, packet.is_keyframe = output, stream.time_base, key
                shift = n * len(packets) * step
                packet.pts, packet.dts = (round((t - first) * factor) + shift for t in (pts, dts))
                target.mux(packet)
    return path


# --- the window


@contextmanager
def window_on(folder: Path) -> Iterator[MainWindow]:
    """Open the real window with settings and sessions in a folder."""
    application()
    settings = QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat)
    window = MainWindow(settings, Library(folder / "sessions"))
    freeze_loaded_objects(window.document)
    window.resize(1500, 940)
    window.show()
    yield window
    window.close()
    window.deleteLater()


def wait(until: Callable[[], bool], seconds: float = 3600.0) -> None:
    """Run the event loop until a condition holds."""
    loop, timer, limit = QEventLoop(), QTimer(), QTimer()
    timer.timeout.connect(lambda: loop.quit() if until() else None)
    limit.setSingleShot(True)
    limit.timeout.connect(loop.quit)
    timer.start(50)
    limit.start(int(1000 * seconds))
    loop.exec()
    if not until():
        sys.exit("Timeout while waiting for the window.")


class TimerProbe(QObject):
    """A timer that records its delays in seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.delays: list[float] = []
        self._due = 0.0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_timeout)

    def start(self) -> None:
        """Start the timer."""
        self._due = perf_counter() + _INTERVAL
        self._timer.start(round(1000 * _INTERVAL))

    def stop(self) -> None:
        """Stop the timer."""
        self._timer.stop()

    def _on_timeout(self) -> None:
        self.delays.append(max(perf_counter() - self._due, 0.0))
        self.start()

    def summary(self) -> dict[str, float]:
        """Percentiles of the delays in milliseconds."""
        p50, p99, most = (1000.0 * float(np.quantile(self.delays, q)) for q in (0.5, 0.99, 1.0))
        return {"p50": round(p50, 1), "p99": round(p99, 1), "max": round(most, 1), "beats": len(self.delays)}


class PaintProbe(QObject):
    """Records when the viewer paints a new picture."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._last: object = None
        self.times: list[float] = []
        self.frames: list[int] = []
        self.segments: list[int] = []
        window.viewer.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """See Qt."""
        shown = self._window.document.display.shown
        if event.type() == QEvent.Type.Paint and shown is not None and shown is not self._last:
            self._last = shown
            self.times.append(time())
            self.frames.append(shown.result.index)
            self.segments.append(len(np.unique(shown.result.ids)))
        return False


# --- measurements


def interface(clip: Path, folder: Path, profiler: ProfilingApplication | None) -> dict[str, Any]:
    """Delay of the interface while segmenting, then the frames painted during playback."""
    long = repeated(clip, _SEGMENTED, folder / "long.mkv")
    with window_on(folder) as window:
        document, timer_probe = window.document, TimerProbe()
        window.open_address(str(long))
        wait(lambda: document.state is State.SEGMENTING and document.display.shown is not None)
        begin, first = perf_counter(), len(document.summary)
        timer_probe.start()
        if profiler is not None:
            profiler.watching = True
        wait(lambda: document.state is State.DONE)
        if profiler is not None:
            profiler.watching = False
        timer_probe.stop()
        rate = (len(document.summary) - first) / (perf_counter() - begin)
        segmenting = {**timer_probe.summary(), "frames_per_second": round(rate, 1), "frames": len(document.summary)}
        window.player.to_start()
        wait(lambda: document.display.index == 0)
        paints, timer_probe = PaintProbe(window), TimerProbe()
        timer_probe.start()
        window.player.play()
        wait(lambda: not window.player.playing)
        timer_probe.stop()
        gaps = np.diff(paints.times)
        playing = {
            "frames_per_second": round(len(gaps) / float(gaps.sum()), 2),
            "painted": len(paints.frames),
            "of": len(document.summary),
            "gap_p99_ms": round(1000.0 * float(np.quantile(gaps, 0.99)), 1),
            "late_p99_ms": timer_probe.summary()["p99"],
        }
    return {"segmenting": segmenting, "playing": playing}


def empty_application(seconds: float = 10.0) -> dict[str, float]:
    """Delay in an empty application while compiled code keeps every core busy."""
    # Import numba here: its import must not count as start-up of the window.
    from numba import njit

    @njit(nogil=True)  # type: ignore[untyped-decorator]
    def spin(n: int) -> float:
        total = 0.0
        for i in range(n):
            total += np.sqrt(i + total)
        return total

    QApplication([])
    spin(10)
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            spin(2_000_000)

    threads = [threading.Thread(target=busy) for _ in range(os.cpu_count() or 1)]
    for thread in threads:
        thread.start()
    timer_probe, begin = TimerProbe(), perf_counter()
    timer_probe.start()
    wait(lambda: perf_counter() - begin > seconds)
    stop.set()
    for thread in threads:
        thread.join()
    return timer_probe.summary()


def start(clip: Path, folder: Path, begun: float) -> dict[str, float]:
    """Seconds from ``begun`` to the first picture, and from there to the first segments and to the first result."""
    with window_on(folder) as window:
        paints = PaintProbe(window)
        window.open_address(str(clip))
        wait(lambda: any(n > 1 for n in paints.segments))
        wait(lambda: len(window.document.summary) > 0)
        settled = time()
    segments = next(t for t, n in zip(paints.times, paints.segments, strict=True) if n > 1)
    return {
        "picture": round(paints.times[0] - begun, 2),
        "segments": round(segments - paints.times[0], 2),
        "settled": round(settled - paints.times[0], 2),
    }


def memory(clip: Path, folder: Path, frames: int) -> list[dict[str, float]]:
    """Resident memory every 500 frames while the window segments a long clip."""
    long = repeated(clip, frames, folder / "long.mkv")
    rows: list[dict[str, float]] = []
    with window_on(folder) as window:
        window.open_address(str(long))
        for mark in range(_EVERY, frames + 1, _EVERY):
            wait(lambda mark=mark: len(window.document.summary) >= mark)
            rows.append({"frames": len(window.document.summary), "resident_mib": round(resident(), 1)})
            print(rows[-1], file=sys.stderr, flush=True)
    return rows


def leftovers(clip: Path, folder: Path, clips: int) -> dict[str, Any]:
    """Threads, files, widgets, memory and objects before and after opening and closing clips."""
    with window_on(folder) as window:
        document = window.document

        def open_and_close() -> None:
            window.open_address(str(clip))
            wait(lambda: len(document.summary) >= 3 and document.display.shown is not None)
            document.close()
            done: list[bool] = []
            document.run.when_idle(lambda: done.append(True))
            wait(lambda: bool(done))

        for _ in range(_FIRST_CLIPS):
            open_and_close()
        before = census()
        for _ in range(clips):
            open_and_close()
        after = census()
    grown = {name: [before["objects"][name], n] for name, n in after["objects"].items() if n > before["objects"][name]}
    figures = {name: [before[name], after[name]] for name in ("threads", "files", "widgets", "resident_mib")}
    return {"clips": clips, **figures, "more_objects": grown}


def census() -> dict[str, Any]:
    """Count threads, files, widgets and objects, and measure memory after returning free memory to the system."""
    for _ in range(3):
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        QApplication.processEvents()
        gc.collect()
    if sys.platform.startswith("linux"):
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
    objects = Counter(type(w).__name__ for w in shiboken6.getAllValidWrappers() if isinstance(w, QObject))
    kinds = (type(each) for each in gc.get_objects())
    objects.update(kind.__qualname__ for kind in kinds if str(kind.__module__).startswith("scstream"))
    descriptors = Path("/proc/self/fd")
    return {
        "objects": objects,
        "threads": threading.active_count(),
        "files": len(list(descriptors.iterdir())) if descriptors.exists() else 0,
        "widgets": len(QApplication.allWidgets()),
        "resident_mib": round(resident(), 1),
    }


# --- event times


class ProfilingApplication(QApplication):
    """Measures wall time and processor time of every event on the interface's thread."""

    def __init__(self) -> None:
        super().__init__(sys.argv[:1])
        self.watching = False
        self._inner = [0.0, 0.0]
        self.seen: dict[str, list[tuple[float, float]]] = {}

    def notify(self, receiver: QObject, event: QEvent) -> bool:
        """See Qt."""
        if not self.watching:
            return super().notify(receiver, event)
        name = f"{_receiver_name(receiver)} {event.type().name}"
        outer, self._inner = self._inner, [0.0, 0.0]
        wall, work = perf_counter(), thread_time()
        try:
            return super().notify(receiver, event)
        finally:
            wall, work = perf_counter() - wall, thread_time() - work
            # Subtract the nested events, which are counted separately.
            self.seen.setdefault(name, []).append((wall - self._inner[0], work - self._inner[1]))
            self._inner = [outer[0] + wall, outer[1] + work]

    def summary(self, most: int = 15) -> list[dict[str, Any]]:
        """The events that took most of the time."""
        rows = []
        for name, times in self.seen.items():
            walls, works = zip(*times, strict=True)
            rows.append(
                {
                    "event": name,
                    "count": len(times),
                    "over_10_ms": sum(wall > _SLOW for wall in walls),
                    "wall_ms": round(1000.0 * sum(walls)),
                    "cpu_ms": round(1000.0 * sum(works)),
                    "median_ms": round(1000.0 * median(walls), 2),
                    "max_ms": round(1000.0 * max(walls), 1),
                    "max_cpu_ms": round(1000.0 * max(works), 1),
                }
            )
        return sorted(rows, key=lambda row: -row["wall_ms"])[:most]


def _receiver_name(receiver: QObject) -> str:
    # Name the viewport of a table or a plot after its parent.
    parent = receiver.parent() if type(receiver) is QWidget else None
    return type(receiver).__name__ if parent is None else f"{type(parent).__name__}'s {type(receiver).__name__}"


# --- report


def in_process(part: str, clip: Path, *rest: str) -> Any:
    """Run one measurement in a separate process, so that measurements do not affect each other."""
    command = [sys.executable, __file__, str(clip), "--part", part, "--begun", str(time()), *rest]
    # Standard error is inherited; the last line of standard output is the result.
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def run_part(arguments: argparse.Namespace) -> Any:
    """Run one measurement in this process."""
    clip = arguments.clip
    if arguments.part == "peer":
        return empty_application()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if arguments.part == "start":
            return start(clip, folder, arguments.begun)
        if arguments.part == "memory":
            return memory(clip, folder, arguments.frames)
        if arguments.part == "leftovers":
            return leftovers(clip, folder, arguments.clips)
        profiler = ProfilingApplication() if arguments.profile else None
        figures = interface(clip, folder, profiler)
        return {**figures, "events": profiler.summary()} if profiler is not None else figures


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Run all measurements that the command line asks for."""
    clip = arguments.clip
    report = in_process("interface", clip, *(["--profile"] if arguments.profile else []))
    report["peer"] = in_process("peer", clip)
    starts = [in_process("start", clip) for _ in range(_STARTS)]
    report["start"] = {name: median(row[name] for row in starts) for name in starts[0]}
    if arguments.frames:
        report["memory"] = in_process("memory", clip, "--frames", str(arguments.frames))
    if arguments.clips:
        report["leftovers"] = in_process("leftovers", clip, "--clips", str(arguments.clips))
    return report


def table(report: dict[str, Any]) -> list[Row]:
    """Rows of the report: measurement, result, target."""
    segmenting, playing, other, begin = (report[name] for name in ("segmenting", "playing", "peer", "start"))
    late = "p50 {p50} · p99 {p99} · max {max} ms"
    rows = [
        ("Delay of the interface, segmenting", late.format(**segmenting), "p99 < 50, max < 100 ms"),
        ("  empty application, cores busy", late.format(**other), ""),
        ("Frames segmented", f"{segmenting['frames_per_second']} frames/s", ""),
        ("Frames painted, playing", "{frames_per_second} frames/s, {painted} of {of}".format(**playing), "30 frames/s"),
        ("Start to first picture", f"{begin['picture']:.2f} s", "< 3 s"),
        ("  from there to segments", f"{begin['segments']:.2f} s", "< 2 s"),
        ("  from there to the first result", f"{begin['settled']:.2f} s", ""),
    ]
    if "memory" in report:
        first, *later = (row["resident_mib"] for row in report["memory"])
        most = 100.0 * (max([first, *later]) / first - 1.0)
        rows.append(("Memory", f"{first:.0f} MiB at {_EVERY} frames, then at most {most:+.1f} %", "+ 5 %"))
    if "leftovers" in report:
        left = report["leftovers"]
        for name in ("threads", "files", "widgets", "resident_mib"):
            rows.append((f"{name} before, after {left['clips']} clips", "{} → {}".format(*left[name]), "the same"))
        rows.append(("Objects left", json.dumps(left["more_objects"]), "{}"))
    return rows


def main() -> None:
    """Parse the command line, measure and print the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clip", type=Path)
    parser.add_argument("--frames", type=int, default=0, help="also measure memory over this number of frames")
    parser.add_argument("--clips", type=int, default=0, help="also open and close this number of clips")
    parser.add_argument("--profile", action="store_true", help="list the events that took longest")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    parser.add_argument("--begun", type=float, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.part:
        print(json.dumps(run_part(arguments)))
        return
    report = measure(arguments)
    if arguments.json:
        print(json.dumps(report))
        return
    for what, found, target in table(report):
        print(f"{what:38} {found:44} {f'(target: {target})' if target else ''}".rstrip())
    for row in report.get("events", []):
        print(row)


if __name__ == "__main__":
    main()
