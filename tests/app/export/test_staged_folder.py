"""Formats with a file per frame replace those of an earlier export together, or not at all."""

import os
from dataclasses import replace

import cv2
import numpy as np
import pytest

from helpers.export_scenes import leftovers, result, story
from helpers.exports import export, full_disk, job_for, made_of, with_masks
from scstream_app.export import ExportError, atomic_files, staged_folder
from scstream_app.export.exporter import open_writer

OBJECTS = (made_of("ground", 0), made_of("kite", 1))
FORMATS = ["ids", "mean", "matte", "object", "davis", "yolo", "labelme"]


def content(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def other_results():
    """As `story`, but all of every frame is segment 1."""
    return [replace(one, ids=np.ones_like(one.ids), rgb=255 - one.rgb) for one in story()]


def begun(folder, name, results=None, count=3, **more):
    """A writer that has written some of its frames."""
    results = other_results() if results is None else results
    writer = open_writer(folder, name, job_for(results, **more))
    for one in list(with_masks(results, more.get("objects", ())))[:count]:
        writer.write(one)
    return writer


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_cancelled_leaves_the_earlier_files(tmp_path, name):
    export(tmp_path, name, story(), objects=OBJECTS)
    before = content(tmp_path)
    writer = begun(tmp_path, name, objects=OBJECTS)
    assert {path: data for path, data in content(tmp_path).items() if ".partial" not in str(path)} == before
    writer.abandon()
    assert content(tmp_path) == before
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_completed_replaces_them_all(tmp_path, name):
    export(tmp_path / "again", name, story(), objects=OBJECTS)
    for folder in ("again", "fresh"):
        export(tmp_path / folder, name, other_results(), objects=OBJECTS)
    assert content(tmp_path / "again") == content(tmp_path / "fresh")
    assert leftovers(tmp_path) == []


def test_what_fails_leaves_the_earlier_files(tmp_path, monkeypatch):
    export(tmp_path, "ids", story())
    before = content(tmp_path)
    writer = begun(tmp_path, "ids")
    monkeypatch.setattr(cv2, "imencode", full_disk)
    with pytest.raises(ExportError, match=r"00003\.png': No space left on device"):
        writer.write(other_results()[3])
    writer.close()
    assert content(tmp_path) == before


def test_what_is_killed_leaves_the_earlier_files_and_the_next_export_clears_up(tmp_path):
    export(tmp_path, "ids", story())
    before = content(tmp_path / "ids")
    begun(tmp_path, "ids")
    assert content(tmp_path / "ids") == before
    assert leftovers(tmp_path) == [tmp_path / ".ids.partial"]
    export(tmp_path, "ids", other_results())
    assert leftovers(tmp_path) == []
    assert content(tmp_path / "ids") != before


def test_files_of_the_user_and_other_frames_stay(tmp_path):
    export(tmp_path, "ids", story())
    (tmp_path / "ids" / "notes.txt").write_text("mine")
    (tmp_path / "ids" / "mine").mkdir()
    (tmp_path / "ids" / "mine" / "a.png").write_bytes(b"a")
    before = content(tmp_path / "ids")
    export(tmp_path, "ids", other_results()[1:3], remove_stale=False)
    after = content(tmp_path / "ids")
    changed = {str(path) for path in before if before[path] != after[path]}
    assert changed == {"00001.png", "00002.png"}
    assert before.keys() == after.keys()


def test_frames_that_are_not_written_again_are_removed(tmp_path):
    export(tmp_path, "ids", story())
    (tmp_path / "ids" / "mine.png").write_bytes(b"mine")
    export(tmp_path, "ids", other_results()[:2])
    assert sorted(map(str, content(tmp_path / "ids"))) == ["00000.png", "00001.png", "mine.png"]
    assert leftovers(tmp_path) == []


def test_an_export_that_skips_existing_files_goes_on_where_it_was_cancelled(tmp_path):
    export(tmp_path, "ids", story()[:1])
    begun(tmp_path, "ids", overwrite="skip").abandon()
    assert sorted(map(str, content(tmp_path / "ids"))) == ["00000.png", "00001.png", "00002.png"]
    export(tmp_path, "ids", story(), overwrite="skip")
    first, second, *_, last = (cv2.imread(str(tmp_path / f"ids/0000{n}.png"), -1) for n in range(5))
    np.testing.assert_array_equal(first, story()[0].ids + 1)
    np.testing.assert_array_equal(second, other_results()[1].ids + 1)
    np.testing.assert_array_equal(last, story()[4].ids + 1)


def test_a_file_that_cannot_be_moved_leaves_the_earlier_ones(tmp_path, monkeypatch):
    export(tmp_path, "ids", story())
    before, real = content(tmp_path), os.replace

    def stubborn(old, new):
        if str(new).endswith("ids/00003.png") and ".partial" in str(old):
            raise PermissionError(13, "Permission denied")
        real(old, new)

    monkeypatch.setattr(staged_folder.os, "replace", stubborn)
    with pytest.raises(ExportError, match=r"ids/00003\.png': Permission denied"):
        export(tmp_path, "ids", other_results())
    assert content(tmp_path) == before


def test_files_that_a_killed_export_was_replacing_are_moved_back(tmp_path, monkeypatch):
    export(tmp_path, "ids", story())
    before, real = content(tmp_path / "ids"), os.replace

    def killed(old, new):
        if str(new).endswith("ids/00003.png"):
            raise SystemExit
        real(old, new)

    with monkeypatch.context() as patched:
        patched.setattr(staged_folder.os, "replace", killed)
        patched.setattr(staged_folder, "_move_all", lambda *_: None)
        writer = begun(tmp_path, "ids", count=5)
        monkeypatch.setattr(writer, "_release", lambda: None)
        with pytest.raises(SystemExit):
            writer.close()
    assert content(tmp_path / "ids") != before
    staged_folder.clear(tmp_path / "ids")
    assert content(tmp_path / "ids") == before
    assert leftovers(tmp_path) == []


def test_a_file_that_a_killed_export_was_writing_is_removed(tmp_path):
    export(tmp_path, "ids", story())
    atomic_files.temporary_path(tmp_path / "ids" / "00007.png").write_bytes(b"half")
    export(tmp_path, "ids", story())
    assert leftovers(tmp_path) == []


def test_a_linked_folder_stays_a_link(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "ids").symlink_to(tmp_path / "elsewhere")
    for results in (story(), other_results()):
        export(tmp_path / "out", "ids", results)
    assert (tmp_path / "out" / "ids").is_symlink()
    np.testing.assert_array_equal(cv2.imread(str(tmp_path / "elsewhere/00004.png"), -1), other_results()[4].ids + 1)
    assert leftovers(tmp_path) == []


def test_the_first_export_shows_its_files_at_once(tmp_path):
    writer = begun(tmp_path, "ids", [result(n, np.zeros((8, 8), int)) for n in range(3)], count=2)
    assert sorted(map(str, content(tmp_path / "ids"))) == ["00000.png", "00001.png"]
    writer.close()
