"""Library of unsaved sessions: new paths, listing, deleting, saving and moving sessions."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest

from helpers.clips import moving_square, write_images
from helpers.export_scenes import story
from scstream_app.errors import SessionError
from scstream_app.session import UNSAVED, Session, library
from scstream_app.session.library import Library, copy_session, discard, is_unsaved, move_session
from scstream_app.settings import Settings
from scstream_app.sources import open_source


def make(path: Path, frames: int = 3, unsaved: bool = True) -> Path:
    """Session with ``frames`` frames."""
    folder = write_images(path.parent / f"{path.stem} frames", moving_square(2, 24, 32))
    with open_source(str(folder)) as source, Session.create(path, source, Settings(), unsaved=unsaved) as session:
        for result in story((24, 32))[:frames]:
            session.append(result)
    return path


def frames_of(path: Path) -> int:
    with Session.open(path) as session:
        return len(session)


# --- names


@pytest.mark.parametrize(
    ("address", "stem"),
    [
        ("/a/clip.mp4", "clip"),
        ("camera:0", "camera_0"),
        ("rtsp://me:secret@10.0.0.7/door", "door"),
        ("rtsp://me:secret@10.0.0.7", "10.0.0.7"),
        ("rtsp://me:secret@[10", "stream"),
        ("/a/walk/1.png\n/a/walk/2.png", "walk"),
        ("...", "video"),
    ],
)
def test_a_session_is_called_after_its_source(tmp_path: Path, address: str, stem: str) -> None:
    path = Library(tmp_path).new_path(address)
    assert path.name.startswith(f"{stem} 2")
    assert "secret" not in str(path)


def test_a_long_name_is_cut(tmp_path: Path) -> None:
    path = Library(tmp_path).new_path("é" * 300)
    make(path)
    assert path.name.startswith("é" * 100 + " ")


def test_no_two_sessions_get_the_same_path(tmp_path: Path) -> None:
    sessions = Library(tmp_path)
    assert len({sessions.new_path("clip.mp4") for _ in range(3)}) == 3


def test_an_unusable_folder_raises(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SessionError, match=r"Cannot store sessions in '.*file/sessions': Not a directory"):
        Library(tmp_path / "file" / "sessions").new_path("clip.mp4")


# --- unsaved sessions


def test_only_unsaved_sessions_with_frames_are_listed(tmp_path: Path) -> None:
    one, three = make(tmp_path / "one.scstream", 1), make(tmp_path / "three.scstream", 3)
    make(tmp_path / "empty.scstream", 0)
    make(tmp_path / "saved.scstream", 3, unsaved=False)
    (make(tmp_path / "damaged.scstream") / "manifest.json").write_text("{")
    os.utime(one, (0, 0))
    listed = Library(tmp_path).unsaved_sessions()
    assert listed == [("three frames\n3 frames", str(three)), ("one frames\n1 frame", str(one))]


def test_an_incomplete_line_does_not_count_as_a_frame(tmp_path: Path) -> None:
    path = make(tmp_path / "a.scstream", 3)
    lines = (path / "frames.jsonl").read_bytes()
    (path / "frames.jsonl").write_bytes(lines[:-5])
    assert Library(tmp_path).unsaved_sessions() == [("a frames\n2 frames", str(path))]


def test_deleting_stale_sessions_keeps_saved_and_open_ones(tmp_path: Path) -> None:
    old, saved, open_ = (make(tmp_path / f"{n}.scstream", unsaved=n != "saved") for n in ("old", "saved", "open"))
    with Session.open(open_, writable=True):
        assert Library(tmp_path).delete_stale() == 1
    assert not old.exists()
    assert frames_of(saved) == frames_of(open_) == 3


def test_only_deleted_sessions_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path / "a.scstream")
    stuck = make(tmp_path / "b.scstream")
    real = shutil.rmtree
    monkeypatch.setattr(library.shutil, "rmtree", lambda path, **how: None if path == stuck else real(path, **how))
    assert Library(tmp_path).delete_stale() == 1
    assert stuck.exists()


def test_discarding_keeps_saved_and_open_sessions(tmp_path: Path) -> None:
    saved, open_ = make(tmp_path / "saved.scstream", unsaved=False), make(tmp_path / "open.scstream")
    discard(saved)
    with Session.open(open_, writable=True):
        discard(open_)
    assert frames_of(saved) == frames_of(open_) == 3
    discard(open_)
    assert not open_.exists()


# --- moving


@pytest.fixture(params=["one disk", "two disks"])
def disks(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parameter: whether the folder "library" is on another disk."""
    real = os.rename

    def rename(old: Path, new: Path) -> None:
        if (tmp_path / "library" in old.parents) != (tmp_path / "library" in new.parents):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        real(old, new)

    if request.param == "two disks":
        monkeypatch.setattr(library.os, "rename", rename)


@pytest.mark.usefixtures("disks")
def test_a_moved_session_is_saved(tmp_path: Path) -> None:
    path, target = make(tmp_path / "library" / "a.scstream"), tmp_path / "mine.scstream"
    move_session(path, target)
    assert not path.exists()
    assert not is_unsaved(target)
    assert frames_of(target) == 3


