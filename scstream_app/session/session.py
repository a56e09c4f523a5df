"""Session: a folder that stores a run frame by frame and stays readable if the process is killed at any moment."""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from scstream.pixels.statistics import STATISTICS
from scstream_app.errors import SessionError
from scstream_app.objects import MarkedObject, members_by_frame
from scstream_app.objects.prompt import Prompt
from scstream_app.pipeline.frame_result import FrameResult, ObjectMasks
from scstream_app.render.image_types import Picture
from scstream_app.session.reader import SessionReader, reporting_errors
from scstream_app.session.relabelling import Relabelling
from scstream_app.session.storage import (
    bookmark,
    branch_point,
    checks,
    files,
    marks,
    measures,
    new_folder,
    object_masks,
    result_merges,
    statistics,
    waiting_prompts,
)
from scstream_app.session.storage.bookmark import Bookmark
from scstream_app.session.storage.branch_point import WaitingMarks
from scstream_app.session.storage.files import AppendFile, InvalidData
from scstream_app.session.storage.lock import Lock
from scstream_app.session.storage.manifest import FrameChecksum, Manifest, SourceFacts, check_session_folder
from scstream_app.session.storage.mark_files import MarkFiles
from scstream_app.session.storage.marks import Names
from scstream_app.session.storage.records import FrameRecord
from scstream_app.session.storage.result_merges import ResultMerge
from scstream_app.settings import Settings
from scstream_app.sources import Source

if TYPE_CHECKING:
    from scstream import VideoSegmenter

SUFFIX = ".scstream"
MASKS = "masks.png"


