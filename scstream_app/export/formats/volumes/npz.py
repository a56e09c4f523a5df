"""Segment ids of all frames as one compressed NumPy archive."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from scstream_app.export import atomic_files
from scstream_app.export.frame_times import FrameTimes
from scstream_app.export.job import Job
from scstream_app.export.writer import FileWriter
from scstream_app.pipeline.frame_result import FrameResult

_LEVEL = 3


class Npz(FileWriter):
    """Writes ids.npz: ids (frames, H, W) in the smallest type that holds them, frames and times (frames,).

    An array starts with its type and length, which are known only after the last frame. So frames are buffered,
    compressed, in a temporary file, and memory use stays constant.
    """

    format = "npz"
    title = "NumPy archive"
    group = "Tables and volumes"
    position = 7
    about = "Segment ids of all frames in one compressed NumPy archive: ids, frames, times"
    files = ("ids.npz",)

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job)
        self._times = FrameTimes(job.rate)
        self._buffered: list[tuple[np.dtype[np.generic], int]] = []
        self._range = (0, 0)
        self._spool_path = atomic_files.temporary_path(folder / "ids.spool")
        self._spool: BinaryIO | None = None
        if not self.kept:
            with self._opening():
                self._spool = self._spool_path.open("wb")

    def _write(self, result: FrameResult) -> None:
        assert self._spool is not None
        ids = self.job.ids(result)
        low, high = int(ids.min()), int(ids.max())
        kind = _smallest_type(low, high)
        packed = zlib.compress(ids.astype(kind).tobytes(), _LEVEL)
        self._spool.write(packed)
        self._times.add(result)
        self._range = min(low, self._range[0]), max(high, self._range[1])
        self._buffered.append((kind, len(packed)))

    def _finish(self) -> None:
        assert self._spool is not None
        self._spool.close()
        kind = _smallest_type(*self._range)
        shape = (len(self._buffered), *self.job.shape)
        archive = zipfile.ZipFile(self._staged[0], "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL)
        try:
            _add(archive, "ids", kind, shape, (ids.astype(kind).tobytes() for ids in self._unpacked()))
            frames, times = np.array(self._times.frames), np.array(self._times.times, float)
            for name, values in (("frames", frames), ("times", times)):
                _add(archive, name, values.dtype, values.shape, [values.tobytes()])
        finally:
            archive.close()
        self._staged.commit()

    def _unpacked(self) -> Iterator[npt.NDArray[np.generic]]:
        with self._spool_path.open("rb") as spool:
            for kind, length in self._buffered:
                yield np.frombuffer(zlib.decompress(spool.read(length)), kind)

    def _release(self) -> None:
        if self._spool is not None:
            atomic_files.close_quietly(self._spool)
        atomic_files.discard(self._spool_path)
        super()._release()


def _smallest_type(low: int, high: int) -> np.dtype[np.generic]:
    return np.dtype(np.int32) if low < 0 else np.min_scalar_type(high)


def _add(
    archive: zipfile.ZipFile, name: str, kind: np.dtype[np.generic], shape: tuple[int, ...], parts: Iterable[bytes]
) -> None:
    header = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False, "shape": shape}
    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
        np.lib.format.write_array_header_1_0(member, header)
        for part in parts:
            member.write(part)
