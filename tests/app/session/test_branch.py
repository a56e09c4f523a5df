"""A branch of a session shares the frames before its first new one, and goes on from there with its edits."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from helpers.fake_source import FakeSource
from helpers.session_clips import clip, recorded, volume
from scstream_app.errors import SessionError
from scstream_app.objects import MarkedObject
from scstream_app.pipeline.edits import Edit
from scstream_app.pipeline.frame_result import ObjectMasks
from scstream_app.session import Names, Session, resume
from scstream_app.session import branch as branching
from scstream_app.session.branch import create_branch
from scstream_app.session.storage.branch_point import BranchPoint, WaitingMarks

COUNT, CUT = 12, 7


@pytest.fixture(scope="module")
def parent(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A complete run with snapshots of frames 0, 4, 7 and 11, a name and an object with masks."""
    path = tmp_path_factory.mktemp("parent") / "whole.scstream"
    recorded(path, clip(COUNT, CUT), snapshot_every=4)
    kite = MarkedObject.made("kite", (1, 2, 3), 0, {0})
    with Session.open(path, writable=True) as session:
        session.objects = [kite]
        for index in range(COUNT):
            session.store_object_masks(index, ObjectMasks(np.ones((48, 64), np.uint8), (1.0,)), [kite])
        session.add_measures({2: {"churn": 0.25}, 9: {"churn": 0.5}})
    return Session.open(path)


def content(session: Session) -> dict[str, bytes]:
    """Bytes of all files of a session."""
    files = (path for path in session.path.rglob("*") if path.is_file() and path.name != "lock")
    return {str(path.relative_to(session.path)): path.read_bytes() for path in files}


def branch(parent: Session, path: Path, frame: int, *edits: Edit) -> Path:
    point = BranchPoint(str(parent.path), frame, edits)
    create_branch(parent, path, point, Names({0: "sea"}), parent.objects)
    return path


def run(path: Path, frames: int | None = None) -> None:
    """Segment the rest, or some more frames, as a process that is closed then."""
    with Session.open(path, writable=True) as session:
        results = resume(session, FakeSource(clip(COUNT, CUT)), threads=1).run()
        for _ in zip(results, range(COUNT if frames is None else frames), strict=False):
            pass
        results.close()


@pytest.mark.parametrize("frame", [0, 5, CUT, COUNT - 1])
def test_without_an_edit_a_branch_repeats_the_run(frame: int, parent: Session, tmp_path: Path) -> None:
    before = content(parent)
    path = branch(parent, tmp_path / "b.scstream", frame)
    fresh = Session.open(path)
    assert fresh.frames.tolist() == list(range(frame))
    assert not fresh.manifest.complete
    assert (path / "unsaved").exists()
    assert fresh.names == Names({0: "sea"})
    assert dict(fresh.added_measures()).keys() == {index for index in (2, 9) if index < frame}
    run(path)
    done = Session.open(path)
    assert done.manifest.complete
    np.testing.assert_array_equal(volume(done), volume(parent))
    for index in range(COUNT):
        assert (done.read_object_masks(index, parent.objects) is not None) == (index < frame)
    # Shared files must not change through the branch.
    assert content(parent) == before


def test_an_edit_is_made_before_the_first_new_frame_only(parent: Session, tmp_path: Path) -> None:
    ids = sorted(parent.statistics(4)["id"].tolist())
    path = branch(parent, tmp_path / "b.scstream", 5, Edit("merge", ids[:2]))
    run(path)
    done = Session.open(path)
    np.testing.assert_array_equal(volume(done)[:5], volume(parent)[:5])
    assert [(record.index, record.edits) for record in done.edited_records(COUNT)] == [(5, (Edit("merge", ids[:2]),))]
    assert len(done.statistics(5)) < len(parent.statistics(5))


@pytest.mark.parametrize("frames", [0, 2])
def test_a_branch_that_is_left_resumes_with_its_edit(frames: int, parent: Session, tmp_path: Path) -> None:
    ids = sorted(parent.statistics(4)["id"].tolist())
    for name in ("whole", "left"):
        branch(parent, tmp_path / f"{name}.scstream", 5, Edit("lock", ids[:2]), Edit("merge", ids[:2]))
    run(tmp_path / "whole.scstream")
    run(tmp_path / "left.scstream", frames)
    run(tmp_path / "left.scstream")
    one, other = Session.open(tmp_path / "left.scstream"), Session.open(tmp_path / "whole.scstream")
    np.testing.assert_array_equal(volume(one), volume(other))
    assert [record.index for record in one.edited_records(COUNT)] == [5]


def test_deleting_the_old_session_leaves_the_branch_whole(parent: Session, tmp_path: Path) -> None:
    shutil.copytree(parent.path, tmp_path / "old.scstream")
    path = branch(Session.open(tmp_path / "old.scstream"), tmp_path / "b.scstream", 6)
    shutil.rmtree(tmp_path / "old.scstream")
    run(path)
    np.testing.assert_array_equal(volume(Session.open(path)), volume(parent))


def test_files_are_copied_where_there_are_no_hard_links(
    parent: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object, **_options: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    path = branch(parent, tmp_path / "b.scstream", 6)
    np.testing.assert_array_equal(volume(Session.open(path)), volume(parent)[:6])


def test_a_full_disk_leaves_nothing(parent: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(branching, "_copy", full)
    with pytest.raises(SessionError, match="No space left on device"):
        branch(parent, tmp_path / "b.scstream", 6)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_branch_point_is_reported(parent: Session, tmp_path: Path) -> None:
    path = branch(parent, tmp_path / "b.scstream", 6)
    (path / "branch.json").write_text('{"parent": "x", "frame": -1, "edits": [], "waiting": {}}')
    with Session.open(path, writable=True) as session, pytest.raises(SessionError, match="Cannot read"):
        list(resume(session, FakeSource(clip(COUNT, CUT))).run())


def test_waiting_marks_survive_writing_and_reading(parent: Session, tmp_path: Path) -> None:
    path = branch(parent, tmp_path / "b.scstream", 6)
    waiting = WaitingMarks(
        Names({9: "boat"}, {9: (1, 2, 3)}, frozenset({11})),
        {9: 8, 11: 10},
        (MarkedObject.made("kite", (1, 2, 3), 9, {9}),),
        ("kite",),
    )
    with Session.open(path, writable=True) as session:
        session.set_waiting_marks(waiting)
    point = Session.open(path).branch_point
    assert point is not None
    assert (point.waiting, point.frame, point.waiting.first) == (waiting, 6, 8)
