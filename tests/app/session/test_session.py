"""Sessions: round trip, files readable by other programs, a single writer, and failed writes that lose no frame."""

from __future__ import annotations

import errno
import json
import math
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr

from helpers.clips import leftovers, locked_folder
from helpers.fake_source import FakeSource
from helpers.session_clips import QUICK, clip, recorded, recording, volume
from scstream import VideoSegmenter
from scstream.pixels.statistics import STATISTICS
from scstream_app import __version__
from scstream_app.errors import SessionError
from scstream_app.objects import ObjectEdit, mask_to_png
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.pipeline.run import segment_frames
from scstream_app.session import MarkedObject, Names, Session
from scstream_app.session.storage import files, marks
from scstream_app.session.storage.id_volume import GROWTH, IdVolume
from scstream_app.session.storage.records import RecordIndex
from scstream_app.settings import Settings
from scstream_app.sources import DamagedFrame


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[FrameResult]]:
    """Path of a complete session, which tests only read, and the results in it."""
    path = tmp_path_factory.mktemp("sessions") / "clip.scstream"
    return path, recorded(path, clip(), snapshot_every=3)


def empty_result(index: int, size: tuple[int, int] = (48, 64)) -> FrameResult:
    ids = np.full(size, index, np.int32)
    return FrameResult(index, index / 25.0, np.zeros((*size, 3), np.uint8), ids, (), np.zeros(2, STATISTICS))


# --- round trip


def test_results_are_read_back_unchanged(made: tuple[Path, list[FrameResult]]) -> None:
    path, results = made
    source = FakeSource(clip())
    session = Session.open(path)
    assert len(session) == len(results)
    assert session.frames.tolist() == [r.index for r in results]
    assert sum(len(r.events) for r in results) > len(np.unique(results[0].ids))
    for result, back in zip(results, session.results(source=source), strict=True):
        assert (back.index, back.time, back.cut) == (result.index, result.time, result.cut)
        assert back.events == result.events
        assert back.log_posterior == result.log_posterior
        assert back.milliseconds == pytest.approx(dict(result.milliseconds), abs=1e-3)
        np.testing.assert_array_equal(back.ids, result.ids)
        assert back.ids.dtype == np.int32
        np.testing.assert_array_equal(back.picture, result.picture)
        assert back.statistics.dtype == STATISTICS
        for name in STATISTICS.names:
            np.testing.assert_allclose(back.statistics[name], result.statistics[name], rtol=1e-6, err_msg=name)


def test_single_frames_are_read_back(made: tuple[Path, list[FrameResult]]) -> None:
    path, results = made
    session = Session.open(path)
    for result in reversed(results):
        np.testing.assert_array_equal(session.ids(result.index), result.ids)
        assert session.record(result.index).events == result.events
        np.testing.assert_array_equal(session.statistics(result.index)["id"], result.statistics["id"])
    assert [r.index for r in session.results(3, 6)] == [3, 4, 5]
    assert all(r.rgb is None for r in session.results(3, 6))
    assert [r.index for r in session.records(10)] == [10, 11]
    with pytest.raises(SessionError, match=r"frame 99 of .*no such frame"):
        session.ids(99)


def test_the_manifest_describes_the_run(made: tuple[Path, list[FrameResult]]) -> None:
    manifest = Session.open(made[0]).manifest
    assert manifest.complete
    assert manifest.settings.portable() == QUICK.portable()
    assert manifest.settings.threads is None
    assert (manifest.source.address, manifest.source.width, manifest.source.height) == ("clip.mp4", 64, 48)
    assert (manifest.source.length, manifest.source.rate, manifest.program) == (12, 25.0, __version__)
    assert manifest.first_frame is not None
    assert manifest.first_frame.index == 0


