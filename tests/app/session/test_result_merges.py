"""Merges in the result change what is read from a session, and nothing that the run wrote."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from helpers.clips import write_images
from helpers.export_scenes import birth, death, merge, result, split, story
from helpers.fake_source import FakeSource
from helpers.session_clips import clip, recorded, volume
from scstream import Event
from scstream_app.errors import SessionError
from scstream_app.export.options import ExportOptions
from scstream_app.headless.export_job import export
from scstream_app.objects import MarkedObject
from scstream_app.pipeline.edits import Edit
from scstream_app.pipeline.frame_result import FrameResult, ObjectMasks
from scstream_app.session import Names, Session, resume
from scstream_app.session.branch import create_branch
from scstream_app.session.run_summary import RunSummary
from scstream_app.session.storage.branch_point import BranchPoint
from scstream_app.session.storage.result_merges import ResultMerge
from scstream_app.settings import Settings
from scstream_app.sources import open_source


def written(path: Path, results: Sequence[FrameResult]) -> Session:
    folder = write_images(path.with_name("frames"), [one.picture for one in results])
    with open_source(str(folder)) as source:
        session = Session.create(path, source, Settings())
    for one in results:
        session.append(one)
    session.finish()
    return session


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """Five frames: 1 splits at frame 2 into 1 and 3, and 0 absorbs 2 at frame 4."""
    return written(tmp_path / "a.scstream", story((24, 32)))


def summary_of(session: Session) -> RunSummary:
    summary = RunSummary()
    summary.extend(session.records())
    return summary


def kinds(session: Session, index: int) -> list[tuple[str, tuple[int, ...]]]:
    return [(str(event.kind), event.ids) for event in session.record(index).events]


def test_ids_statistics_and_events_are_those_of_one_segment(session: Session, tmp_path: Path) -> None:
    files = {path: path.read_bytes() for path in session.path.rglob("*") if path.is_file()}
    before, rows = volume(session), session.statistics(3)
    session.merges = [ResultMerge(frozenset({1, 3}), 1, frame=3)]
    after = volume(session)
    np.testing.assert_array_equal(after[:3], before[:3])
    np.testing.assert_array_equal(after[3:], np.where(before[3:] == 3, 1, before[3:]))
    merged = session.statistics(3)
    assert merged["id"].tolist() == [0, 2, 1]
    one, three, both = (part[part["id"] == id][0] for part, id in ((rows, 1), (rows, 3), (merged, 1)))
    assert both["pixels"] == one["pixels"] + three["pixels"]
    y, x = np.nonzero(after[3] == 1)
    assert (both["row"], both["column"]) == (pytest.approx(y.mean()), pytest.approx(x.mean()))
    np.testing.assert_allclose(both["covariance"][3:, 3:], np.cov(np.stack([y, x]), bias=True), rtol=1e-4)
    assert kinds(session, 2) == [("split", (1, 3))]
    assert kinds(session, 3) == [("merge", (1, 3))]
    summary = summary_of(session)
    assert summary.column("segments").tolist() == [3, 3, 4, 3, 2]
    assert (summary.lives[3].died, summary.lives[3].merged_into, summary.lives[1].died) == (3, 1, None)
    # Another process sees the same, and the run's own files did not change.
    np.testing.assert_array_equal(volume(Session.open(session.path)), after)
    assert {path: path.read_bytes() for path in files} == files


def test_without_a_merge_all_is_as_it_was(session: Session) -> None:
    before = volume(session)
    session.merges = [ResultMerge(frozenset({0, 1}), 0)]
    session.merges = []
    np.testing.assert_array_equal(volume(Session.open(session.path)), before)


def test_everywhere_the_segments_are_one_from_the_first_on(session: Session) -> None:
    session.merges = [ResultMerge(frozenset({1, 3}), 1)]
    assert kinds(session, 0) == [("birth", (0,)), ("birth", (1,)), ("birth", (2,))]
    assert kinds(session, 2) == []
    assert 3 not in summary_of(session).lives
    assert not np.isin(3, volume(session))


def events_of(tmp_path: Path, merges: Sequence[ResultMerge], *steps: tuple[Sequence[int], Sequence[Event]]) -> list:
    """Events after merges; each step has the live ids of a frame and its events."""
    results = [result(n, np.array([list(live)] * 2), events) for n, (live, events) in enumerate(steps)]
    width = max(len(live) for live, _ in steps)
    padded = [
        result(one.index, np.pad(one.ids, ((0, 0), (0, width - one.ids.shape[1])), "edge"), one.events)
        for one in results
    ]
    session = written(tmp_path / "e.scstream", padded)
    session.merges = merges
    return [kinds(session, index) for index in range(1, len(steps))]


BORN = [birth(0, id) for id in range(3)]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        # The union lives as long as one of its segments, also without the one whose id it has.
        ([((0, 1, 2), []), ((0, 2), [death(2, 1)]), ((0,), [death(3, 2)])], [[], [("death", (1,))]]),
        # One of both is absorbed by a third segment, then the other.
        ([((0, 1, 2), []), ((0, 1), [merge(2, 0, 2)]), ((0,), [merge(3, 0, 1)])], [[], [("merge", (0, 1))]]),
        # The run merges them itself; then the union splits.
        (
            [((0, 1, 2), []), ((0, 2), [merge(2, 2, 1)]), ((0, 2, 3), [split(3, 2, 3)])],
            [[], [("split", (1, 3))]],
        ),
        # It absorbs another one.
        ([((0, 1, 2), []), ((1, 2), [merge(2, 2, 0)])], [[("merge", (1, 0))]]),
    ],
)
def test_later_events_are_those_of_the_union(tmp_path: Path, steps: list, expected: list) -> None:
    merges = [ResultMerge(frozenset({1, 2}), 1, frame=1)]
    found = events_of(tmp_path, merges, ((0, 1, 2), BORN), *steps)
    assert found == [[("merge", (1, 2))], *expected]


def test_a_second_merge_takes_the_first_as_one(tmp_path: Path) -> None:
    merges = [ResultMerge(frozenset({1, 2}), 1, frame=1), ResultMerge(frozenset({0, 1}), 0, frame=2)]
    live = (0, 1, 2)
    found = events_of(tmp_path, merges, (live, BORN), (live, []), (live, []), ((0, 1), [death(3, 2)]))
    assert found == [[("merge", (1, 2))], [("merge", (0, 1))], []]
    assert Session.open(tmp_path / "e.scstream").ids(2).max() == 0


def test_masks_of_objects_are_valid_for_their_merges_only(session: Session) -> None:
    kite = [MarkedObject.made("kite", (1, 2, 3), 0, {1})]
    masks = ObjectMasks(np.ones((24, 32), np.uint8), (1.0,))
    for index in (2, 3):
        session.store_object_masks(index, masks, kite)
    session.merges = [ResultMerge(frozenset({1, 3}), 1, frame=3)]
    assert session.read_object_masks(2, kite) is not None
    assert session.read_object_masks(3, kite) is None
    session.merges = []
    assert session.read_object_masks(3, kite) is not None


def test_a_merged_session_resumes_and_branches(tmp_path: Path) -> None:
    recorded(tmp_path / "a.scstream", clip(8, None), snapshot_every=3)
    whole = volume(Session.open(tmp_path / "a.scstream"))
    ids = sorted(Session.open(tmp_path / "a.scstream").statistics(2)["id"].tolist())
    with Session.open(tmp_path / "a.scstream", writable=True) as session:
        session.merges = [ResultMerge(frozenset(ids[:2]), ids[0], 2), ResultMerge(frozenset(ids[1:3]), ids[1], 6)]
        point = BranchPoint(str(session.path), 5, (Edit("lock", ids[:1]),))
        create_branch(session, tmp_path / "b.scstream", point, Names())
    with Session.open(tmp_path / "b.scstream", writable=True) as branch:
        assert branch.merges == (ResultMerge(frozenset(ids[:2]), ids[0], 2),)
        for one in resume(branch, FakeSource(clip(8, None)), threads=1).run():
            assert ids[1] not in branch.relabelled(one).ids
    done = Session.open(tmp_path / "b.scstream")
    np.testing.assert_array_equal(np.stack([done.ids(n, stored=True) for n in range(5)]), whole[:5])
    assert not np.isin(ids[1], volume(done)[2:])


def test_a_damaged_file_is_set_aside(session: Session) -> None:
    session.merges = [ResultMerge(frozenset({1, 3}), 1)]
    session.close()
    (session.path / "merges.json").write_text('{"merges": [{"frame": 0, "into": 7, "ids": [1]}]}')
    with pytest.raises(SessionError, match="a merge takes two segments"):
        Session.open(session.path)
    with Session.open(session.path, writable=True) as opened:
        assert "renamed to merges.json.damaged" in opened.damage[0]
        assert opened.merges == ()


def test_a_failed_write_leaves_the_merges_as_they_were(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("scstream_app.session.storage.result_merges.write", full)
    with pytest.raises(SessionError, match="No space left"):
        session.merges = [ResultMerge(frozenset({1, 3}), 1)]
    assert session.merges == ()


def test_exports_contain_the_merged_result(session: Session, tmp_path: Path) -> None:
    session.merges = [ResultMerge(frozenset({1, 3}), 1, frame=3)]
    assert list(export(session, tmp_path / "out", ExportOptions(formats=("csv", "npz")))) == list(range(5))
    (volume_file,) = (tmp_path / "out").rglob("*.npz")
    np.testing.assert_array_equal(np.load(volume_file)["ids"], volume(session))
    tables = {path.name: path.read_text() for path in (tmp_path / "out").rglob("*.csv")}
    events = next(text for name, text in tables.items() if "events" in name).splitlines()
    assert any("merge" in line and line.startswith("3,") for line in events)
