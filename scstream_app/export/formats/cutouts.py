"""Objects cut out of the frames, and their masks, as PNG images."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import chain
from pathlib import Path

from scstream_app.export import files, png
from scstream_app.export.job import Job
from scstream_app.export.objects import Following
from scstream_app.export.options import safe_name
from scstream_app.export.writer import Images
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render import views
from scstream_app.render.image_types import IdMap


class _OfObjects(Images):
    needs_object = True

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job)
        self._following = Following(job.objects)


class Matte(_OfObjects):
    """matte/NNNNN.png."""

    format = "matte"
    about = "The objects cut out: RGBA PNG images, transparent elsewhere"
    needs_picture = True

    def _write(self, result: FrameResult) -> None:
        members = self._following.members(result)
        self._put(result, lambda: png.colours(views.draw("matte", self.job.scene(result, members))))


class Masks(_OfObjects):
    """object/NNNNN.png, or object/NAME/NNNNN.png where there are several."""

    format = "object"
    about = "A white-on-black PNG mask of each object"

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job)
        self._folders = _folders(job) if len(job.objects) > 1 else [""]
        for name in self._folders:
            files.make_folder(self.path / name)

    def _there(self) -> Iterable[Path]:
        return chain(super()._there(), self.path.glob(f"*/*{self.suffix}"))

    def _write(self, result: FrameResult) -> None:
        ids = self.job.ids(result)
        for folder, thing in zip(self._folders, self._following.at(result), strict=True):
            encode = partial(_mask, ids, thing.ids)
            self._put(result, encode, folder=folder, name=thing.name)


def _mask(ids: IdMap, members: frozenset[int]) -> bytes:
    return png.greys(views.select(ids, members))


def _folders(job: Job) -> list[str]:
    """A folder's name for each object; those whose names would fall together are numbered."""
    taken: set[str] = set()
    folders = []
    for thing in job.objects:
        name = base = safe_name(thing.name)
        count = 1
        # Some systems do not tell small letters from capitals.
        while name.casefold() in taken:
            count += 1
            name = f"{base} {count}"
        taken.add(name.casefold())
        folders.append(name)
    return folders
