"""Models that go from one clip to another: as small files, and as what a session begins with."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import scstream
from scstream import ModelFileError
from scstream_app.errors import SessionError, SettingsError, reason
from scstream_app.session import Session
from scstream_app.session.resumption import traits
from scstream_app.settings import SPECS, Settings

if TYPE_CHECKING:
    from scstream import VideoSegmenter


def newest(session: Session) -> tuple[int, VideoSegmenter]:
    """The newest model that the session keeps, and the frame that it is of; a SessionError if there is none yet."""
    frame = session.latest_snapshot()
    if frame is None:
        raise SessionError("There is no model yet: it comes with the first frame.")
    return frame, session.load_snapshot(frame)


def save(segmenter: VideoSegmenter, path: Path) -> None:
    """Write a model; a SessionError says why that cannot be done."""
    try:
        segmenter.save(path)
    except OSError as error:
        raise SessionError(f"Cannot save the model as '{path}': {reason(error)}.") from error


def load(path: Path) -> VideoSegmenter:
    """Read a model that a session can begin with; a SessionError says why there is none."""
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
    """The settings that the model was made with; those of the machine are ``machine``'s, and so are scene cuts.

    A SettingsError says what about the model no settings can say: a session that begins with it could not be resumed.
    """
    values: dict[str, Any] = {name: value for name, value in asdict(segmenter.parameters).items() if name in SPECS}
    values |= {"threads": machine.threads, "scene_cuts": machine.scene_cuts, "seed": values["seed"] or 0}
    settings = Settings(**values)
    known, found = traits(settings.segmenter()), traits(segmenter) | {"seed": settings.seed}
    strange = [name for name in {**found, **known} if found.get(name) != known.get(name)]
    if strange:
        raise SettingsError(f"its '{strange[0]}' is {found.get(strange[0])!r}, which is not to be had here")
    return settings


def carried_over(segmenter: VideoSegmenter, start: int, size: tuple[int, int]) -> VideoSegmenter:
    """The model as if its last frame had been the one before ``start``, for frames of another size (H, W).

    Ids go on: what looks alike and lies alike in the other clip gets the id that it had.
    """
    carried = segmenter.transfer(float(start - 1), size)
    # None means 0 to the engine, but is no setting.
    carried.change(seed=segmenter.seed or 0)
    return carried
