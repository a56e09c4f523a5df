"""Bookmark of a session: round trip, and unreadable bookmarks that do not prevent opening."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from helpers.session_clips import clip, recorded
from scstream_app.errors import SessionError
from scstream_app.session import Bookmark, Session

PLACE = Bookmark(2, "mean_colour", frozenset({0, 3}))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.scstream"
    recorded(path, clip(4, cut=None))
    return path


def test_a_bookmark_is_read_back(path: Path) -> None:
    with Session.open(path, writable=True) as session:
        assert session.bookmark is None
        session.bookmark = PLACE
    assert Session.open(path).bookmark == PLACE


def test_setting_a_bookmark_needs_a_writable_session(path: Path) -> None:
    session = Session.open(path)
    with pytest.raises(SessionError, match="not open for writing"):
        session.bookmark = PLACE
    assert not (path / "bookmark.json").exists()


GOOD = PLACE.as_dict()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\xff",
        b"[" * 100_000,
        *(
            json.dumps(value).encode()
            for value in (
                None,
                [],
                {},
                {**GOOD, "frame": -1},
                {**GOOD, "frame": 1.5},
                {**GOOD, "frame": True},
                {**GOOD, "frame": 10**30},
                {**GOOD, "view": 3},
                {**GOOD, "view": "x" * 5_000},
                {**GOOD, "selected": 3},
                {**GOOD, "selected": ["sea"]},
                {**GOOD, "selected": [-1]},
            )
        ),
    ],
    ids=lambda content: content[:40].decode(errors="replace"),
)
def test_an_invalid_bookmark_reads_as_none(path: Path, content: bytes) -> None:
    (path / "bookmark.json").write_bytes(content)
    with Session.open(path, writable=True) as session:
        assert session.bookmark is None
        assert session.damage == ()
        assert len(session) == 4
        session.bookmark = PLACE
        assert session.bookmark == PLACE


def test_a_bookmark_that_is_too_large_reads_as_none(path: Path) -> None:
    (path / "bookmark.json").touch()
    os.truncate(path / "bookmark.json", 1 << 32)
    assert Session.open(path).bookmark is None


def test_a_link_is_neither_read_nor_written_through(path: Path, tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.json"
    foreign.write_text(json.dumps(GOOD))
    (path / "bookmark.json").symlink_to(foreign)
    with Session.open(path, writable=True) as session:
        assert session.bookmark is None
        session.bookmark = Bookmark(1, "overlay")
    assert json.loads(foreign.read_text()) == GOOD
    assert Session.open(path).bookmark == Bookmark(1, "overlay")
