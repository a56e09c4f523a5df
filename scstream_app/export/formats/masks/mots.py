"""MOTS text files: one line per frame and track, with run-length encoded masks."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from scstream_app.export import atomic_files
from scstream_app.export.encodings.run_lengths import Shape, track_shapes
from scstream_app.export.job import Job
from scstream_app.export.writer import FileWriter
from scstream_app.pipeline.frame_result import FrameResult

#: The classes of MOTS; the third one, 10, marks regions that the evaluation ignores.
_CAR, _PEDESTRIAN = 1, 2
#: Track ids are 1000 * class + instance.
_INSTANCES = 1000


class Mots(FileWriter):
    """Writes mots.txt, which the evaluation expects as SEQUENCE.txt: frame, track, class, height, width, run lengths.

    Frames and instances are numbered from 1. Tracks whose name begins with the word "car" have the class car. All
    others have the class pedestrian, the only one that the MOTS Challenge evaluates.
    """

    format = "mots"
    title = "MOTS"
    group = "Masks and ids"
    position = 7
    about = f"Tracks as COCO RLE in a text file of the MOTS Challenge; at most {_INSTANCES - 1}"
    prefers_objects = True
    files = ("mots.txt",)

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job)
        self._file: TextIO | None = None
        if not self.kept:
            with self._opening():
                self._file = self._staged[0].open("w", encoding="ascii")

    def _write(self, result: FrameResult) -> None:
        assert self._file is not None
        for shape in track_shapes(self.job.tracks(result)):
            self._file.write(self._line(result, shape))

    def _line(self, result: FrameResult, shape: Shape) -> str:
        instance = shape.track + 1
        if instance >= _INSTANCES:
            raise ValueError(
                f"id {shape.track} on frame {result.index} does not fit: MOTS numbers {_INSTANCES - 1} tracks. "
                "Mark objects, or use coco"
            )
        kind = self._class(shape.track)
        height, width = self.job.shape
        rle = shape.counts.decode("ascii")
        return f"{result.index + 1} {_INSTANCES * kind + instance} {kind} {height} {width} {rle}\n"

    def _class(self, track: int) -> int:
        words = self.job.track_name(track).casefold().split()
        return _CAR if words[:1] == ["car"] else _PEDESTRIAN

    def _finish(self) -> None:
        assert self._file is not None
        self._file.close()
        self._staged.commit()

    def _release(self) -> None:
        if self._file is not None:
            atomic_files.close_quietly(self._file)
        super()._release()
