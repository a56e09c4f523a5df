"""Tests of the small pictures of clips: they are read once, and the cache stays small."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from helpers.clips import moving_square, write_images, write_video
from helpers.session_clips import recorded
from scstream_app import thumbnails
from scstream_app.sources import Source, open_source


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setattr(thumbnails, "cache_folder", lambda: folder)
    return folder


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Addresses of the sources that are opened."""
    addresses: list[str] = []

    def open_(address: str) -> Source:
        addresses.append(address)
        return open_source(address)

    monkeypatch.setattr(thumbnails, "open_source", open_)
    return addresses


def test_a_picture_is_read_once_until_the_clip_changes(tmp_path: Path, cache: Path, opened: list[str]) -> None:
    frames = moving_square(3, height=216, width=384)
    clip = write_video(tmp_path / "clip.mp4", frames)
    first = thumbnails.thumbnail(str(clip))
    assert first.shape == (108, 192, 3)
    assert np.abs(first.astype(int).mean(axis=(0, 1)) - frames[0].mean(axis=(0, 1))).max() < 4.0
    second = thumbnails.thumbnail(str(clip))
    assert np.abs(first.astype(int) - second).mean() < 4.0
    assert opened == [str(clip)]
    write_video(clip, [255 - frame for frame in frames])
    os.utime(clip, ns=(1, 1))
    assert np.abs(thumbnails.thumbnail(str(clip)).astype(int) - first).mean() > 40.0
    assert len(list(cache.iterdir())) == 2


def test_folders_lists_and_sessions_have_pictures(tmp_path: Path) -> None:
    folder = write_images(tmp_path / "frames", moving_square(3))
    images = "\n".join(str(path) for path in sorted(folder.iterdir()))
    for address in (str(folder), images):
        assert thumbnails.thumbnail(address).shape == (48, 64, 3)
    recorded(tmp_path / "a.scstream", moving_square(2))
    # The source of that session is not a file.
    assert thumbnails.thumbnail(str(tmp_path / "a.scstream")) is None


@pytest.mark.parametrize("address", ["camera:0", "http://127.0.0.1:9/clip.mp4", "gone.mp4", "gone.scstream", "\0"])
def test_other_addresses_have_none_and_are_not_opened(address: str, opened: list[str]) -> None:
    assert thumbnails.thumbnail(address) is None
    assert opened == []


@pytest.mark.parametrize("address", ["//host/share/clip.mp4", r"\\\\host\share\clip.mp4", "smb://host/share/clip.mp4"])
def test_other_hosts_are_not_asked(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = tmp_path / "clip.scstream"
    recorded(session, moving_square(1))
    manifest = json.loads((session / "manifest.json").read_text())
    manifest["source"]["address"] = address
    (session / "manifest.json").write_text(json.dumps(manifest))
    asked: list[str] = []
    stat = Path.stat

    def watched(path: Path, **options: bool) -> os.stat_result:
        asked.append(str(path))
        return stat(path, **options)

    monkeypatch.setattr(Path, "stat", watched)
    assert thumbnails.thumbnail(str(session)) is None
    assert thumbnails.thumbnail(address) is None
    assert [path for path in asked if "host" in path] == []


def test_a_broken_clip_has_none(tmp_path: Path) -> None:
    (tmp_path / "broken.mp4").write_bytes(b"no video at all " * 50)
    assert thumbnails.thumbnail(str(tmp_path / "broken.mp4")) is None


def test_a_damaged_picture_is_made_again(tmp_path: Path, cache: Path) -> None:
    clip = str(write_video(tmp_path / "clip.mp4", moving_square(2)))
    first = thumbnails.thumbnail(clip)
    (file,) = cache.iterdir()
    file.write_bytes(b"no picture")
    np.testing.assert_array_equal(thumbnails.thumbnail(clip), first)
    assert file.stat().st_size > 100


def test_the_oldest_pictures_are_deleted(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thumbnails, "_MOST", 2)
    for number in range(4):
        folder = write_images(tmp_path / f"clip {number}", moving_square(1))
        assert thumbnails.thumbnail(str(folder)) is not None
        for age, file in enumerate(sorted(cache.iterdir(), key=lambda file: file.stat().st_mtime_ns)):
            os.utime(file, (1e9 + age, 1e9 + age))
    assert len(list(cache.iterdir())) == 2


def test_a_cache_that_cannot_be_written_is_no_obstacle(tmp_path: Path, cache: Path) -> None:
    cache.write_text("not a folder")
    assert thumbnails.thumbnail(str(write_images(tmp_path / "frames", moving_square(1)))) is not None
