"""Measure memory and disk use while a long synthetic clip is segmented into a session.

    python tools/long_run.py [--frames 100000] [--size 64x48] [--every 50] [--keep DIR] [--json]

Prints resident memory, size on disk, milliseconds per frame and the number of ids after 1000, 2000, 5000, ...
frames.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
import numpy.typing as npt

from scstream_app.pipeline.run import segment_frames
from scstream_app.session import Session, write_run
from scstream_app.settings import Settings
from scstream_app.sources import Frame, Source


class DriftingDiscs(Source):
    """Coloured discs that appear, move and disappear on a background of changing colour; frame i depends on i alone."""

    def __init__(self, length: int, width: int, height: int) -> None:
        self.name = self.address = "drift"
        self.width, self.height, self.rate, self.length = width, height, 25.0, length
        self._rows, self._columns = np.mgrid[:height, :width]
        self._next = 0

    def read(self) -> Frame | None:
        """See `Source`."""
        if self.length is not None and self._next >= self.length:
            return None
        index, self._next = self._next, self._next + 1
        return Frame(index, index / self.rate, self._picture(index))

    def seek(self, index: int) -> None:
        """See `Source`."""
        self._next = index

    def close(self) -> None:
        """See `Source`."""

    def _picture(self, index: int) -> npt.NDArray[np.uint8]:
        picture = np.empty((self.height, self.width, 3))
        picture[:] = 90.0 + 40.0 * np.sin(index / 300.0 + np.array([0.0, 2.0, 4.0]))
        for disc in range(4):
            if (index // 90 + disc) % 3 == 0:
                continue
            row = self.height * (0.5 + 0.35 * np.sin(index / (40.0 + 7.0 * disc) + disc))
            column = self.width * (0.5 + 0.35 * np.cos(index / (55.0 + 9.0 * disc) + 2.0 * disc))
            inside = (self._rows - row) ** 2 + (self._columns - column) ** 2 < (self.height / 7.0) ** 2
            picture[inside] = 128.0 + 120.0 * np.cos(disc * 1.7 + np.array([0.0, 2.1, 4.2]))
        noise = np.random.default_rng([3, index]).integers(-4, 5, picture.shape)
        return np.clip(picture + noise, 0, 255).astype(np.uint8)


def resident() -> float:
    """Resident memory of this process in MiB; its peak if the system does not report the current value."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def on_disk(folder: Path) -> int:
    """Total size of all files in bytes."""
    # Path.rglob would keep the names in memory and so change the measured memory.
    with os.scandir(folder) as entries:
        return sum(on_disk(Path(e.path)) if e.is_dir() else e.stat().st_size for e in entries)


def measuring_points(frames: int) -> list[int]:
    """Numbers of frames at which to measure: 1000, 2000, 5000, 10000, ... and the last."""
    return sorted({n for k in range(3, 10) for n in (10**k, 2 * 10**k, 5 * 10**k) if n < frames} | {frames})


def measure(folder: Path, source: DriftingDiscs, every: int) -> list[dict[str, float]]:
    """Segment the whole source; returns one row of figures per measuring point."""
    assert source.length is not None
    settings = Settings(max_init_sweeps=50, threads=1)
    segmenter = settings.segmenter()
    rows: list[dict[str, float]] = []
    begin, done_before = perf_counter(), 0
    with Session.create(folder, source, settings, snapshot_every=every) as session:
        for result in write_run(session, segment_frames(source, segmenter), segmenter):
            done = result.index + 1
            if done not in measuring_points(source.length):
                continue
            now = perf_counter()
            rows.append(
                {
                    "frames": done,
                    "resident_mib": round(resident(), 1),
                    "disk_bytes": on_disk(folder),
                    "ms_per_frame": round(1000.0 * (now - begin) / (done - done_before), 2),
                    "ids_ever": segmenter.model_.genealogy_.n_ids,
                }
            )
            print(rows[-1], file=sys.stderr, flush=True)
            begin, done_before = perf_counter(), done
    return rows


def main() -> None:
    """Parse the command line and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=100_000)
    parser.add_argument("--size", default="64x48", help="WIDTHxHEIGHT")
    parser.add_argument("--every", type=int, default=50, help="frames between two snapshots")
    parser.add_argument("--keep", type=Path, help="keep the session in this folder")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    width, height = map(int, arguments.size.split("x"))
    with tempfile.TemporaryDirectory() as temporary:
        folder = (arguments.keep or Path(temporary)) / "long.scstream"
        rows = measure(folder, DriftingDiscs(arguments.frames, width, height), arguments.every)
        begin = perf_counter()
        count = len(Session.open(folder))
        report = {"rows": rows, "frames": count, "open_seconds": round(perf_counter() - begin, 3)}
    print(json.dumps(report, indent=None if arguments.json else 1))


if __name__ == "__main__":
    main()
