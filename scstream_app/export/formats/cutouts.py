"""Objects as PNG images: cut out with transparency, or as masks."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import chain
from pathlib import Path

from scstream_app.export import atomic_files, png
from scstream_app.export.job import Job
from scstream_app.export.objects import ObjectTracker
from scstream_app.export.options import safe_name
from scstream_app.export.writer import ImageWriter
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render import views
from scstream_app.render.image_types import IdMap


class _ObjectImageWriter(ImageWriter):
    needs_object = True

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job)
        self._tracker = ObjectTracker(job.objects)


class Matte(_ObjectImageWriter):
    """Writes matte/NNNNN.png."""

    format = "matte"
    title = "Object matte"
    group = "Pictures"
    position = 4
    about = "The objects cut out, as RGBA PNG images with a transparent background"
    needs_picture = True
    view = "matte"

    def _write(self, result: FrameResult) -> None:
        members = self._tracker.members(result)
        self._put(result, lambda: png.colours(views.draw("matte", self.job.scene(result, members))))


class Masks(_ObjectImageWriter):
    """Writes object/NNNNN.png or, if there are several objects, object/NAME/NNNNN.png."""

    format = "object"
    title = "Object masks"
    group = "Masks and ids"
    position = 2
    about = "A white-on-black PNG mask per object and frame"
    view = "mask"

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job)
        self._folders = _folders(job) if len(job.objects) > 1 else [""]
        for name in self._folders:
            atomic_files.make_folder(self.path / name)

    def _existing(self) -> Iterable[Path]:
        return chain(super()._existing(), self.path.glob(f"*/*{self.suffix}"))

    def _write(self, result: FrameResult) -> None:
        ids = self.job.ids(result)
        for folder, tracked in zip(self._folders, self._tracker.at(result), strict=True):
            encode = partial(_mask, ids, tracked.ids)
            self._put(result, encode, folder=folder, name=tracked.name)


def _mask(ids: IdMap, members: frozenset[int]) -> bytes:
    return png.greys(views.select(ids, members))


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
