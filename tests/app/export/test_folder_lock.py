"""Only one export at a time writes to a folder, and a second one leaves the first one's files alone."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.clips import leftovers
from helpers.export_scenes import story
from helpers.exports import job_for
from scstream_app import file_lock
from scstream_app.export import Exporter, ExportError
from scstream_app.file_lock import FileLock, Locked, check_free

RESULTS = story((48, 64))
FORMATS = ["ids", "npz", "csv", "mp4"]


def test_a_second_export_leaves_the_first_one_alone(tmp_path: Path) -> None:
    job = job_for(RESULTS, formats=FORMATS)
    with Exporter(tmp_path, job) as exporter:
        exporter.write(RESULTS[0])
        with pytest.raises(ExportError, match=r"^Cannot write to '.*': another ScStream process is writing"):
            Exporter(tmp_path, job)
        for result in RESULTS[1:]:
            exporter.write(result)
    assert all(path.exists() for path in exporter.paths)
    assert len(list((tmp_path / "ids").iterdir())) == len(RESULTS)
    assert leftovers(tmp_path) == []
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []
    with Exporter(tmp_path, job) as again:
        again.write(RESULTS[0])


def test_an_export_that_cannot_begin_releases_the_folder(tmp_path: Path) -> None:
    (tmp_path / "ids.npz").mkdir()
    with pytest.raises(ExportError, match="a folder of that name exists"):
        Exporter(tmp_path, job_for(RESULTS, formats=["npz"]))
    (tmp_path / "ids.npz").rmdir()
    Exporter(tmp_path, job_for(RESULTS, formats=["npz"])).abandon()
    assert list(tmp_path.iterdir()) == []


def test_a_drive_without_locks_is_written_without_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(descriptor: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(file_lock, "_take", refuse)
    with Exporter(tmp_path, job_for(RESULTS, formats=["ids"])) as exporter:
        exporter.write(RESULTS[0])
    assert [path.name for path in tmp_path.iterdir()] == ["ids"]


def test_the_message_names_the_process(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    code = (
        "import sys; from pathlib import Path; from scstream_app.file_lock import FileLock;"
        "FileLock(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(Locked, match=rf"another ScStream process is writing to it \(process {other.pid}\)"):
            FileLock(path)
        with pytest.raises(Locked):
            check_free(path)
        other.communicate("")
    FileLock(path).release()


def test_a_temporary_lock_that_was_deleted_meanwhile_is_taken_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lock"
    before, real = FileLock(path, temporary=True), file_lock._take
    waiting = [before]

    def take(descriptor: int) -> None:
        # The file was opened, and its owner deletes it before it is locked.
        if waiting:
            waiting.pop().release()
        real(descriptor)

    monkeypatch.setattr(file_lock, "_take", take)
    lock = FileLock(path, temporary=True)
    assert os.path.exists(path)
    with pytest.raises(Locked):
        FileLock(path, temporary=True)
    lock.release()
    assert not path.exists()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("important")
    (tmp_path / "lock").symlink_to(tmp_path / "file")
    with pytest.raises(OSError, match="symbolic links"):
        FileLock(tmp_path / "lock")
    assert (tmp_path / "file").read_text() == "important"