class Session(SessionReader):
    """A run on disk: ids, statistics and events of every frame, snapshots of the model, and the user's marks.

    Use `create` or `open` to get one. A frame is stored when `append` returns. If the process is killed, at most the
    frame being written is lost; after a power failure, at most the frames since the last snapshot. One thread may
    append while others read.

    Attributes
    ----------
    path : Path
    manifest : Manifest
    damage : tuple of str
        Messages about damaged files that were renamed when the session was opened for writing.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._marks = MarkFiles(path, self._size)
        self._lock: Lock | None = None
        self._rows_file: AppendFile | None = None
        self._log_file: AppendFile | None = None
        self._synced = 0
        self._cut_at_end = False
        self._last_picture: Picture | None = None
        self.damage: tuple[str, ...] = ()

    # --- creating and opening

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        source: Source | SourceFacts,
        settings: Settings,
        *,
        start: int = 0,
        stop: int | None = None,
        formats: Iterable[str] = (),
        export: Mapping[str, Any] = MappingProxyType({}),
        objects: Sequence[MarkedObject] = (),
        prompts: Sequence[Prompt] = (),
        model: VideoSegmenter | None = None,
        snapshot_every: int = 50,
        overwrite: bool = False,
        unsaved: bool = False,
    ) -> Self:
        """Create a session in a new folder NAME.scstream and open it for writing.

        ``formats`` and ``export`` say which files to export in the end, see `Manifest`. ``objects`` are those
        that the user marked on the first frame, ``prompts`` corrections of later frames. ``model`` is the segmenter
        that the run starts with; by default an untrained one. ``overwrite`` replaces an existing session, but no other
        file or folder. ``unsaved`` marks the session as deletable until the user saves it.
        """
        path = Path(path)
        with reporting_errors(f"Cannot create '{path}'"):
            if path.suffix != SUFFIX:
                raise InvalidData(f"the name of a session must end in {SUFFIX}")
            manifest = Manifest.new(source, settings, start, stop, formats, snapshot_every, export)
            if os.path.lexists(path):
                new_folder.clear(path, overwrite)
            with new_folder.removing_new_folders(path.parent):
                path.parent.mkdir(parents=True, exist_ok=True)
                new_folder.build(path, manifest, objects, prompts, model, unsaved)
                try:
                    files.sync_folder(path.parent)
                    session = cls.open(path, writable=True)
                except BaseException:
                    # For instance a full disk: leave no session behind that has no frames.
                    shutil.rmtree(path, ignore_errors=True)
                    raise
        return session

    @classmethod
    def open(cls, path: str | os.PathLike[str], writable: bool = False) -> Self:
        """Open a session; incomplete data of a killed process is ignored, and removed if ``writable``."""
        path = Path(path)
        with reporting_errors(f"Cannot open '{path}'"):
            check_session_folder(path)
            lock = Lock(path / "lock") if writable else None
            try:
                damaged = result_merges.rename_unreadable(path) if writable else ""
                session = cls(path)
                session._marks.check()
                if lock is not None:
                    session._prepare(lock, damaged)
            except BaseException:
                if lock is not None:
                    lock.release()
                raise
        return session

    def _prepare(self, lock: Lock, damaged: str) -> None:
        """Remove incomplete data, rename unreadable mark files, and open the files for appending."""
        self.damage = (*([damaged] if damaged else []), *self._marks.claim())
        self._volume.drop_from(self._end)
        self._volume.resize(self._end)
        self._snapshots.clean()
        self._snapshots.drop_after(self._last)
        for leftover in self.path.glob(".*.partial"):
            leftover.unlink()
        object_masks.discard_staged(self.path)
        self._rows_file = AppendFile(self._rows_path, self._index.rows * statistics.RECORD.itemsize)
        self._log_file = AppendFile(self._index.path, self._index.end)
        self._synced = self._end
        self._lock = lock

    @property
    def writable(self) -> bool:
        """Whether frames can be appended."""
        return self._lock is not None

    # --- closing

    def close(self) -> None:
        """Flush everything to disk and release the lock; closing again has no effect."""
        with self._mutex:
            if self._lock is None:
                return
            try:
                self.sync()
                with self._writing():
                    self._volume.resize(self._end)
            finally:
                self._release()

    def _release(self) -> None:
        # Wait for a thread that is writing marks.
        with self._marks.lock:
            for held in (self._rows_file, self._log_file, self._lock):
                if held is not None:
                    held.release()
            self._rows_file = self._log_file = self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # --- writing

    def append(self, result: FrameResult) -> None:
        """Write a frame: its ids, its statistics, then its line in frames.jsonl, which makes it count.

        If this raises SessionError (on a full disk, for instance), the session keeps the frames before it.
        """
        with self._writing():
            self._check_result(result)
            self._note_first(result)
            self._write(result)
            self._cut_at_end, self._last_picture = result.cut, result.rgb

    def _write(self, result: FrameResult) -> None:
        rows, log = self._files()
        count, end, rows_end, first = len(self._index), self._index.end, rows.end, self._index.rows
        ids = self._volume.write(self._position(result.index), result.ids)
        data = statistics.pack(result.statistics, self.manifest.pixel)
        record = FrameRecord.of(result, ids, (first, len(result.statistics), zlib.crc32(data)))
        line = record.line()
        try:
            rows.append(data)
            log.append(line)
            self._index.add(result.index, len(line), first + record.rows, bool(record.edits))
        except BaseException:
            # Remove the line first: a line must never refer to statistics that are missing.
            self._index.cut(count, end)
            log.truncate(end)
            rows.truncate(rows_end)
            raise

    def _check_result(self, result: FrameResult) -> None:
        if not self._last < result.index <= checks.MAX_INDEX:
            raise ValueError(f"frames must be appended in order, got frame {result.index} after {self._last}")
        if result.ids.shape != self._size or result.ids.dtype != np.int32:
            shape, kind = result.ids.shape, result.ids.dtype
            raise ValueError(f"ids must be int32 of shape {self._size}, got {kind} of shape {shape}")
        if result.statistics.dtype != STATISTICS:
            raise ValueError(f"statistics must have the dtype STATISTICS, got {result.statistics.dtype}")

    def _note_first(self, result: FrameResult) -> None:
        """Store the checksum of the first frame, to detect later if the source is a different one."""
        if len(self._index) or result.rgb is None:
            return
        first = FrameChecksum(result.index, checksum(result.rgb))
        if self.manifest.first_frame is None:
            self._set_manifest(replace(self.manifest, first_frame=first))
        elif self.manifest.first_frame != first:
            raise InvalidData("the first frame of the source differs from the one that the session was created with")

    def _note_last(self) -> None:
        """Store the checksum of the last frame: two clips may begin with the same picture."""
        if self._last_picture is not None and not self.manifest.source.live:
            last = FrameChecksum(self._last, checksum(self._last_picture))
            self._set_manifest(replace(self.manifest, last_frame=last))

    def snapshot(self, segmenter: VideoSegmenter) -> None:
        """Save the segmenter as it is after the last frame; a power failure cannot lose any frame up to here."""
        with self._writing():
            if not len(self._index):
                raise ValueError("cannot save a snapshot before the first frame")
            self.sync()
            self._note_last()
            self._snapshots.save(segmenter, self._last)
            self._last_snapshot = self._last

    def forget_snapshots_after(self, frame: int | None) -> None:
        """Treat later snapshots as missing because they are damaged: the run saves them again when it gets there."""
        with self._mutex:
            self._last_snapshot = frame

    @property
    def snapshot_due(self) -> bool:
        """Whether to save a snapshot now: after the first frame of a scene, and every ``snapshot_every`` frames."""
        if not len(self._index) or self._last == self._last_snapshot:
            return False
        since = len(self._index) - self._durable
        return self._cut_at_end or len(self._index) == 1 or since >= self.manifest.snapshot_every

    def set_range(self, start: int, stop: int | None) -> None:
        """Segment frames start, ..., stop - 1; the start is fixed as soon as there is a frame.

        Frames that the session has stay. A complete session whose range grows is no longer complete.
        """
        with self._writing():
            if len(self):
                start, stop = self.manifest.start, None if stop is None else max(stop, self._last + 1)
            more = len(self) > 0 and (stop is None or stop > self._last + 1)
            changed = replace(self.manifest, start=start, stop=stop, complete=self.manifest.complete and not more)
            # The round trip checks the values.
            self._set_manifest(Manifest.from_dict(changed.as_dict()))

    def finish(self) -> None:
        """Mark the run as complete: there is nothing left to resume."""
        with self._writing():
            self.sync()
            source = self.manifest.source
            if self.recorded:
                source = replace(source, length=len(self))
            self._set_manifest(replace(self.manifest, complete=True, source=source))

    def add_measures(self, found: Mapping[int, Mapping[str, float]]) -> None:
        """Store measures of frames that were appended before; see `added_measures`."""
        with self._writing():
            measures.append(self.path, found)

    def store_object_masks(
        self,
        index: int,
        masks: ObjectMasks,
        objects: Sequence[MarkedObject],
        labels: Relabelling | None = None,
        *,
        staged: bool = False,
    ) -> None:
        """Store the masks of a frame, which were made from the edits of these objects, and with these merges.

        ``staged`` masks replace stored ones only when `commit_staged_masks` is called.
        """
        with self._marking():
            object_masks.write(self.path, index, masks, objects, (labels or self.relabelling).token(index), staged)

    def commit_staged_masks(self) -> None:
        """Replace stored masks by the staged ones."""
        with self._marking():
            object_masks.commit_staged(self.path)

    def discard_staged_masks(self) -> None:
        """Remove staged masks."""
        with self._marking():
            object_masks.discard_staged(self.path)

    def truncate(self, count: int) -> None:
        """Remove all frames after the first ``count`` ones."""
        with self._writing():
            rows, log = self._files()
            self._index.keep(count)
            self._snapshots.drop_after(self._last)
            self._last_snapshot = max(self._snapshots.frames(), default=None)
            log.truncate(self._index.end)
            rows.truncate(self._index.rows * statistics.RECORD.itemsize)
            self._volume.drop_from(self._end)
            self._synced = min(self._synced, self._end)

    def sync(self) -> None:
        """Flush all frames to disk."""
        with self._writing():
            rows, log = self._files()
            self._volume.sync(range(self._synced, self._end))
            rows.sync()
            log.sync()
            self._synced = self._end

    def _set_manifest(self, manifest: Manifest) -> None:
        manifest.write(self.path / "manifest.json")
        self.manifest = manifest

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._mutex, self._permitted():
            yield

    @contextmanager
    def _marking(self) -> Iterator[None]:
        # Not the mutex, which is held while frames are written: the window must not wait for the disk.
        with self._marks.lock, self._permitted():
            yield

    @contextmanager
    def _permitted(self) -> Iterator[None]:
        if self._lock is None:
            raise SessionError(f"Cannot write '{self.path}': it is not open for writing.")
        with reporting_errors(f"Cannot write '{self.path}'", f"The {len(self)} frames so far are kept."):
            yield

    def _files(self) -> tuple[AppendFile, AppendFile]:
        assert self._rows_file is not None
        assert self._log_file is not None
        return self._rows_file, self._log_file

    # --- the user's marks

    @property
    def objects(self) -> tuple[MarkedObject, ...]:
        """The user's objects."""
        with self._reading():
            return self._marks.objects

    @objects.setter
    def objects(self, objects: Sequence[MarkedObject]) -> None:
        with self._marking():
            self._marks.objects = tuple(objects)

    @property
    def names(self) -> Names:
        """Names, colours and visibility of single segments."""
        with self._reading():
            return self._marks.names

    @names.setter
    def names(self, names: Names) -> None:
        with self._marking():
            self._marks.names = names

    @property
    def bookmark(self) -> Bookmark | None:
        """Where the user left the session; None if there is no readable bookmark."""
        return bookmark.read(self.path)

    @bookmark.setter
    def bookmark(self, place: Bookmark) -> None:
        with self._marking():
            bookmark.write(self.path, place)

    @property
    def merges(self) -> tuple[ResultMerge, ...]:
        """Merges in the result."""
        return self.relabelling.merges

    @merges.setter
    def merges(self, merges: Sequence[ResultMerge]) -> None:
        with self._marking():
            result_merges.write(self.path, merges)
            self.relabelling = Relabelling(merges)

    def set_waiting_marks(self, waiting: WaitingMarks) -> None:
        """Store which marks of the run before still wait for their frames; see `BranchPoint`."""
        point = self.branch_point
        if point is not None:
            with self._marking():
                branch_point.write(self.path, replace(point, waiting=waiting))

    @property
    def waiting_prompts(self) -> tuple[Prompt, ...]:
        """Corrections of objects on frames that are still to be segmented."""
        with self._reading():
            return waiting_prompts.read(self.path, self._size)

    @waiting_prompts.setter
    def waiting_prompts(self, prompts: Sequence[Prompt]) -> None:
        with self._marking():
            waiting_prompts.write(self.path, prompts)

    @property
    def masks(self) -> Picture | None:
        """Objects (H, W) on the first frame of an older session, one value each, along which its segments were cut."""
        with self._reading():
            if not os.path.lexists(self.path / MASKS):
                return None
            return marks.masks_from_png(files.read(self.path / MASKS, marks.LIMIT), *self._size)

    def remove_masks(self) -> None:
        """Remove the objects of an older session's first frame."""
        with self._marking():
            (self.path / MASKS).unlink(missing_ok=True)

    def read_object_masks(self, index: int, objects: Sequence[MarkedObject]) -> ObjectMasks | None:
        """Stored masks of a frame; None if there are none, or if they were made from other edits."""
        with self._reading():
            return object_masks.read(self.path, index, objects, self._size, self.relabelling.token(index))

    def members(
        self, objects: Sequence[MarkedObject], start: int = 0, stop: int | None = None
    ) -> Iterator[tuple[int, tuple[frozenset[int], ...]]]:
        """Yield (frame, ids of every object) for frames start, ..., stop - 1; see `Membership`."""
        first = min((object_.frame for object_ in objects), default=start)
        for index, ids in members_by_frame(objects, self.records(min(start, first), stop)):
            if index >= start:
                yield index, ids


def checksum(rgb: Picture) -> int:
    """CRC-32 of a picture's bytes."""
    return zlib.crc32(np.ascontiguousarray(rgb).data)
