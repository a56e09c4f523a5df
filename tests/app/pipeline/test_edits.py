"""Edits: each is made once during a run, recorded, and made again when the run is resumed."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.clips import moving_square
from helpers.fake_source import FakeSource
from helpers.session_clips import QUICK, clip, volume
from scstream import Preview
from scstream.sampler.genealogy import Kind
from scstream_app.errors import SettingsError
from scstream_app.pipeline.edits import Edit
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.pipeline.pending_edits import PendingEdits
from scstream_app.pipeline.run import Notice, segment_frames
from scstream_app.session import Session, resume, write_run
from scstream_app.settings import Settings

COUNT = 8
#: Frame -> what is done before it.
PLAN: dict[int, tuple[Edit, ...]] = {
    2: (Edit("merge", (0, 1)), Edit("lock", (2,))),
    4: (Edit("change", values={"decay": 1.0, "sweeps": 2}), Edit("split", (2,))),
    6: (Edit("restart", values={"scale": 0.5}), Edit("unlock", (2,))),
}


def planned(index: int) -> Sequence[Edit]:
    return PLAN.get(index, ())


def edited(path: Path, stop_after: int = COUNT, every: int = 50) -> list[FrameResult]:
    source, segmenter = FakeSource(clip(COUNT, cut=None)), QUICK.segmenter()
    with Session.create(path, source, QUICK, snapshot_every=every) as session:
        results = write_run(session, segment_frames(source, segmenter, edits=planned), segmenter)
        return [result for result, _ in zip(results, range(stop_after), strict=False)]


def test_edits_reach_the_model_before_their_frame(tmp_path: Path) -> None:
    results = edited(tmp_path / "a.scstream")
    merge = results[2].events[0]
    assert (merge.kind, set(merge.ids)) == (Kind.MERGE, {0, 1})
    assert not np.isin(results[2].ids, merge.ids[1]).any()
    assert [result.edits for result in results] == [PLAN.get(n, ()) for n in range(COUNT)]
    assert Kind.SPLIT in {event.kind for event in results[4].events}
    assert [result.cut for result in results] == [n == 6 for n in range(COUNT)]
    assert results[6].ids.min() > max(int(result.ids.max()) for result in results[:6])


def test_only_what_is_locked_stays_merged() -> None:
    def splits(*before: Edit) -> list[tuple[int, ...]]:
        source, segmenter = FakeSource(moving_square(20)), Settings(max_init_sweeps=20, threads=1).segmenter()
        edits = (*before, Edit("merge", (0, 2)))
        results = segment_frames(source, segmenter, edits=lambda index: edits if index == 3 else ())
        return [event.ids for result in results for event in result.events if event.kind is Kind.SPLIT]

    # Two flat areas of different colours: a merge of them does not last unless it is locked.
    assert {ids[0] for ids in splits()} == {0}
    # One of the ids is that of nothing any more.
    assert splits(Edit("lock", (0, 2))) == []


@pytest.mark.parametrize("after", [2, 3, 5, 7])
@pytest.mark.parametrize("every", [2, 50])
def test_a_resumed_run_makes_them_again(after: int, every: int, tmp_path: Path) -> None:
    edited(tmp_path / "whole.scstream")
    source, segmenter = FakeSource(clip(COUNT, cut=None)), QUICK.segmenter()
    with Session.create(tmp_path / "run.scstream", source, QUICK, snapshot_every=every) as session:
        running = write_run(session, segment_frames(source, segmenter, edits=planned), segmenter)
        for _ in range(after):
            next(running)
        # As a killed process leaves it.
        shutil.copytree(tmp_path / "run.scstream", tmp_path / "a.scstream")
        running.close()
    with Session.open(tmp_path / "a.scstream", writable=True) as session:
        asked: list[int] = []

        def new(index: int) -> Sequence[Edit]:
            asked.append(index)
            return planned(index)

        for _ in resume(session, FakeSource(clip(COUNT, cut=None)), 1).run(edits=new):
            pass
        assert asked == list(range(after, COUNT))
    with Session.open(tmp_path / "a.scstream") as session, Session.open(tmp_path / "whole.scstream") as whole:
        np.testing.assert_array_equal(volume(session), volume(whole))
        assert [r.edits for r in session.records()] == [r.edits for r in whole.records()]


def test_an_edit_that_cannot_be_made_is_said_and_left_out() -> None:
    notices: list[Notice] = []
    wanted = {2: (Edit("split", (0, 9999)), Edit("lock", (1,)))}
    segmenter = QUICK.segmenter()
    plain = list(segment_frames(FakeSource(clip(4, cut=None)), QUICK.segmenter()))
    results = list(
        segment_frames(
            FakeSource(clip(4, cut=None)), segmenter, edits=lambda i: wanted.get(i, ()), on_notice=notices.append
        )
    )
    (notice,) = notices
    assert (notice.kind, notice.frame) == ("edit", 2)
    assert "segment 9999 is not alive" in notice.text
    assert results[2].edits == (Edit("lock", (1,)),)
    np.testing.assert_array_equal(results[2].ids, plain[2].ids)
    assert segmenter.locked_ == {1}


def test_a_cancelled_frame_takes_its_edits_back() -> None:
    cancel = threading.Event()

    def edits(index: int) -> Sequence[Edit]:
        if index < 2:
            return ()
        cancel.set()
        return (Edit("merge", (0, 1)), Edit("restart"))

    segmenter = QUICK.segmenter()
    source = FakeSource(clip(4, cut=None))
    assert len(list(segment_frames(source, segmenter, cancel=cancel, edits=edits))) == 2
    expected = [result.ids for result in segment_frames(FakeSource(clip(4, cut=None)), QUICK.segmenter())]
    np.testing.assert_array_equal(segmenter.segment(clip(4, cut=None)[2]), expected[2])


def test_edits_of_a_cancelled_frame_wait_for_the_next_run() -> None:
    """As in the window: results and notices say which edits were made and which were refused."""
    pending, cancel, segmenter = PendingEdits(QUICK), threading.Event(), QUICK.segmenter()
    frames, first, results = clip(4, cut=None), True, list[FrameResult]()

    def asked(index: int) -> Sequence[Edit]:
        if index == 2 and first:
            pending.add(Edit("restart"))
            pending.add(Edit("lock", (9999,)))
        return pending.take()

    def stop(preview: Preview) -> None:
        if first and len(results) == 2:
            cancel.set()

    def hear(notice: Notice) -> None:
        assert notice.edit is not None
        pending.discard(notice.edit)

    for result in segment_frames(
        FakeSource(frames), segmenter, cancel=cancel, edits=asked, on_preview=stop, on_notice=hear
    ):
        pending.settle(result.edits)
        results.append(result)
    assert len(results) == 2
    assert pending.take()[0] == Edit("restart")
    first = False
    rest = segment_frames(FakeSource(frames), segmenter, start=2, previous=results[-1], edits=asked, on_notice=hear)
    for result in rest:
        pending.settle(result.edits)
        results.append(result)
    assert results[2].edits[0] == Edit("restart")
    assert results[2].cut
    assert not results[3].edits
    assert pending.take() == ()


def test_an_edit_that_cannot_be_made_waits_no_longer() -> None:
    pending, notices = PendingEdits(QUICK), list[Notice]()
    pending.add(Edit("split", (9999,)))
    list(
        segment_frames(
            FakeSource(clip(2, cut=None)),
            QUICK.segmenter(),
            edits=lambda i: pending.take() if i else (),
            on_notice=notices.append,
        )
    )
    assert [notice.edit for notice in notices] == [Edit("split", (9999,))]
    pending.discard(Edit("split", (9999,)))
    assert pending.take() == ()


@pytest.mark.parametrize(
    ("kind", "ids", "values", "message"),
    [
        ("explode", (), {}, "there is no edit 'explode'"),
        ("merge", (3, 3), {}, "at least 2 segments"),
        ("split", (), {}, "at least 1 segments"),
        ("lock", (-1,), {}, "at least 1 segments"),
        ("lock", (2**31,), {}, "at least 1 segments"),
        ("lock", ("x",), {}, "at least 1 segments"),
        ("lock", (1.5,), {}, "at least 1 segments"),
        ("lock", 7, {}, "at least 1 segments"),
        ("lock", (1,), [], "takes settings by name"),
        ("lock", (1,), None, "takes settings by name"),
        ("change", (), {"speed": 1}, "'speed' is no setting that can change"),
        ("change", (), {"scene_cuts": False}, "'scene_cuts' is no setting that can change"),
        ("change", (), {"decay": -1.0}, "decay must be a number"),
    ],
)
def test_senseless_edits_are_refused(kind: Any, ids: tuple[int, ...], values: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        Edit(kind, ids, values)