def test_a_range_and_damaged_frames(tmp_path: Path) -> None:
    items: list[Any] = clip(10, cut=None)
    items[4] = DamagedFrame("bad", 4)
    results = recorded(tmp_path / "a.scstream", items, start=2, stop=8, formats=["davis", "mp4"])
    session = Session.open(tmp_path / "a.scstream")
    assert session.frames.tolist() == [r.index for r in results] == [2, 3, 5, 6, 7]
    assert (session.manifest.start, session.manifest.stop, session.manifest.formats) == (2, 8, ("davis", "mp4"))
    ids = zarr.open_array(tmp_path / "a.scstream" / "ids.zarr", mode="r")
    assert ids.shape == (6, 48, 64)
    np.testing.assert_array_equal(ids[3], session.ids(5))
    assert np.all(ids[2] == -1)
    assert [r.index for r in session.results(source=FakeSource(items))] == [2, 3, 5, 6, 7]


def test_other_programs_open_the_ids(made: tuple[Path, list[FrameResult]]) -> None:
    path, results = made
    ids = zarr.open_array(path / "ids.zarr", mode="r")
    assert (ids.shape, ids.chunks, ids.dtype) == ((12, 48, 64), (1, 48, 64), np.int32)
    np.testing.assert_array_equal(ids[:], np.stack([r.ids for r in results]))
    # All chunks are in one folder.
    assert [entry.name for entry in (path / "ids.zarr").iterdir() if entry.is_dir()] == []


def test_other_programs_read_the_statistics(made: tuple[Path, list[FrameResult]]) -> None:
    path, results = made
    described = json.loads((path / "manifest.json").read_text())["statistics"]["record"]
    kind = np.dtype([(name, code, tuple(shape)) for name, code, shape in described])
    records = np.fromfile(path / "statistics.bin", kind)
    np.testing.assert_array_equal(records["id"], np.concatenate([r.statistics["id"] for r in results]))


def test_snapshots_are_saved_after_first_frames_and_regularly(made: tuple[Path, list[FrameResult]]) -> None:
    path, results = made
    session = Session.open(path)
    assert session.snapshots() == [0, 3, 6, 7, 10, 11]
    assert session.latest_snapshot() == 11
    loaded = session.load_snapshot(6)
    assert isinstance(loaded, VideoSegmenter)
    assert loaded.events_ == list(results[6].events)


def test_closing_sets_the_exact_length_of_the_volume(tmp_path: Path) -> None:
    run = recording(tmp_path / "a.scstream", clip(4, cut=None))
    next(run)
    assert zarr.open_array(tmp_path / "a.scstream" / "ids.zarr", mode="r").shape[0] == GROWTH
    run.close()
    assert zarr.open_array(tmp_path / "a.scstream" / "ids.zarr", mode="r").shape[0] == 1


def test_a_long_session_keeps_few_snapshots(tmp_path: Path) -> None:
    segmenter = QUICK.segmenter()
    segmenter.segment(clip()[0])
    with Session.create(tmp_path / "a.scstream", FakeSource(clip()), QUICK, snapshot_every=1) as session:
        for index in range(140):
            session.append(empty_result(index))
            session.snapshot(segmenter)
        kept = session.snapshots()
    assert len(kept) <= 66
    assert kept[0] == 0
    assert kept[-2:] == [138, 139]
    assert max(np.diff(kept)) <= 4


# --- the user's marks


def test_masks_of_older_sessions_are_read(made: tuple[Path, list[FrameResult]], tmp_path: Path) -> None:
    assert Session.open(made[0]).masks is None
    masks = np.arange(48 * 64, dtype=np.uint8).reshape(48, 64)
    recorded(tmp_path / "a.scstream", clip(2, cut=None), masks=masks)
    back = Session.open(tmp_path / "a.scstream").masks
    assert back is not None
    np.testing.assert_array_equal(back, masks)


def test_objects_are_there_from_the_beginning(tmp_path: Path) -> None:
    kite = MarkedObject.made("kite", (255, 0, 9), 0, {2})
    Session.create(tmp_path / "a.scstream", FakeSource(clip()), QUICK, objects=[kite]).close()
    assert Session.open(tmp_path / "a.scstream").objects == (kite,)


