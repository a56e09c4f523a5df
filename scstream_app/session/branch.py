"""Branch a session: a new session with the same first frames, whose run goes on differently."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from scstream_app.objects import MarkedObject
from scstream_app.session.reader import reporting_errors
from scstream_app.session.session import MASKS, SUFFIX, Session
from scstream_app.session.storage import (
    bookmark,
    branch_point,
    files,
    measures,
    object_masks,
    result_merges,
    statistics,
    waiting_prompts,
)
from scstream_app.session.storage.bookmark import Bookmark
from scstream_app.session.storage.branch_point import BranchPoint
from scstream_app.session.storage.files import InvalidData
from scstream_app.session.storage.id_volume import IdVolume
from scstream_app.session.storage.mark_files import MarkFiles
from scstream_app.session.storage.marks import Names
from scstream_app.session.storage.new_folder import UNSAVED
from scstream_app.session.storage.snapshots import FIRST

_CHUNK = 1 << 20


def create_branch(
    session: Session,
    path: Path,
    point: BranchPoint,
    names: Names,
    objects: tuple[MarkedObject, ...] = (),
    place: Bookmark | None = None,
) -> None:
    """Create an unsaved session with the frames of ``session`` before ``point.frame``.

    Resuming the new session segments the other frames, with the edits of ``point`` before the first of them. Files that
    never change are shared by hard links where the disk allows that, otherwise copied. The old session is only read;
    it may be open, and may grow meanwhile. Raises SessionError if the branch cannot be created; nothing is left then.

    Parameters
    ----------
    session : Session
    path : Path
        Path of the new session.
    point : BranchPoint
    names : Names
        Names of segments that exist before the frame.
    objects : tuple of MarkedObject
        Objects, with their edits before the frame.
    place : Bookmark, optional
        Bookmark of the new session.
    """
    with reporting_errors(f"Cannot create '{path}'"):
        if path.suffix != SUFFIX or os.path.lexists(path):
            raise InvalidData("it already exists" if os.path.lexists(path) else f"its name must end in {SUFFIX}")
        temporary = path.with_name(f".{path.name}.partial")
        shutil.rmtree(temporary, ignore_errors=True)
        try:
            temporary.mkdir(parents=True)
            _Copy(session, temporary, point.frame).write()
            MarkFiles(temporary, _size(session)).create(objects, names)
            waiting_prompts.write(temporary, session.waiting_prompts)
            branch_point.write(temporary, point)
            if place is not None:
                bookmark.write(temporary, place)
            files.write_new(temporary / UNSAVED, b"")
            os.rename(temporary, path)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        files.sync_folder(path.parent)


class _Copy:
    """Writes the frames of a session before frame ``stop`` to a new folder."""

    def __init__(self, session: Session, folder: Path, stop: int) -> None:
        self._session, self._folder, self._stop = session, folder, stop
        self._frames = [index for index in session.frames.tolist() if index < stop]

    def write(self) -> None:
        self._write_ids()
        self._write_records()
        self._link_snapshots()
        self._link_masks()
        if os.path.lexists(self._session.path / MASKS):
            _link(self._session.path / MASKS, self._folder / MASKS)
        self._write_merges()
        found = {index: values for index, values in self._session.added_measures() if index < self._stop}
        if found:
            measures.append(self._folder, found)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        replace(self._session.manifest, complete=False, created=now).write(self._folder / "manifest.json")

    def _write_ids(self) -> None:
        start, (height, width) = self._session.manifest.start, _size(self._session)
        volume = IdVolume(self._folder / "ids.zarr", height, width)
        volume.create()
        old = IdVolume(self._session.path / "ids.zarr", height, width)
        for index in self._frames:
            _link(old.path(index - start), volume.path(index - start))
        volume.resize(self._frames[-1] - start + 1 if self._frames else 0, durable=True)

    def _write_records(self) -> None:
        end, rows = self._session.extent(self._stop)
        _copy(self._session.path, self._folder, "frames.jsonl", end)
        _copy(self._session.path, self._folder, "statistics.bin", rows * statistics.RECORD.itemsize)

    def _write_merges(self) -> None:
        """Keep the merges that hold before the first new frame, without segments that the branch does not have."""
        merges = [merge for merge in self._session.merges if merge.holds(self._stop - 1)]
        if not merges:
            return
        known = {event.ids[-1] for record in self._session.stored_records(0, self._stop) for event in record.events}
        there = [merge for merge in merges if merge.into in known and len(merge.ids & known) > 1]
        result_merges.write(self._folder, [replace(merge, ids=merge.ids & known) for merge in there])

    def _link_snapshots(self) -> None:
        old, new = self._session.path / "models", self._folder / "models"
        new.mkdir()
        if os.path.lexists(old / FIRST):
            _link(old / FIRST, new / FIRST)
        for index in self._session.snapshots():
            if index < self._stop:
                name = f"{index:06d}.npz"
                try:
                    _link(old / name, new / name)
                except InvalidData:
                    # A running segmentation has just thinned out its snapshots.
                    continue
        files.sync_folder(new)

    def _link_masks(self) -> None:
        old, new = self._session.path / object_masks.FOLDER, self._folder / object_masks.FOLDER
        if not self._frames or not os.path.lexists(old):
            return
        files.check_folder(old)
        new.mkdir()
        for index in self._frames:
            name = f"{index:06d}.mask"
            if os.path.lexists(old / name):
                _link(old / name, new / name)


def _link(old: Path, new: Path) -> None:
    """Share a file that is only ever replaced, never changed; copy it if the disk has no hard links."""
    files.check_file(old)
    try:
        os.link(old, new, follow_symlinks=False)
    except (OSError, NotImplementedError):
        shutil.copyfile(old, new, follow_symlinks=False)


def _copy(old: Path, new: Path, name: str, size: int) -> None:
    """Copy the first ``size`` bytes of a file, and flush them to disk."""
    files.check_file(old / name)
    with open(old / name, "rb") as source, open(new / name, "xb") as target:
        while size > 0:
            data = source.read(min(size, _CHUNK))
            if not data:
                raise InvalidData(f"{name} is too short")
            target.write(data)
            size -= len(data)
    files.sync(new / name)


def _size(session: Session) -> tuple[int, int]:
    source = session.manifest.source
    return source.height, source.width
