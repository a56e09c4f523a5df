"""A camera that stalls, is unplugged and comes back, for as long as is wanted: memory stays flat, nothing hangs."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from statistics import median
from time import monotonic, sleep

import numpy as np
import numpy.typing as npt

from scstream_app.errors import SourceError
from scstream_app.pipeline.run import Notice, segment_frames
from scstream_app.settings import Settings
from scstream_app.sources import Camera
from torture.outcome import Outcome
from torture.sandbox import Sandbox

_RATE = 30.0
_SHAPE = (72, 96)
#: Seconds from one fault of the camera to the next, and how long each lasts.
_FAULT_EVERY, _SHORT, _LONG = 30.0, 2.5, 6.0
#: Mebibytes that memory may grow from the end of the first tenth to the end.
_GROWTH = 30.0
#: Seconds without a frame after which the camera should have come back.
_PATIENCE = 20.0


class Soak:
    """One case: ``seconds`` of a bad camera."""

    name = "soak"

    def __init__(self, seconds: float, seed: int) -> None:
        self.seconds, self._seed = seconds, seed

    def prepare(self) -> None:
        """There is nothing to prepare."""

    def run(self, case: int, sandbox: Sandbox) -> Outcome:
        """Segment what the camera delivers until the time is over."""
        outcome = Outcome()
        rig = _Rig(np.random.default_rng([self._seed, 8, case]), min(_FAULT_EVERY, self.seconds / 3))
        notices: list[str] = []
        latencies: list[float] = []
        memory: list[float] = []
        begin = last = monotonic()
        segmenter = Settings(max_init_sweeps=10, threads=1).segmenter()
        cancel = threading.Event()
        longest, previous = 0.0, -1
        with Camera(0, opener=rig.open, pause=0.1) as camera:

            def on_notice(notice: Notice) -> None:
                notices.append(notice.kind)

            for result in segment_frames(camera, segmenter, cancel=cancel, scene_cuts=False, on_notice=on_notice):
                now = monotonic()
                longest, last = max(longest, now - last), now
                latencies.append(1000.0 * (now - result.captured))
                if result.index != previous + 1:
                    outcome.fault("lost_frames", f"frame {result.index} follows {previous}")
                previous = result.index
                if len(latencies) % 300 == 1:
                    memory.append(_resident())
                if now - begin > self.seconds:
                    cancel.set()
            dropped = camera.dropped
        rig.stop()
        memory.append(_resident())
        settled = memory[len(memory) // 10]
        grown = memory[-1] - settled
        if grown > _GROWTH:
            outcome.fault("crashes", f"memory grew from {settled:.0f} to {memory[-1]:.0f} MiB")
        if longest > _PATIENCE:
            outcome.fault("hangs", f"no frame for {longest:.1f} s")
        if self.seconds >= _FAULT_EVERY and not {"stalled", "back"} <= set(notices):
            outcome.fault("lost_frames", f"{rig.faults} faults of the camera gave the notices {sorted(set(notices))}")
        outcome.opened = int(outcome.sound)
        outcome.measures = {
            "soak_seconds": round(monotonic() - begin, 1),
            "frames": len(latencies),
            "frames_dropped": dropped,
            "camera_faults": rig.faults,
            "latency_ms_median": round(median(latencies), 1),
            "latency_ms_p99": round(float(np.percentile(latencies, 99)), 1),
            "longest_gap_seconds": round(longest, 2),
            "memory_mib_first": round(settled, 1),
            "memory_mib_last": round(memory[-1], 1),
        }
        return outcome


def _resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


class _Rig:
    """Opens devices that deliver pictures in real time until their next fault."""

    def __init__(self, rng: np.random.Generator, every: float) -> None:
        self._rng, self._every = rng, every
        self._absent_until = 0.0
        self.faults = 0
        self.stopped = False

    def open(self) -> _Device:
        """Open the camera; fails while it is unplugged."""
        if monotonic() < self._absent_until:
            raise SourceError("Cannot open camera 0: no such camera is connected.")
        return _Device(self, monotonic() + float(self._rng.uniform(0.5, 1.5)) * self._every)

    def fail(self) -> str:
        """Choose how the camera fails."""
        self.faults += 1
        kind = ("unplug", "stall", "freeze")[self.faults % 3]
        if kind == "unplug":
            self._absent_until = monotonic() + float(self._rng.uniform(_SHORT, _LONG))
        return kind

    def stop(self) -> None:
        """End the devices' threads."""
        self.stopped = True


class _Device:
    """One opening of the camera; see `scstream_app.sources.devices.Device`."""

    name, rate = "Bad camera", _RATE

    def __init__(self, rig: _Rig, fault: float) -> None:
        self._rig, self._fault = rig, fault
        self._count = 0
        self._begin = monotonic()
        self._rows, self._columns = np.mgrid[: _SHAPE[0], : _SHAPE[1]]
        self._last: npt.NDArray[np.uint8] | None = None

    def grab(self) -> npt.NDArray[np.uint8] | None:
        """Wait for the next picture; None when the camera is unplugged."""
        if self._rig.stopped:
            return None
        if monotonic() > self._fault:
            kind = self._rig.fail()
            self._fault = monotonic() + 1e9
            if kind == "unplug":
                return None
            self._stay(kind)
            return None
        self._count += 1
        sleep(max(0.0, self._begin + self._count / _RATE - monotonic()))
        self._last = self._picture()
        return self._last

    def _stay(self, kind: str) -> None:
        """Deliver nothing for a while, as a driver that hangs."""
        end = monotonic() + (_SHORT if kind == "stall" else _LONG)
        while monotonic() < end and not self._rig.stopped:
            sleep(0.05)

    def release(self) -> None:
        """See `Device`."""

    def _picture(self) -> npt.NDArray[np.uint8]:
        time = self._count / _RATE
        picture = np.empty((*_SHAPE, 3), np.uint8)
        picture[:] = (60, 90, 140)
        row, column = 36 + 25 * np.sin(time), 48 + 35 * np.cos(0.7 * time)
        picture[(self._rows - row) ** 2 + (self._columns - column) ** 2 < 150] = (220, 180, 40)
        noise = np.random.default_rng(self._count).integers(0, 6, picture.shape, np.uint8)
        return picture + noise