def test_objects_and_names_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "a.scstream"
    recorded(path, clip())
    mask = mask_to_png(np.eye(48, 64) > 0)
    edits = [ObjectEdit("made", 3, {2, 5}), ObjectEdit("added", 5, {7}, stop=9), ObjectEdit("painted", 6, {2}, mask)]
    objects = (MarkedObject("kite", (255, 0, 9), tuple(edits)), MarkedObject.made("Strand ☀", (1, 2, 3), 0, {0}))
    names = Names({4: "left/right", 1: "sea"}, {7: (0, 128, 255)}, frozenset({3}))
    assert (Session.open(path).objects, Session.open(path).names) == ((), Names())
    with Session.open(path, writable=True) as session:
        session.objects = objects
        session.names = names
        assert session.objects == objects
    again = Session.open(path)
    assert (again.objects, again.names) == (objects, names)
    assert leftovers(path) == []


def test_a_reader_sees_marks_that_are_set_while_it_is_open(tmp_path: Path) -> None:
    path = tmp_path / "a.scstream"
    recorded(path, clip(3))
    reader, names = Session.open(path), Names({4: "sea"})
    assert reader.names == Names()
    with Session.open(path, writable=True) as session:
        session.names = names
    assert reader.names == names


def test_marks_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.scstream"
    recorded(path, clip(3))
    with Session.open(path, writable=True) as session:
        session.names = Names({4: "sea"})
        monkeypatch.setattr(files, "parse", lambda *args: pytest.fail("read again"))
        assert (session.objects, session.names) == ((), Names({4: "sea"}))


def test_marks_do_not_wait_for_a_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    under_way, end = threading.Event(), threading.Event()
    source, segmenter = FakeSource(clip(2)), QUICK.segmenter()
    with Session.create(tmp_path / "a.scstream", source, QUICK) as session:
        session.append(next(segment_frames(source, segmenter)))

        def slow_disk(volume: IdVolume, positions: range) -> None:
            under_way.set()
            assert end.wait(60.0)

        monkeypatch.setattr(IdVolume, "sync", slow_disk)
        saving = threading.Thread(target=session.snapshot, args=(segmenter,))
        saving.start()
        assert under_way.wait(60.0)
        marking = threading.Thread(target=_mark, args=(session,))
        marking.start()
        marking.join(60.0)
        waits = marking.is_alive()
        end.set()
        saving.join()
        marking.join()
        assert not waits


def _mark(session: Session) -> None:
    session.names = Names({4: "sea"})
    session.objects = (*session.objects, MarkedObject.made("kite", (255, 0, 9), 0, {len(session.names.names)}))
    assert len(session.frames) == 1


def test_marks_are_flushed_before_they_replace_the_old_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    fsync, rename = os.fsync, os.replace

    def note(descriptor: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        fsync(descriptor)

    def check(old: Path, new: Path) -> None:
        # zarr.json can be restored from the manifest.
        assert str(old) in synced or new.name == "zarr.json"
        rename(old, new)

    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("this system does not tell which file a descriptor is of")
    monkeypatch.setattr(os, "fsync", note)
    monkeypatch.setattr(os, "replace", check)
    with Session.create(tmp_path / "a.scstream", FakeSource(clip()), QUICK) as session:
        session.objects = [MarkedObject.made("kite", (255, 0, 9), 0, {2})]
        session.names = Names({4: "sea"})


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("rtsp://me:sec@ret@host/door", "rtsp://me@host/door"),
        ("rtsp://me:s:e@host:554/a?b=1", "rtsp://me@host:554/a?b=1"),
        ("http://host/a", "http://host/a"),
        ("/films/me:secret@home.mp4", "/films/me:secret@home.mp4"),
    ],
)
def test_no_part_of_a_password_is_written(address: str, kept: str, tmp_path: Path) -> None:
    source = FakeSource(clip())
    source.address = address
    with Session.create(tmp_path / "a.scstream", source, QUICK) as session:
        assert session.manifest.source.address == kept
    assert Session.open(tmp_path / "a.scstream").manifest.source.address == kept


