"""Read a session: check its files when it is opened, then read back frames, statistics and snapshots."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from scstream_app.addresses import join_reading, split_reading
from scstream_app.errors import SessionError, reason
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render.image_types import IdMap, Picture, resized
from scstream_app.session.relabelling import Relabelling
from scstream_app.session.storage import branch_point, checks, files, measures, result_merges, statistics
from scstream_app.session.storage.branch_point import BranchPoint
from scstream_app.session.storage.files import InvalidData, Unwritten
from scstream_app.session.storage.id_volume import GROWTH, IdVolume
from scstream_app.session.storage.manifest import Manifest
from scstream_app.session.storage.pictures import PICTURES
from scstream_app.session.storage.records import FrameRecord, RecordIndex
from scstream_app.session.storage.snapshots import Snapshots
from scstream_app.sources import DamagedFrame, Source

if TYPE_CHECKING:
    from scstream import VideoSegmenter


class SessionReader:
    """Read access to a session folder.

    Opening checks all files, because a session may have been damaged or tampered with.

    Attributes
    ----------
    path : Path
    manifest : Manifest
    relabelling : Relabelling
        Merges in the result: frames are read with these merges, unless they are read as stored.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest = Manifest.read(path / "manifest.json")
        self._volume = IdVolume(path / "ids.zarr", *self._size)
        self._index = RecordIndex(path / "frames.jsonl")
        self._snapshots = Snapshots(path / "models", self.manifest.snapshot_every)
        self._last_snapshot: int | None = None
        self.relabelling = Relabelling(result_merges.read(path))
        self._mutex = threading.RLock()
        self._load()

    @property
    def _size(self) -> tuple[int, int]:
        return self.manifest.source.height, self.manifest.source.width

    @property
    def recorded(self) -> bool:
        """Whether the session is a recording: its folder contains the pictures of its source."""
        return self.manifest.source.address == PICTURES

    @property
    def source_address(self) -> str:
        """Address of the source for `open_source`; for a recording it follows the session's folder."""
        source = self.manifest.source
        return str(self.path.absolute() / PICTURES) if self.recorded else join_reading(source.address, source.reading)

    def moved_address(self, place: str) -> str:
        """Address of the source at another place, read in the same way unless ``place`` says how."""
        reading = split_reading(place)[1] or self.manifest.source.reading
        return join_reading(split_reading(place)[0], reading)

    # --- opening

    def _load(self) -> None:
        # Another process may be writing. It writes the lines last, so they have to be read last.
        self._volume.open()
        snapshots = self._snapshots.frames()
        self._index.load()
        if len(self._index) and self._index.frames[0] < self.manifest.start:
            raise InvalidData(f"frames.jsonl starts with frame {self._index.frames[0]}, before the session's start")
        known = [frame for frame in snapshots if self._has(frame)]
        if snapshots and snapshots[-1] not in known[-1:] and not self._index.unwritten:
            raise InvalidData(f"frames.jsonl is damaged: frame {snapshots[-1]} is missing, but it has a snapshot")
        self._drop_torn(known)
        # Only of a complete run: before it, a killed process may have been about to write a frame after a long gap of
        # damaged ones. Nothing depends on the length, and a writer sets it.
        if self.manifest.complete and self._volume.length > self._end + GROWTH:
            raise InvalidData(f"ids.zarr states {self._volume.length} frames, but there are {self._end}")

    def _has(self, frame: int) -> bool:
        try:
            self._index.place(frame)
        except KeyError:
            return False
        return True

    def _drop_torn(self, snapshots: list[int]) -> None:
        """Ignore incomplete frames at the end.

        A crash can only damage frames after the last snapshot. If an earlier frame is incomplete, the files were
        changed, and opening fails; unless the frame is zeros on the disk, which only a power failure leaves, and a disk
        that reports data as flushed too early. Then the snapshot does not count either.
        """
        complete = self.manifest.complete
        if complete and self._index.torn:
            raise InvalidData("frames.jsonl is damaged")
        while snapshots and not complete and self._is_unwritten(snapshots[-1]):
            snapshots.pop()
        self._last_snapshot = snapshots[-1] if snapshots else None
        durable = len(self._index) if complete else self._durable
        size = files.check_file(self._rows_path).st_size
        whole = self._index.count_with_rows(size // statistics.RECORD.itemsize)
        if whole < durable:
            raise InvalidData(f"{self._rows_path.name} is too short")
        self._index.keep(whole)
        for place, record in enumerate(self._index.read(durable, whole), durable):
            try:
                self._check(record)
            except InvalidData:
                self._index.keep(place)
                return

    def _check(self, record: FrameRecord) -> None:
        """Raise InvalidData unless the ids and statistics of a frame are those that were written."""
        self._volume.check(self._position(record.index), record.ids_bytes, record.ids_checksum)
        statistics.check(self._rows_path, record.first_row, record.rows, record.rows_checksum)

    def _is_unwritten(self, frame: int) -> bool:
        try:
            self._check(self._record_at(self._index.place(frame)))
        except Unwritten:
            return True
        except InvalidData:
            # Reading the frame reports it.
            return False
        return False

    @property
    def _durable(self) -> int:
        """Number of frames that were on disk when the last snapshot was written."""
        return 0 if self._last_snapshot is None else self._index.place(self._last_snapshot) + 1

    @property
    def _rows_path(self) -> Path:
        return self.path / "statistics.bin"

    @property
    def _last(self) -> int:
        """Index of the last frame; start - 1 if there is none."""
        return self._index.frames[-1] if len(self._index) else self.manifest.start - 1

    @property
    def _end(self) -> int:
        """Required length of the id volume."""
        return self._position(self._last) + 1

    def _position(self, index: int) -> int:
        return index - self.manifest.start

    @property
    def branch_point(self) -> BranchPoint | None:
        """The frame at which this run departs from another run, and how; None if it does not continue another run."""
        with self._reading():
            return branch_point.read(self.path, self._size)

    # --- frames

    def __len__(self) -> int:
        return len(self._index)

    @property
    def frames(self) -> npt.NDArray[np.int64]:
        """Indices of the session's frames, ascending."""
        return self._index.numbers()

    def extent(self, stop: int) -> tuple[int, int]:
        """Bytes of frames.jsonl and records of statistics.bin that belong to the frames before ``stop``."""
        return self._index.extent(self._index.places(0, stop)[1])

    def record(self, index: int) -> FrameRecord:
        """Record of a frame."""
        return self._relabelled(self._stored_record(index))

    def _stored_record(self, index: int) -> FrameRecord:
        with self._reading(index):
            if not self._has(index):
                raise InvalidData("the session has no such frame")
            return self._record_at(self._index.place(index))

    def _record_at(self, place: int) -> FrameRecord:
        return next(self._index.read(place, place + 1))

    def records(self, start: int = 0, stop: int | None = None) -> Iterator[FrameRecord]:
        """Yield the records of frames start, ..., stop - 1; missing frames are skipped."""
        return map(self._relabelled, self.stored_records(start, stop))

    def stored_records(self, start: int = 0, stop: int | None = None) -> Iterator[FrameRecord]:
        """As `records`, without merges in the result."""
        first, last = self._index.places(start, checks.MAX_INDEX + 1 if stop is None else stop)
        with self._reading():
            yield from self._index.read(first, last)

    def edited_records(self, stop: int) -> Iterator[FrameRecord]:
        """Yield the records of frames before ``stop`` that have edits."""
        with self._reading():
            yield from (record for record in self._index.read_edited() if record.index < stop)

    def added_measures(self) -> Iterator[tuple[int, Mapping[str, float]]]:
        """Yield (frame, measures) for the frames that were measured after they had been appended."""
        with self._reading():
            yield from measures.read(self.path)

    def _relabelled(self, record: FrameRecord) -> FrameRecord:
        """A stored record with the events and the number of segments after all merges."""
        if not self.relabelling.holds(record.index):
            return record
        place = self._index.place(record.index)
        live = self._sizes(record)

        def before() -> dict[int, int]:
            with self._reading(record.index):
                return self._sizes(self._record_at(place - 1))

        previous = self._index.frames[place - 1] if place else None
        events = self.relabelling.events(record.index, previous, record.events, before, lambda: live)
        return replace(record, events=events, rows=len(self.relabelling.labels(record.index, live)))

    def _sizes(self, record: FrameRecord) -> dict[int, int]:
        """Pixels of each live segment of a frame as stored."""
        rows = self._stored_statistics(record)
        return dict(zip(rows["id"].tolist(), rows["pixels"].tolist(), strict=True))

    def stored_ids_of(self, index: int, labels: Collection[int]) -> tuple[int, ...]:
        """Segments of the run that have one of these ids on a frame after all merges."""
        return tuple(sorted(self.relabelling.sources(index, labels, self._sizes(self._stored_record(index)))))

    def ids(self, index: int, stored: bool = False) -> IdMap:
        """Segment ids (H, W) of the frame; ``stored``: without merges."""
        ids = self._stored_ids(self._stored_record(index))
        return ids if stored else self.relabelling.ids(index, ids)

    def _stored_ids(self, record: FrameRecord) -> IdMap:
        with self._reading(record.index):
            return self._volume.read(self._position(record.index), record.ids_bytes, record.ids_checksum)

    def statistics(self, index: int) -> npt.NDArray[np.void]:
        """One row per live segment, as in `VideoSegmenter.statistics_`, with about seven digits."""
        return self.relabelling.statistics(index, self._stored_statistics(self._stored_record(index)))

    def _stored_statistics(self, record: FrameRecord) -> npt.NDArray[np.void]:
        with self._reading(record.index):
            place = record.first_row, record.rows, record.rows_checksum
            return statistics.read(self._rows_path, *place, self.manifest.pixel)

    def results(
        self, start: int = 0, stop: int | None = None, source: Source | None = None, *, stored: bool = False
    ) -> Iterator[FrameResult]:
        """Yield the results of frames start, ..., stop - 1.

        They have pictures if ``source`` is given. ``stored``: without merges, as the run made them.
        """
        pictures = None if source is None else self._pictures(source, start)
        for record in self.stored_records(start, stop):
            result = FrameResult(
                record.index,
                record.time,
                None if pictures is None else _picture_of(pictures, record.index),
                self._stored_ids(record),
                record.events,
                self._stored_statistics(record),
                record.log_posterior,
                record.cut,
                record.milliseconds,
                record.edits,
            )
            yield result if stored else self.relabelled(result)

    def relabelled(self, result: FrameResult) -> FrameResult:
        """The result of one of the session's frames after all merges."""
        if not self.relabelling.holds(result.index):
            return result
        return replace(
            result,
            ids=self.relabelling.ids(result.index, result.ids),
            statistics=self.relabelling.statistics(result.index, result.statistics),
            events=self.record(result.index).events,
        )

    def _pictures(self, source: Source, start: int) -> Iterator[tuple[int, Picture]]:
        # Damaged frames have no record, so their pictures are not needed.
        for frame in source.frames(max(start, self.manifest.start), on_damage=_ignore_damage):
            yield frame.index, resized(frame.rgb, self._size)

    # --- snapshots

    def latest_snapshot(self) -> int | None:
        """Last frame that has a snapshot; None if there is none."""
        return self._last_snapshot

    def snapshots(self) -> list[int]:
        """All frames that have a snapshot, ascending."""
        with self._reading():
            return self._snapshots.frames()

    def load_snapshot(self, frame: int) -> VideoSegmenter:
        """Segmenter as it was after the frame."""
        with self._reading(frame):
            return self._snapshots.load(frame)

    def newest_snapshot(self) -> tuple[int, VideoSegmenter] | None:
        """Frame and segmenter of the last snapshot that is not damaged; None if there is none.

        Raises SessionError if a snapshot cannot be read for another reason: it may be whole.
        """
        last = self._last_snapshot
        if last is None:
            return None
        with self._reading(last):
            for frame in reversed(self._snapshots.frames()):
                try:
                    if frame <= last:
                        return frame, self._snapshots.load(frame)
                except InvalidData:
                    continue
        return None

    def first_segmenter(self) -> VideoSegmenter:
        """Segmenter as it was before the first frame."""
        with self._reading():
            first = self._snapshots.load_first()
        return self.manifest.settings.segmenter() if first is None else first

    @contextmanager
    def _reading(self, index: int | None = None) -> Iterator[None]:
        what = f"'{self.path}'" if index is None else f"frame {index} of '{self.path}'"
        with reporting_errors(f"Cannot read {what}"):
            yield


@contextmanager
def reporting_errors(what: str, after: str = "") -> Iterator[None]:
    """Turn errors into a SessionError "WHAT: reason. AFTER": what failed, why, and what follows from it."""
    try:
        yield
    except (InvalidData, OSError) as error:
        raise SessionError(f"{what}: {reason(error)}. {after}".rstrip()) from error


def _ignore_damage(damage: DamagedFrame) -> None:
    """Skip a damaged frame without a report."""


def _picture_of(pictures: Iterator[tuple[int, Picture]], index: int) -> Picture:
    for found, rgb in pictures:
        if found == index:
            return rgb
        if found > index:
            break
    raise SessionError(f"Cannot read frame {index} of the source: the frame is missing. Has the source changed?")
