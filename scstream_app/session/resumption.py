"""Resume an interrupted session: the ids are the same as those of an uninterrupted run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scstream_app.errors import SessionError, SourceError
from scstream_app.pipeline.edits import Edit
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.pipeline.run import Notice, segment_frames
from scstream_app.render.image_types import resized
from scstream_app.session.run_writer import ensure_snapshot, with_inherited_births, write_run
from scstream_app.session.session import Session, checksum
from scstream_app.session.storage.manifest import FrameChecksum
from scstream_app.sources import Source

if TYPE_CHECKING:
    from scstream import Preview, VideoSegmenter


def resume(session: Session, source: Source, threads: int | None = None) -> Resumption:
    """Prepare to resume an interrupted session; raises SessionError if that is impossible.

    ``threads`` is the number of threads that the segmenter may use; None for one per core.
    """
    if threads is not None and (not isinstance(threads, int) or isinstance(threads, bool) or threads < 1):
        raise _refusal(session, f"threads must be a whole number >= 1, got {threads!r}")
    if source.live or session.manifest.source.live:
        raise _refusal(session, f"'{source.name}' is live, and its earlier frames cannot be read again")
    if session.recorded:
        raise _refusal(session, "it is a recording, which ends where it was stopped")
    check_source(session, source)
    _check_last_frame(session, source)
    snapshot = session.newest_snapshot()
    if snapshot is None:
        segmenter, previous, start = session.first_segmenter(), None, session.manifest.start
    else:
        previous = next(session.results(snapshot[0], snapshot[0] + 1, stored=True))
        segmenter, start = snapshot[1], snapshot[0] + 1
    _check_segmenter(session, segmenter, start - 1)
    session.forget_snapshots_after(None if snapshot is None else snapshot[0])
    segmenter.set_params(threads=threads)
    return Resumption(session, source, segmenter, previous, start)


@dataclass(frozen=True, slots=True)
class Resumption:
    """A session that is ready to be resumed.

    Parameters
    ----------
    segmenter : VideoSegmenter
        The segmenter of the last snapshot that is not damaged.
    previous : FrameResult, optional
        The frame of that snapshot.
    start : int
        The frame after it, where segmentation starts. Frames that the session already has are segmented again.
    """

    session: Session
    source: Source
    segmenter: VideoSegmenter
    previous: FrameResult | None
    start: int

    @property
    def repeated(self) -> int:
        """Number of frames that have to be segmented again."""
        return int(np.count_nonzero(self.session.frames >= self.start))

    def run(
        self,
        *,
        cancel: threading.Event | None = None,
        on_preview: Callable[[Preview], None] | None = None,
        on_notice: Callable[[Notice], None] | None = None,
        on_repeated: Callable[[int], None] | None = None,
        edits: Callable[[int], Sequence[Edit]] | None = None,
        open_end: bool = False,
    ) -> Generator[FrameResult]:
        """Segment the frames after the snapshot again, then new ones; write and yield the new ones.

        ``on_repeated`` is called for each repeated frame whose result equals the stored one. A different result raises
        SessionError. The stored edits of repeated frames are applied again; ``edits`` provides those of new frames, as
        in `segment_frames`. With ``open_end`` the run goes on after the session's range, until ``edits`` raises
        `EndOfRun`: the range may change meanwhile.
        """
        manifest = self.session.manifest
        if manifest.complete:
            return
        results = segment_frames(
            self.source,
            self.segmenter,
            start=self.start,
            stop=None if open_end else manifest.stop,
            cancel=cancel,
            scene_cuts=manifest.settings.scene_cuts,
            previous=self.previous,
            masks=self.session.masks,
            edits=self._edits(edits),
            on_preview=on_preview,
            on_notice=on_notice,
        )
        if self.previous is None:
            results = with_inherited_births(results)
        new = self._new(results, cancel, on_repeated or (lambda index: None))
        yield from write_run(self.session, new, self.segmenter, cancel)

    def _edits(self, new: Callable[[int], Sequence[Edit]] | None) -> Callable[[int], Sequence[Edit]]:
        last = int(self.session.frames[-1]) if len(self.session) else -1
        planned = list(planned_edits(self.session))

        def edits(index: int) -> Sequence[Edit]:
            if index <= last:
                return self.session.record(index).edits
            if len(self.session) and self.session.frames[-1] > last:
                planned.clear()
            return (*planned, *(new(index) if new is not None else ()))

        return edits

    def _new(
        self, results: Generator[FrameResult], cancel: threading.Event | None, on_repeated: Callable[[int], None]
    ) -> Generator[FrameResult]:
        """Yield the results that the session does not have; compare the others with the stored ones."""
        known = self.session.frames
        with closing(results):
            for index in known[known >= self.start].tolist():
                result = next(results, None)
                if result is None and _is_set(cancel):
                    return
                self._compare(index, result)
                on_repeated(index)
            if len(known):
                # If the run is interrupted again, these frames need not be segmented a third time.
                ensure_snapshot(self.session, self.segmenter)
            yield from results

    def _compare(self, index: int, result: FrameResult | None) -> None:
        stored = next(self.session.results(index, index + 1, stored=True))
        if (
            result is None
            or result.index != index
            or result.cut != stored.cut
            or result.events != stored.events
            or not np.array_equal(result.ids, stored.ids)
        ):
            raise _refusal(self.session, f"frame {index} has a different result than before. Has the source changed?")


def planned_edits(session: Session) -> tuple[Edit, ...]:
    """Edits that a branch makes before its first new frame; none once that frame is there."""
    point = session.branch_point
    if point is None or (len(session) and session.frames[-1] >= point.frame):
        return ()
    return point.edits


def check_source(session: Session, source: Source) -> None:
    """Raise SessionError if the source is not the session's: its size or its first frame differs."""
    facts, first = session.manifest.source, session.manifest.first_frame
    if (source.width, source.height) != (facts.width, facts.height):
        size, wanted = f"{source.width} x {source.height}", f"{facts.width} x {facts.height}"
        raise _wrong_source(session, source, f"its frames are {size}, those of the session are {wanted}.")
    if first is not None and not _has_picture(session, source, first):
        raise _wrong_source(session, source, f"its frame {first.index} is a different picture. Has the file changed?")