def test_a_list_of_many_images_is_a_session(tmp_path: Path) -> None:
    source = FakeSource(clip())
    source.address = "\n".join(
        f"/home/somebody/Bilder/Übungen/Aufnahme von heute/Bild_{n:06d}.jpg" for n in range(2000)
    )
    Session.create(tmp_path / "a.scstream", source, QUICK).close()
    assert Session.open(tmp_path / "a.scstream").manifest.source.address == source.address


@pytest.mark.parametrize("name", ["", "..", "a/b", "a\\b", "C:x", " a", "a.", "a\nb", "x" * 101, "a\x00"])
def test_the_name_of_an_object_must_be_a_valid_file_name(name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        MarkedObject.made(name, (0, 0, 0), 0, frozenset())


def test_two_objects_of_one_name_are_refused(tmp_path: Path) -> None:
    with Session.create(tmp_path / "a.scstream", FakeSource(clip()), QUICK) as session:
        with pytest.raises(SessionError, match="two objects named 'Kite'"):
            session.objects = [
                MarkedObject.made("kite", (0, 0, 0), 0, {1}),
                MarkedObject.made("Kite", (0, 0, 0), 0, {2}),
            ]
        assert session.objects == ()


def test_an_object_follows_the_genealogy_from_where_it_was_marked(made: tuple[Path, list[FrameResult]]) -> None:
    path, results = made
    session = Session.open(path)
    ids = frozenset(np.unique(results[2].ids).tolist())
    thing = MarkedObject.made("all", (0, 0, 0), 2, ids)
    members = {index: found for index, (found,) in session.members([thing])}
    assert list(members) == session.frames.tolist()
    assert members[0] == members[1] == frozenset()
    assert members[2] == ids
    for result in results[2:7]:
        assert set(np.unique(result.ids).tolist()) <= members[result.index]
    # All segments die at the scene cut.
    assert members[7] == frozenset()
    assert dict(session.members([thing], 4, 6)) == {4: (members[4],), 5: (members[5],)}


def test_a_removal_leaves_the_frames_before_it_unchanged(made: tuple[Path, list[FrameResult]]) -> None:
    path, results = made
    ids = frozenset(np.unique(results[2].ids).tolist())
    thing = MarkedObject.made("all", (0, 0, 0), 0, ids)
    with Session.open(path, writable=True) as session:
        session.objects = [thing]
        before = dict(session.members(session.objects))
        session.objects = [thing.with_edits([*thing.edits, ObjectEdit("removed", 4, before[4][0])])]
    session = Session.open(path)
    after = dict(session.members(session.objects))
    assert [after[index] for index in range(4)] == [before[index] for index in range(4)]
    assert before[4] != after[4] == (frozenset(),)


def test_objects_of_earlier_versions_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.scstream"
    recorded(path, clip(3))
    old = {"objects": [{"name": "kite", "colour": [255, 0, 9], "frame": 1, "ids": [2, 5]}]}
    (path / "objects.json").write_text(json.dumps(old))
    assert Session.open(path).objects == (MarkedObject.made("kite", (255, 0, 9), 1, {2, 5}),)
    with Session.open(path, writable=True) as session:
        session.objects = session.objects
    assert Session.open(path).objects == (MarkedObject.made("kite", (255, 0, 9), 1, {2, 5}),)


def test_a_mask_of_another_size_is_refused(tmp_path: Path) -> None:
    painted = ObjectEdit("painted", 0, {1}, mask_to_png(np.ones((48, 65), bool)))
    with Session.create(tmp_path / "a.scstream", FakeSource(clip()), QUICK) as session:
        with pytest.raises(SessionError, match="a mask is 65 x 48, the frames are 64 x 48"):
            session.objects = [MarkedObject("kite", (0, 0, 0), (painted,))]
        assert session.objects == ()


def test_objects_that_could_not_be_read_again_are_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marks, "LIMIT", 300)
    with Session.create(tmp_path / "a.scstream", FakeSource(clip()), QUICK) as session:
        with pytest.raises(SessionError, match=r"objects\.json would have \d+ bytes, the limit is 300"):
            session.objects = [MarkedObject.made("kite", (0, 0, 0), 0, range(100))]
        assert session.objects == ()


