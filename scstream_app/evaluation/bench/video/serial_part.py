"""The serial part of a video step, by phase, and Amdahl's estimate of the speed on more cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from scstream import VideoSegmenter
from scstream.phases import record_phases

Picture = npt.NDArray[np.uint8]

#: Numbers of cores for which the speed is estimated.
CORES = (8, 16)
_REPEATS = 5


def serial_part(
    frames: Sequence[Picture],
    segmenter: VideoSegmenter,
    repeats: int = _REPEATS,
    on_status: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Measure the phases of the steps to each of the frames, in milliseconds a step.

    Every step is repeated on copies of the segmenter. The shortest time of each phase counts, because other programs
    only add to it. Processor time on one thread is the basis of the estimate: it hardly depends on other programs.

    Parameters
    ----------
    frames : sequence of arrays (H, W, 3) uint8
        Frames that follow those which the segmenter has seen.
    segmenter : VideoSegmenter
        Left as it is.
    repeats : int
    on_status : callable
        Called with a message before each frame.

    Returns
    -------
    figures : dict
        "phases" maps the name of each phase to its "serial" and "shared" parts, each with "wall" and "cpu". "serial"
        and "shared" are the sums of processor time, and "estimates" maps numbers of cores to how many times as fast as
        on one core a step would be.
    """
    if not frames:
        raise ValueError("the serial part is measured on at least one frame, got none")
    if repeats < 1:
        raise ValueError(f"repeats must be >= 1, got {repeats!r}")
    current, steps = segmenter.copy(), []
    for number, frame in enumerate(frames, 1):
        on_status(f"Serial part, step {number} of {len(frames)}")
        runs = []
        for _ in range(repeats):
            following = current.copy()
            with record_phases() as times:
                following.segment(frame)
            runs.append(times.phases)
        current = following
        # The same step has the same phases.
        steps.append({name: np.min([_row(run[name]) for run in runs], axis=0) for name in runs[0]})
    names = list(dict.fromkeys(name for step in steps for name in step))
    mean = {name: np.sum([step[name] for step in steps if name in step], axis=0) / len(steps) for name in names}
    serial, shared = (float(sum(row[column] for row in mean.values())) for column in (1, 3))
    return {
        "phases": {name: _parts(row) for name, row in mean.items()},
        "serial": round(serial, 3),
        "shared": round(shared, 3),
        "estimates": {cores: round(amdahl(serial, shared, cores), 2) for cores in CORES},
    }


def measure_from_start(frames: Sequence[Picture], on_status: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Return the `serial_part` of a clip's later frames on one thread, after the first two."""
    on_status("Serial part, first frames")
    segmenter = VideoSegmenter(threads=1)
    for frame in frames[:2]:
        segmenter.segment(frame)
    return serial_part(frames[2:], segmenter, on_status=on_status)


def amdahl(serial: float, shared: float, cores: int) -> float:
    """How many times as fast a step becomes if its shared part is divided by the number of cores.

    >>> amdahl(1.0, 9.0, 9)
    5.0
    """
    return (serial + shared) / (serial + shared / cores)


def _row(time: Any) -> list[float]:
    return [1e3 * t for t in (time.serial_wall, time.serial_cpu, time.shared_wall, time.shared_cpu)]


def _parts(row: npt.NDArray[np.float64]) -> dict[str, dict[str, float]]:
    wall, cpu, shared_wall, shared_cpu = (round(float(value), 3) for value in row)
    return {"serial": {"wall": wall, "cpu": cpu}, "shared": {"wall": shared_wall, "cpu": shared_cpu}}