@pytest.mark.usefixtures("disks")
def test_a_moved_session_replaces_another(tmp_path: Path) -> None:
    path = make(tmp_path / "library" / "a.scstream")
    target = make(tmp_path / "mine.scstream", 1, unsaved=False)
    move_session(path, target)
    assert frames_of(target) == 3
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["library", "mine frames", "mine.scstream"]


@pytest.mark.parametrize("disks", ["two disks"], indirect=True)
@pytest.mark.usefixtures("disks")
def test_nobody_can_open_or_delete_a_session_while_it_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, real = make(tmp_path / "library" / "a.scstream"), library.copy_folder
    tried = []

    def copy(*args: object) -> None:
        with pytest.raises(SessionError, match="another ScStream process"):
            Session.open(path, writable=True)
        tried.append(discard(path))
        real(*args)

    monkeypatch.setattr(library, "copy_folder", copy)
    move_session(path, tmp_path / "mine.scstream")
    assert tried == [False]
    assert frames_of(tmp_path / "mine.scstream") == 3
    assert not path.exists()


def both(tmp_path: Path) -> tuple[Path, Path]:
    return make(tmp_path / "library" / "a.scstream"), make(tmp_path / "mine.scstream", 1, unsaved=False)


def check_nothing_happened(tmp_path: Path, path: Path, target: Path) -> None:
    assert frames_of(path) == 3
    assert is_unsaved(path)
    assert frames_of(target) == 1
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["library", "mine frames", "mine.scstream"]


def test_a_move_that_fails_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, target = both(tmp_path)
    real = os.rename

    def rename(old: Path, new: Path) -> None:
        if old == path:
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        real(old, new)

    monkeypatch.setattr(library.os, "rename", rename)
    with pytest.raises(SessionError, match=r"Cannot save '.*mine.scstream': Permission denied"):
        move_session(path, target)
    check_nothing_happened(tmp_path, path, target)


@pytest.mark.parametrize("disks", ["two disks"], indirect=True)
@pytest.mark.usefixtures("disks")
def test_a_copy_that_fails_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, target = both(tmp_path)

    with pytest.raises(SessionError, match=r"Cannot save '.*No space left on device"):
        move_session(path, target, full_disk)
    check_nothing_happened(tmp_path, path, target)


# --- copying


def full_disk(done: int, total: int) -> None:
    """Fails after the first part of a copy, as a disk does that becomes full."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def content(path: Path) -> dict[str, bytes]:
    """All files of a session except its lock."""
    found = [file for file in path.rglob("*") if file.is_file() and file.name != "lock"]
    return {str(file.relative_to(path)): file.read_bytes() for file in found}


@pytest.mark.parametrize("replaced", [False, True])
def test_a_copy_leaves_the_session_as_it_is(tmp_path: Path, replaced: bool) -> None:
    path, target = make(tmp_path / "a.scstream", unsaved=False), tmp_path / "b.scstream"
    before = content(path)
    if replaced:
        make(target, 1, unsaved=False)
    steps: list[tuple[int, int]] = []
    copy_session(path, target, lambda done, total: steps.append((done, total)))
    assert content(path) == content(target) == before
    assert steps[-1] == (sum(map(len, before.values())),) * 2
    with Session.open(target, writable=True) as session:
        session.append(story((24, 32))[3])
    assert (frames_of(path), frames_of(target)) == (3, 4)
    assert content(path) == before


@pytest.mark.parametrize(
    "problem", ["disk becomes full", "disk is full", "cancelled", "name", "inside", "open", "link"]
)
def test_a_copy_that_fails_leaves_nothing(problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, target = make(tmp_path / "a.scstream", unsaved=False), make(tmp_path / "b.scstream", 1, unsaved=False)

    def cancel(done: int, total: int) -> None:
        raise SessionError("Saving was cancelled.")

    progress = {"disk becomes full": full_disk, "cancelled": cancel}.get(problem)
    to = {"name": tmp_path / "b.txt", "inside": path / "b.scstream"}.get(problem, target)
    if problem == "disk is full":
        monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=100))
    if problem == "link":
        (path / "link").symlink_to(tmp_path)
    before = sorted(map(str, tmp_path.rglob("*"))), content(path), content(target)
    with ExitStack() as stack:
        if problem == "open":
            stack.enter_context(Session.open(path, writable=True))
        stack.enter_context(pytest.raises(SessionError))
        copy_session(path, to, progress)
    assert (sorted(map(str, tmp_path.rglob("*"))), content(path), content(target)) == before


@pytest.mark.usefixtures("disks")
def test_a_marker_that_cannot_be_removed_changes_nothing(tmp_path: Path) -> None:
    path, target = both(tmp_path)
    (path / UNSAVED).unlink()
    # A folder, which unlink cannot delete.
    (path / UNSAVED).mkdir()
    with pytest.raises(SessionError, match=r"Cannot save '.*mine.scstream'"):
        move_session(path, target)
    check_nothing_happened(tmp_path, path, target)


def test_only_a_session_is_replaced(tmp_path: Path) -> None:
    path, target = make(tmp_path / "a.scstream"), tmp_path / "photos.scstream"
    target.mkdir()
    (target / "me.jpg").write_text("")
    with pytest.raises(SessionError, match="Cannot save"):
        move_session(path, target)
    assert (target / "me.jpg").exists()
    assert frames_of(path) == 3
