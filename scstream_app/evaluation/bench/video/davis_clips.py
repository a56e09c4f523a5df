"""Clips in the layout of DAVIS: pictures in JPEGImages, masks of the objects in Annotations, a folder for each clip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from scstream_app.errors import SourceError
from scstream_app.evaluation.label_maps import open_maps
from scstream_app.render.image_types import Picture
from scstream_app.sources import open_source

_PICTURES, _MASKS = "JPEGImages", "Annotations"
_FEWEST_FRAMES = 3


@dataclass(frozen=True, slots=True)
class Clip:
    """Folders of a clip's pictures and masks."""

    name: str
    pictures: Path
    masks: Path

    def read_pictures(self, count: int) -> list[Picture]:
        """The first pictures, RGB."""
        with open_source(str(self.pictures)) as source:
            pictures = [frame.rgb for frame in islice(source.frames(), count)]
        if len(pictures) < _FEWEST_FRAMES:
            raise SourceError(
                f"Cannot measure on '{self.pictures}': it has {len(pictures)} frames, at least {_FEWEST_FRAMES} are "
                "needed."
            )
        return pictures

    def read_masks(self, count: int) -> list[npt.NDArray[np.bool_]]:
        """The masks of the first pictures; True on every object."""
        maps = open_maps(self.masks)
        if len(maps.frames) < count:
            raise SourceError(f"Cannot measure on '{self.masks}': {count} masks are needed, it has {len(maps.frames)}.")
        return [maps.read(frame) > 0 for frame in maps.frames[:count]]


def is_davis(folder: Path) -> bool:
    """Whether a folder has the layout of DAVIS."""
    return (folder / _PICTURES).is_dir()


def find_clips(root: Path, names: Sequence[str] = ()) -> list[Clip]:
    """The clips of a folder, or those with the given names in that order.

    Both ``JPEGImages/CLIP`` and ``JPEGImages/480p/CLIP`` are found.
    """
    clips = {path.name: _clip(root, path) for path in _clip_folders(root / _PICTURES)}
    if not clips:
        raise SourceError(f"Cannot measure on '{root}': '{_PICTURES}' has no folder of pictures.")
    for name in names:
        if name not in clips:
            similar = get_close_matches(name, clips, 1)
            hint = f"Did you mean '{similar[0]}'?" if similar else f"Its clips: {', '.join(clips)}."
            raise SourceError(f"There is no clip '{name}' in '{root}'. {hint}")
    return [clips[name] for name in dict.fromkeys(names)] if names else list(clips.values())


def _clip_folders(pictures: Path) -> list[Path]:
    folders = sorted(path for path in pictures.iterdir() if path.is_dir())
    # A folder for a resolution holds the clips' folders.
    below = sorted(path for folder in folders for path in folder.iterdir() if path.is_dir())
    return below or folders


def _clip(root: Path, pictures: Path) -> Clip:
    return Clip(pictures.name, pictures, root / _MASKS / pictures.relative_to(root / _PICTURES))
