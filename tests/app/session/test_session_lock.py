"""The lock of a session: one writer at a time, and none on a drive without locks."""

from __future__ import annotations

import errno
import logging
from pathlib import Path

import pytest

from helpers.clips import moving_square
from helpers.session_clips import recorded
from scstream_app import file_lock
from scstream_app.errors import SessionError
from scstream_app.session import Session


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS])
def test_a_drive_without_locks_is_written_without_one(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(descriptor: int) -> None:
        raise OSError(code, "No locks available")

    monkeypatch.setattr(file_lock, "_take", refuse)
    path = tmp_path / "clip.scstream"
    recorded(path, moving_square(1))
    with caplog.at_level(logging.WARNING), Session.open(path, writable=True) as session:
        assert len(session)
    assert f"'{path}' is written without a lock: its drive has none (No locks available)" in caplog.text


def test_other_failures_of_a_lock_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "clip.scstream"
    recorded(path, moving_square(1))

    def refuse(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(file_lock, "_take", refuse)
    with pytest.raises(SessionError, match="Input/output error"):
        Session.open(path, writable=True)
