"""Measure how the real window feels: how late it answers, playback, start, memory, and what closing leaves behind.

    python tools/window_bench.py CLIP [--frames 5000] [--clips 50] [--profile] [--json]

Always measured: a 20 ms timer on the interface's thread while 300 frames are segmented, with overlay and statistics
shown; frames painted a second when the same frames are played at 30 a second; and, in processes of their own, the
time from the start to the first picture and on to the first segments. ``--frames`` adds resident memory on a long clip,
``--clips`` what is left after so many clips were opened and closed. As a peer, the lateness of the same timer in a bare
application is told, while compiled code alone keeps as many threads busy. ``--profile`` says which events took long.

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
from scstream_app.ui.window.app import application
from scstream_app.ui.window.gc_timer import spare_searches
from scstream_app.ui.window.main_window import MainWindow

_BEAT = 0.020
_RATE = 30
_SEGMENTED = 300
_STARTS = 3
#: Opened and closed before counting: what is made once and kept is no leak.
_FIRST_CLIPS = 3
_EVERY = 500
_SLOW = 0.010
Row = tuple[str, str, str]


# --- clips


def repeated(clip: Path, frames: int, path: Path) -> Path:
    """The clip over and over until there are at least so many frames, at 30 a second; nothing is encoded again."""
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
    """The real window, with settings and sessions of its own."""
    application()
    settings = QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat)
    window = MainWindow(settings, Library(folder / "sessions"))
    spare_searches(window.document)
    window.resize(1500, 940)
    window.show()
    yield window
    window.close()
    window.deleteLater()


def wait(until: Callable[[], bool], seconds: float = 3600.0) -> None:
    """Let the window work until something is so."""
    loop, timer, limit = QEventLoop(), QTimer(), QTimer()
    timer.timeout.connect(lambda: loop.quit() if until() else None)
    limit.setSingleShot(True)
    limit.timeout.connect(loop.quit)
    timer.start(50)
    limit.start(int(1000 * seconds))
    loop.exec()
    if not until():
        sys.exit("The window did not get there in time.")


class Pulse(QObject):
    """A timer that notes by how many seconds it comes late."""

    def __init__(self) -> None:
        super().__init__()
        self.late: list[float] = []
        self._due = 0.0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)

    def start(self) -> None:
        """Begin to beat."""
        self._due = perf_counter() + _BEAT
        self._timer.start(round(1000 * _BEAT))

    def stop(self) -> None:
        """Beat no longer."""
        self._timer.stop()

    def _beat(self) -> None:
        self.late.append(max(perf_counter() - self._due, 0.0))
        self.start()

    def told(self) -> dict[str, float]:
        """Milliseconds."""
        p50, p99, most = (1000.0 * float(np.quantile(self.late, q)) for q in (0.5, 0.99, 1.0))
        return {"p50": round(p50, 1), "p99": round(p99, 1), "max": round(most, 1), "beats": len(self.late)}


class Paints(QObject):
    """Notes when the viewer paints a picture that it has not painted before."""

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


# --- what is measured


def interface(clip: Path, folder: Path, slots: Slots | None) -> dict[str, Any]:
    """Lateness while segmenting, then frames painted while playing what was segmented."""
    long = repeated(clip, _SEGMENTED, folder / "long.mkv")
    with window_on(folder) as window:
        document, pulse = window.document, Pulse()
        window.open_address(str(long))
        wait(lambda: document.state is State.SEGMENTING and document.display.shown is not None)
        begin, first = perf_counter(), len(document.summary)
        pulse.start()
        if slots is not None:
            slots.watching = True
        wait(lambda: document.state is State.DONE)
        if slots is not None:
            slots.watching = False
        pulse.stop()
        rate = (len(document.summary) - first) / (perf_counter() - begin)
        segmenting = {**pulse.told(), "frames_per_second": round(rate, 1), "frames": len(document.summary)}
        window.player.to_start()
        wait(lambda: document.display.index == 0)
        paints, pulse = Paints(window), Pulse()
        pulse.start()
        window.player.play()
        wait(lambda: not window.player.playing)
        pulse.stop()
        gaps = np.diff(paints.times)
        playing = {
            "frames_per_second": round(len(gaps) / float(gaps.sum()), 2),
            "painted": len(paints.frames),
            "of": len(document.summary),
            "gap_p99_ms": round(1000.0 * float(np.quantile(gaps, 0.99)), 1),
            "late_p99_ms": pulse.told()["p99"],
        }
    return {"segmenting": segmenting, "playing": playing}


def peer(seconds: float = 10.0) -> dict[str, float]:
    """Lateness in a bare application while compiled code keeps every core busy."""
    # Not above: the start of the window is measured, which does without it.
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
    pulse, begin = Pulse(), perf_counter()
    pulse.start()
    wait(lambda: perf_counter() - begin > seconds)
    stop.set()
    for thread in threads:
        thread.join()
    return pulse.told()


def start(clip: Path, folder: Path, begun: float) -> dict[str, float]:
    """Seconds since ``begun`` to the first picture, and from there to segments and to a settled frame."""
    with window_on(folder) as window:
        paints = Paints(window)
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
    """Resident memory every 500 frames, with the window open on a clip that long."""
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
    """What there is more of after opening and closing clips than before."""
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
    """How much of everything there is; memory without what the allocator keeps for later."""
    for _ in range(3):
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        QApplication.processEvents()
        gc.collect()
    if sys.platform.startswith("linux"):
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
    objects = Counter(type(w).__name__ for w in shiboken6.getAllValidWrappers() if isinstance(w, QObject))
    kinds = (type(thing) for thing in gc.get_objects())
    objects.update(kind.__qualname__ for kind in kinds if str(kind.__module__).startswith("scstream"))
    descriptors = Path("/proc/self/fd")
    return {
        "objects": objects,
        "threads": threading.active_count(),
        "files": len(list(descriptors.iterdir())) if descriptors.exists() else 0,
        "widgets": len(QApplication.allWidgets()),
        "resident_mib": round(resident(), 1),
    }


# --- which events take long


class Slots(QApplication):
    """Times every event of the interface's thread: what it takes in all, and of that on the processor."""

    def __init__(self) -> None:
        super().__init__(sys.argv[:1])
        self.watching = False
        self._inner = [0.0, 0.0]
        self.seen: dict[str, list[tuple[float, float]]] = {}

    def notify(self, receiver: QObject, event: QEvent) -> bool:
        """See Qt."""
        if not self.watching:
            return super().notify(receiver, event)
        name = f"{_called(receiver)} {event.type().name}"
        outer, self._inner = self._inner, [0.0, 0.0]
        wall, work = perf_counter(), thread_time()
        try:
            return super().notify(receiver, event)
        finally:
            wall, work = perf_counter() - wall, thread_time() - work
            # Events within this one have been told already.
            self.seen.setdefault(name, []).append((wall - self._inner[0], work - self._inner[1]))
            self._inner = [outer[0] + wall, outer[1] + work]

    def told(self, most: int = 15) -> list[dict[str, Any]]:
        """Those that took most of the time."""
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