# --- creating and opening


def test_an_existing_session_is_overwritten_only_on_request(tmp_path: Path) -> None:
    path = tmp_path / "a.scstream"
    recorded(path, clip(3, cut=None))
    with pytest.raises(SessionError, match=r"Cannot create .*a\.scstream': it already exists"):
        Session.create(path, FakeSource(clip()), QUICK)
    assert len(Session.open(path)) == 3
    Session.create(path, FakeSource(clip()), QUICK, overwrite=True).close()
    assert len(Session.open(path)) == 0


def test_nothing_but_a_session_is_ever_overwritten(tmp_path: Path) -> None:
    folder = tmp_path / "photos.scstream"
    folder.mkdir()
    (folder / "photo.jpg").write_bytes(b"precious")
    with pytest.raises(SessionError, match="Cannot create"):
        Session.create(folder, FakeSource(clip()), QUICK, overwrite=True)
    assert (folder / "photo.jpg").read_bytes() == b"precious"
    (tmp_path / "file.scstream").write_text("x")
    with pytest.raises(SessionError, match="not a folder"):
        Session.create(tmp_path / "file.scstream", FakeSource(clip()), QUICK, overwrite=True)


def test_a_session_being_written_is_not_overwritten(tmp_path: Path) -> None:
    with (
        Session.create(tmp_path / "a.scstream", FakeSource(clip()), QUICK),
        pytest.raises(SessionError, match="another ScStream"),
    ):
        Session.create(tmp_path / "a.scstream", FakeSource(clip()), QUICK, overwrite=True)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"start": -1}, "start"),
        ({"start": 5, "stop": 5}, "stop"),
        ({"formats": ["../x"]}, "formats"),
        ({"snapshot_every": 0}, "snapshot_every"),
    ],
)
def test_a_session_that_could_not_be_read_back_is_not_created(
    options: dict[str, Any], why: str, tmp_path: Path
) -> None:
    with pytest.raises(SessionError, match=why):
        Session.create(tmp_path / "a.scstream", FakeSource(clip()), QUICK, **options)
    assert list(tmp_path.iterdir()) == []


def test_the_name_of_a_session_must_end_in_scstream(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match=r"must end in \.scstream"):
        Session.create(tmp_path / "a", FakeSource(clip()), QUICK)


