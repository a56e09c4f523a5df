"""Objects as masks: white-on-black PNG images."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

from scstream_app.export.encodings import png
from scstream_app.export.job import Job
from scstream_app.export.options import safe_name
from scstream_app.export.writer import ImageWriter
from scstream_app.pipeline.frame_result import FrameResult


class Masks(ImageWriter):
    """Writes object/NNNNN.png or, if there are several objects, object/NAME/NNNNN.png."""

    format = "object"
    title = "Object masks"
    group = "Masks and ids"
    position = 2
    about = "A white-on-black PNG mask per object and frame"
    needs_object = True
    view = "mask"

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job)
        self._folders = _folders(job) if len(job.objects) > 1 else [""]
        self._make_folders(self._folders)

    def _existing(self) -> Iterable[Path]:
        return chain(super()._existing(), self.path.glob(f"*/*{self.suffix}"))

    def _write(self, result: FrameResult) -> None:
        numbers = self.job.numbers(result)
        for number, (folder, object_) in enumerate(zip(self._folders, self.job.objects, strict=True), 1):
            self._put(result, partial(_mask, numbers, number), folder=folder, name=object_.name)


def _mask(numbers: npt.NDArray[np.uint8], number: int) -> bytes:
    return png.greys(np.where(numbers == number, np.uint8(255), np.uint8(0)))


def _folders(job: Job) -> list[str]:
    """A folder name for each object; equal names get numbers."""
    taken: set[str] = set()
    folders = []
    for object_ in job.objects:
        name = base = safe_name(object_.name)
        count = 1
        # Some file systems ignore case.
        while name.casefold() in taken:
            count += 1
            name = f"{base} {count}"
        taken.add(name.casefold())
        folders.append(name)
    return folders