def _called(receiver: QObject) -> str:
    # The viewport of a table or a plot says nothing by itself.
    parent = receiver.parent() if type(receiver) is QWidget else None
    return type(receiver).__name__ if parent is None else f"{type(parent).__name__}'s {type(receiver).__name__}"


# --- the report


def in_process(part: str, clip: Path, *rest: str) -> Any:
    """One measurement in a process of its own, so that none sees what another one left."""
    command = [sys.executable, __file__, str(clip), "--part", part, "--begun", str(time()), *rest]
    # Errors are passed on as they come; the answer is the last line.
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def part(arguments: argparse.Namespace) -> Any:
    """What a process of its own does."""
    clip = arguments.clip
    if arguments.part == "peer":
        return peer()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if arguments.part == "start":
            return start(clip, folder, arguments.begun)
        if arguments.part == "memory":
            return memory(clip, folder, arguments.frames)
        if arguments.part == "leftovers":
            return leftovers(clip, folder, arguments.clips)
        slots = Slots() if arguments.profile else None
        figures = interface(clip, folder, slots)
        return {**figures, "events": slots.told()} if slots is not None else figures


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Everything that was asked for."""
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
    """What was measured, and what is wanted."""
    segmenting, playing, other, begin = (report[name] for name in ("segmenting", "playing", "peer", "start"))
    late = "p50 {p50} · p99 {p99} · max {max} ms"
    rows = [
        ("Interface late while segmenting", late.format(**segmenting), "p99 < 50, max < 100 ms"),
        ("  bare application, cores busy", late.format(**other), ""),
        ("Segmented meanwhile", f"{segmenting['frames_per_second']} frames/s", ""),
        ("Painted while playing", "{frames_per_second} frames/s, {painted} of {of}".format(**playing), "30 frames/s"),
        ("Start to first picture", f"{begin['picture']:.2f} s", "< 3 s"),
        ("  from there to segments", f"{begin['segments']:.2f} s", "< 2 s"),
        ("  from there to a settled frame", f"{begin['settled']:.2f} s", ""),
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
    """Parse the command line, measure, tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clip", type=Path)
    parser.add_argument("--frames", type=int, default=0, help="also watch memory over so many frames")
    parser.add_argument("--clips", type=int, default=0, help="also open and close so many clips")
    parser.add_argument("--profile", action="store_true", help="say which events took long")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    parser.add_argument("--begun", type=float, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.part:
        print(json.dumps(part(arguments)))
        return
    report = measure(arguments)
    if arguments.json:
        print(json.dumps(report))
        return
    for what, found, wanted in table(report):
        print(f"{what:38} {found:44} {f'(wanted: {wanted})' if wanted else ''}".rstrip())
    for row in report.get("events", []):
        print(row)


if __name__ == "__main__":
    main()