def _check_last_frame(session: Session, source: Source) -> None:
    """Raise SessionError if the source differs at the last frame whose checksum is known: not in older sessions.

    Only before resuming: for an export the seek could take as long as the export itself.
    """
    last = session.manifest.last_frame
    if last is not None and not _has_picture(session, source, last):
        why = f"its frame {last.index} is a different picture, although it begins like the source of the session."
        raise _wrong_source(session, source, f"{why} Is it another version of the clip?")


def _has_picture(session: Session, source: Source, known: FrameChecksum) -> bool:
    try:
        source.seek(known.index)
        frame = source.read()
    except SourceError:
        return False
    facts = session.manifest.source
    return frame is not None and checksum(resized(frame.rgb, (facts.height, facts.width))) == known.checksum


def _check_segmenter(session: Session, segmenter: VideoSegmenter, frame: int) -> None:
    facts = session.manifest.source
    expected = session.manifest.settings.segmenter()
    try:
        for edited in session.edited_records(frame + 1):
            for edit in edited.edits:
                expected.set_params(**edit.values)
    except (TypeError, ValueError) as error:
        raise _refusal(session, f"its edits up to frame {frame} are invalid") from error
    size = (facts.height, facts.width)
    if model_parameters(segmenter) != model_parameters(expected) or (segmenter.shape_ or size) != size:
        which = f"the snapshot of frame {frame}" if frame >= session.manifest.start else "the initial model"
        raise _refusal(session, f"{which} does not match the session's settings")


def model_parameters(segmenter: VideoSegmenter) -> dict[str, Any]:
    """Parameters of a segmenter that determine its results: all but ``threads``."""
    return {name: value for name, value in asdict(segmenter.parameters).items() if name != "threads"}


def _refusal(session: Session, why: str) -> SessionError:
    return SessionError(f"Cannot resume '{session.path}': {why.rstrip('.?')}{'?' if why.endswith('?') else '.'}")


def _wrong_source(session: Session, source: Source, why: str) -> SessionError:
    return SessionError(f"Cannot use '{source.name}' for '{session.path}': {why}")


def _is_set(cancel: threading.Event | None) -> bool:
    return cancel is not None and cancel.is_set()
