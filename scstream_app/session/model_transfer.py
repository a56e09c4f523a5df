"""Transfer a trained model to another clip: save and load model files, and start a session with a model."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import scstream
from scstream import ModelFileError
from scstream_app.errors import SessionError, SettingsError, reason
from scstream_app.session import Session
from scstream_app.session.resumption import model_parameters
from scstream_app.settings import SPECS, Settings

if TYPE_CHECKING:
    from scstream import VideoSegmenter


def newest(session: Session) -> tuple[int, VideoSegmenter]:
    """Frame and model of the session's newest snapshot; raises SessionError if there is none yet."""
    found = session.newest_snapshot()
    if found is None:
        raise SessionError("There is no model yet. Wait until the first frame is segmented.")
    return found


def save(segmenter: VideoSegmenter, path: Path) -> None:
    """Write a model to a file; raises SessionError if that fails."""
    try:
        segmenter.save(path)
    except OSError as error:
        raise SessionError(f"Cannot save the model as '{path}': {reason(error)}.") from error


def load(path: Path) -> VideoSegmenter:
    """Read a model file that a session can start with; raises SessionError if there is none."""
    try:
        segmenter = scstream.VideoSegmenter.load(path)
        settings_of(segmenter, Settings())
    except ModelFileError as error:
        raise SessionError(f"{error}.") from error
    except OSError as error:
        raise SessionError(f"Cannot load '{path}': {reason(error)}.") from error
    except SettingsError as error:
        raise SessionError(f"Cannot use '{path}': {str(error).rstrip('.')}.") from error
    return segmenter


def settings_of(segmenter: VideoSegmenter, machine: Settings) -> Settings:
    """Settings that describe the model; ``threads`` and ``scene_cuts`` come from ``machine``.

    Raises SettingsError if the model has parameters that `Settings` cannot express: a session that starts with it could
    not be resumed.
    """
    values: dict[str, Any] = {name: value for name, value in asdict(segmenter.parameters).items() if name in SPECS}
    values |= {"threads": machine.threads, "scene_cuts": machine.scene_cuts, "seed": values["seed"] or 0}
    settings = Settings(**values)
    known, found = model_parameters(settings.segmenter()), model_parameters(segmenter) | {"seed": settings.seed}
    unsupported = [name for name in {**found, **known} if found.get(name) != known.get(name)]
    if unsupported:
        name = unsupported[0]
        raise SettingsError(f"its parameter '{name}' is {found.get(name)!r}, which this program does not support")
    return settings


def transfer_model(segmenter: VideoSegmenter, start: int, size: tuple[int, int]) -> VideoSegmenter:
    """Copy of the model for another clip, whose first frame is ``start`` and whose frames have the given size (H, W).

    The copy behaves as if its last frame were the one before ``start``. Ids continue: a region of the new clip with
    similar colour and position keeps the id of the original segment.
    """
    copy = segmenter.transfer(float(start - 1), size)
    # The engine treats None as 0, but `Settings` requires a number.
    copy.set_params(seed=segmenter.seed or 0)
    return copy
