"""The folder of a new session: written under a temporary name, then renamed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from scstream_app.objects import MarkedObject
from scstream_app.objects.prompt import Prompt
from scstream_app.session.storage import files, waiting_prompts
from scstream_app.session.storage.files import InvalidData
from scstream_app.session.storage.id_volume import IdVolume
from scstream_app.session.storage.lock import Lock
from scstream_app.session.storage.manifest import Manifest
from scstream_app.session.storage.mark_files import MarkFiles
from scstream_app.session.storage.snapshots import Snapshots

if TYPE_CHECKING:
    from scstream import VideoSegmenter

#: Marker file: the user has not saved this session yet.
UNSAVED = "unsaved"


def clear(path: Path, overwrite: bool) -> None:
    """Delete an existing session that is not open; raises if ``overwrite`` is off or the path is no session."""
    if not overwrite:
        raise InvalidData("it already exists")
    files.check_folder(path)
    Manifest.read(path / "manifest.json")
    Lock(path / "lock").release()
    shutil.rmtree(path)


@contextmanager
def removing_new_folders(folder: Path) -> Iterator[None]:
    """If the body raises, remove ``folder`` and those of its parents that did not exist before."""
    new = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        yield
    except BaseException:
        for place in new:
            with suppress(OSError):
                place.rmdir()
        raise


def build(
    path: Path,
    manifest: Manifest,
    objects: Sequence[MarkedObject],
    prompts: Sequence[Prompt],
    model: VideoSegmenter | None,
    unsaved: bool,
) -> None:
    """Write an empty session to a temporary folder, then rename that to ``path``."""
    temporary = path.with_name(f".{path.name}.partial")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    try:
        IdVolume(temporary / "ids.zarr", manifest.source.height, manifest.source.width).create()
        (temporary / "models").mkdir()
        if model is not None:
            Snapshots(temporary / "models", manifest.snapshot_every).save_first(model)
        for name in ("frames.jsonl", "statistics.bin", *([UNSAVED] if unsaved else [])):
            files.write_new(temporary / name, b"")
        MarkFiles(temporary, (manifest.source.height, manifest.source.width)).create(tuple(objects))
        waiting_prompts.write(temporary, prompts)
        manifest.write(temporary / "manifest.json")
        os.rename(temporary, path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