def test_opening_anything_else_raises(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    no_session = r"it is not a session\. A session is a folder NAME\.scstream"
    for name, why in (("none", "no such folder"), ("file", no_session), ("", no_session)):
        for writable in (False, True):
            with pytest.raises(SessionError, match=rf"Cannot open .*: .*{why}"):
                Session.open(tmp_path / name, writable)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_folder_that_may_not_be_read_is_not_taken_for_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.scstream"
    recorded(path, clip(1, cut=None))
    see = os.lstat

    def lstat(place: Any, **options: Any) -> os.stat_result:
        if Path(place).parent == path:
            raise PermissionError(13, "Permission denied", str(place))
        return see(place, **options)

    monkeypatch.setattr(os, "lstat", lstat)
    with pytest.raises(SessionError, match="Permission denied"):
        Session.open(path)


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "a.scstream"
    run = recording(path, clip(3, cut=None))
    next(run)
    with pytest.raises(SessionError, match=r"a\.scstream': another ScStream process is writing to it\."):
        Session.open(path, writable=True)
    # Readers are still allowed.
    assert len(Session.open(path)) == 1
    next(run)
    assert len(Session.open(path)) == 2
    run.close()
    Session.open(path, writable=True).close()


def test_only_a_writable_session_is_written(made: tuple[Path, list[FrameResult]]) -> None:
    session = Session.open(made[0])
    for write in (lambda: session.append(made[1][-1]), session.sync, session.finish):
        with pytest.raises(SessionError, match="not open for writing"):
            write()
    with pytest.raises(SessionError, match="not open for writing"):
        session.names = Names()
    session.close()


def test_closing_twice_has_no_effect(tmp_path: Path) -> None:
    session = Session.create(tmp_path / "a.scstream", FakeSource(clip()), QUICK)
    assert session.writable
    session.close()
    session.close()
    assert not session.writable


def test_a_read_only_folder_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "a.scstream"
    recorded(path, clip(3, cut=None))
    (path / "lock").unlink()
    path.chmod(0o555)
    try:
        locked_folder(path)
        assert len(Session.open(path)) == 3
        with pytest.raises(SessionError, match=r"Cannot open .*Permission denied"):
            Session.open(path, writable=True)
    finally:
        path.chmod(0o755)


def test_a_read_only_disk_can_be_read(made: tuple[Path, list[FrameResult]], monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.open

    def read_only(path: Any, flags: int, *rest: Any, **options: Any) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise OSError(errno.EROFS, "Read-only file system")
        return real(path, flags, *rest, **options)

    monkeypatch.setattr(os, "open", read_only)
    assert len(volume(Session.open(made[0]))) == 12
    with pytest.raises(SessionError, match=r"Cannot open .*clip\.scstream': Read-only file system\.$"):
        Session.open(made[0], writable=True)


def test_a_folder_that_cannot_be_written_raises(tmp_path: Path) -> None:
    folder = locked_folder(tmp_path / "locked")
    with pytest.raises(SessionError, match=r"Cannot create .*Permission denied"):
        Session.create(folder / "a.scstream", FakeSource(clip()), QUICK)


# --- appending


@pytest.mark.parametrize(
    "wrong",
    [
        empty_result(0),
        empty_result(2, (48, 63)),
        FrameResult(2, 0.0, None, np.zeros((48, 64), np.int64), (), np.zeros(0, STATISTICS)),  # type: ignore[arg-type]
        FrameResult(2, 0.0, None, np.zeros((48, 64), np.int32), (), np.zeros(0, [("id", int)])),
    ],
)
def test_appending_an_invalid_frame_raises(wrong: FrameResult, tmp_path: Path) -> None:
    with Session.create(tmp_path / "a.scstream", FakeSource(clip()), QUICK) as session:
        session.append(empty_result(1))
        with pytest.raises(ValueError, match=r"order|ids|statistics"):
            session.append(wrong)
        assert len(session) == 1


def test_a_snapshot_needs_a_frame(tmp_path: Path) -> None:
    with (
        Session.create(tmp_path / "a.scstream", FakeSource(clip()), QUICK) as session,
        pytest.raises(ValueError, match="before the first frame"),
    ):
        session.snapshot(QUICK.segmenter())


def test_one_thread_may_read_what_another_appends(tmp_path: Path) -> None:
    with Session.create(tmp_path / "a.scstream", FakeSource(clip()), Settings(threads=1)) as session:
        failures: list[BaseException] = []

        def look_on() -> None:
            try:
                while len(session) < 200:
                    for index in session.frames.tolist()[-3:]:
                        assert session.ids(index).max() == index
                        assert len(session.statistics(index)) == 2
            except BaseException as error:
                failures.append(error)

        reader = threading.Thread(target=look_on)
        reader.start()
        for index in range(200):
            session.append(empty_result(index))
        reader.join()
    assert failures == []


STEPS = ("chunk", "statistics", "line", "metadata")


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("written", [0, 5])
def test_a_full_disk_keeps_the_frames_before(
    step: str, written: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.scstream"
    frames = clip(6, cut=None)
    # The volume's metadata is only written at its first frame.
    before = 0 if step == "metadata" else 2
    full = False

    def write(descriptor: int, data: bytes) -> None:
        kind = kind_of(descriptor, data)
        if full and kind == step:
            os.write(descriptor, data[:written])
            raise OSError(errno.ENOSPC, "No space left on device")
        os.write(descriptor, data)

    def kind_of(descriptor: int, data: bytes) -> str:
        if data[:4] == b"\x28\xb5\x2f\xfd":
            return "chunk"
        if data[:1] == b"{":
            return "line" if data.startswith(b'{"index"') else "metadata" if b"zarr_format" in data else "other"
        return "statistics"

    monkeypatch.setattr(files, "write_all", write)
    with Session.create(path, FakeSource(frames), QUICK) as session:
        results = [empty_result(index) for index in range(4)]
        for result in results[:before]:
            session.append(result)
        full = True
        with pytest.raises(SessionError) as caught:
            session.append(results[before])
        assert str(caught.value) == (
            f"Cannot write '{path}': No space left on device. The {before} frames so far are kept."
        )
        # As another process would open it now.
        assert len(Session.open(path)) == before
        full = False
        # The disk has room again.
        session.append(results[before])
    again = Session.open(path)
    assert again.frames.tolist() == list(range(before + 1))
    assert [int(ids[0, 0]) for ids in volume(again)] == list(range(before + 1))
    assert leftovers(path) == []


def test_an_interrupt_while_writing_leaves_complete_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.scstream"
    with Session.create(path, FakeSource(clip()), QUICK) as session:
        session.append(empty_result(0))
        with monkeypatch.context() as patch:

            def interrupted(index: RecordIndex, *arguments: int) -> None:
                raise KeyboardInterrupt

            patch.setattr(RecordIndex, "add", interrupted)
            with pytest.raises(KeyboardInterrupt):
                session.append(empty_result(1))
        session.append(empty_result(1))
        session.append(empty_result(2))
    assert Session.open(path).frames.tolist() == [0, 1, 2]
    assert [int(ids[0, 0]) for ids in volume(Session.open(path))] == [0, 1, 2]


@pytest.mark.parametrize("fails", range(7))
def test_a_full_disk_at_creation_leaves_no_files(fails: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk gets full after ``fails`` writes, while the session is created or opened."""
    written, calls = files.write_all, 0

    def full(descriptor: int, data: bytes) -> None:
        nonlocal calls
        calls += 1
        if calls > fails:
            raise OSError(errno.ENOSPC, "No space left on device")
        written(descriptor, data)

    monkeypatch.setattr(files, "write_all", full)
    path = tmp_path / "new" / "folder" / "s.scstream"
    with pytest.raises(SessionError, match="No space left"):
        Session.create(path, FakeSource(clip()), QUICK)
    assert list(tmp_path.iterdir()) == []


def test_a_new_session_that_cannot_be_opened_is_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("scstream_app.session.session.Lock", full)
    with pytest.raises(SessionError, match=r"s\.scstream': No space left"):
        Session.create(tmp_path / "s.scstream", FakeSource(clip()), QUICK)
    assert list(tmp_path.iterdir()) == []


def test_a_frame_is_read_without_reading_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(tmp_path / "a.scstream", clip(4, None))
    session = Session.open(tmp_path / "a.scstream")

    def copied(index: RecordIndex) -> None:
        raise AssertionError("the whole index was copied")

    monkeypatch.setattr(RecordIndex, "numbers", copied)
    assert [record.index for record in session.records(1, 3)] == [1, 2]
    assert [result.index for result in session.results(3)] == [3]


def test_measures_can_be_added_later(tmp_path: Path) -> None:
    recorded(tmp_path / "a.scstream", clip(2, None))
    with Session.open(tmp_path / "a.scstream", writable=True) as session:
        session.add_measures({0: {"uncertainty": 0.5, "churn": math.nan}})
        session.add_measures({1: {"churn": 0.25}})
    with pytest.raises(SessionError):
        session.add_measures({1: {"churn": 0.5}})
    found = dict(Session.open(tmp_path / "a.scstream").added_measures())
    assert found == {0: {"uncertainty": 0.5}, 1: {"churn": 0.25}}
