"""Carrying a model from one clip to another."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

import scstream
from scstream import persistence
from scstream_app.settings import SPECS, Settings

if TYPE_CHECKING:
    from scstream import VideoSegmenter

#: What is reckoned in the time of the clip that the model comes from.
_TIMES = ("times", "genealogy.born", "genealogy.died", "genealogy.now")


def settings_of(segmenter: VideoSegmenter, machine: Settings) -> Settings:
    """The settings that the model was made with; those of the machine are ``machine``'s, and so are scene cuts."""
    parameters = segmenter.model_.get_params(deep=False)
    values: dict[str, Any] = {name: parameters[name] for name in SPECS if name in parameters}
    values |= {name: getattr(segmenter, name) for name in ("colour", "scale", "detail")}
    values |= {"threads": machine.threads, "scene_cuts": machine.scene_cuts, "seed": values["seed"] or 0}
    return Settings(**values)


def carried_over(segmenter: VideoSegmenter, start: int, size: tuple[int, int]) -> VideoSegmenter:
    """The model as if its last frame had been the one before ``start``, for frames of another size (H, W).

    Ids go on: what looks alike and lies alike in the other clip gets the id that it had.
    """
    with TemporaryDirectory() as folder:
        file = Path(folder) / "model.npz"
        segmenter.save(file)
        meta, arrays = persistence.read(file)
        shift = float(meta["time"]) - (start - 1)
        meta["time"] = float(start - 1)
        for name in _TIMES:
            arrays[name] = np.asarray(arrays[name] - shift)
        persistence.write(file, meta, arrays)
        carried = scstream.VideoSegmenter.load(file)
    carried.shape_ = size
    return carried
