"""The address in a session that may come from somebody else is not opened unasked."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from helpers.clips import moving_square, write_images
from helpers.fake_source import FakeSource
from helpers.session_clips import QUICK, clip, recording
from scstream_app import cli
from scstream_app.headless import export_job
from scstream_app.session import Session

ADDRESSES = [
    "http://127.0.0.1:9/clip.mp4?channel=1",
    "camera:0",
    "live:http://127.0.0.1:9/a.mp4",
    "//server/share/a.mp4",
]


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Session after two of four frames."""
    path = tmp_path_factory.mktemp("made") / "a.scstream"
    running = recording(path, clip(4, cut=None))
    next(running)
    next(running)
    running.close()
    return path


def session_of(interrupted: Path, path: Path, address: str) -> Path:
    """Copy of the session with another address."""
    shutil.copytree(interrupted, path)
    text = (path / "manifest.json").read_text()
    (path / "manifest.json").write_text(text.replace('"clip.mp4"', f'"{address}"'))
    assert Session.open(path).manifest.source.address == address
    return path


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_network_address_or_camera_is_opened_only_if_it_is_given(
    address: str, interrupted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = session_of(interrupted, tmp_path / "a.scstream", address)
    for module in (cli, export_job):
        monkeypatch.setattr(module, "open_source", lambda text: pytest.fail(f"{text} was opened"))
    out = ["--out", str(tmp_path / "out")]
    for words in (
        ["resume", str(path)],
        ["export", str(path), "--formats", "overlay", *out],
        ["export", str(path), "--formats", "object", "--object", "1,1", *out],
    ):
        assert cli.main([*words, "--quiet"]) == 1
        message = capsys.readouterr().err
        assert f"is '{address}'" in message
        assert "--source ADDRESS" in message


def test_a_given_source_is_opened(interrupted: Path, tmp_path: Path) -> None:
    path = session_of(interrupted, tmp_path / "a.scstream", ADDRESSES[0])
    folder = write_images(tmp_path / "frames", moving_square(4))
    assert cli.main(["resume", str(path), "--source", str(folder), "--quiet"]) == 0
    assert Session.open(path).manifest.complete


def test_a_live_source_is_not_opened_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = FakeSource(moving_square(1), live=True)
    source.address = "camera:0"
    Session.create(tmp_path / "a.scstream", source, QUICK).close()
    assert cli.main(["resume", str(tmp_path / "a.scstream"), "--quiet"]) == 1
    assert "is live, its earlier frames are gone" in capsys.readouterr().err
