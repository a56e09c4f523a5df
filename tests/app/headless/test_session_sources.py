"""The address in a session that may come from somebody else is not opened unasked."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from helpers.clips import moving_square, write_images
from helpers.fake_source import FakeSource
from helpers.session_clips import QUICK, clip, recording
from scstream_app import cli, headless, sources
from scstream_app.export import ExportOptions
from scstream_app.headless import export_job, session_sources
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
    for module in (sources, export_job, session_sources):
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


def test_the_names_of_images_are_not_asked_of_a_network_address(
    interrupted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = session_of(interrupted, tmp_path / "a.scstream", ADDRESSES[0])
    monkeypatch.setattr(session_sources, "open_source", lambda text: pytest.fail(f"{text} was opened"))
    with Session.open(path) as session:
        list(headless.export(session, tmp_path / "out", ExportOptions(("coco",))))
    assert "00000.png" in (tmp_path / "out" / "coco.json").read_text()


def test_an_export_connects_if_the_user_has_agreed(
    interrupted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = session_of(interrupted, tmp_path / "a.scstream", ADDRESSES[0])
    asked: list[str] = []

    def opened(address: str) -> FakeSource:
        asked.append(address)
        return FakeSource(clip(4, cut=None))

    monkeypatch.setattr(export_job, "open_source", opened)
    with Session.open(path) as session:
        list(headless.export(session, tmp_path / "out", ExportOptions(("overlay",)), may_connect=True))
    assert asked == [ADDRESSES[0]]
    assert len(list((tmp_path / "out" / "overlay").iterdir())) == 2


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


@pytest.mark.parametrize(
    "words",
    [["resume"], ["export", "--formats", "mp4"], ["export", "--formats", "object", "--object", "1,1"]],
    ids=["resume", "export of pictures", "object"],
)
def test_the_error_of_a_moved_source_names_the_option(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frames = write_images(tmp_path / "frames", moving_square(3))
    assert cli.main(["segment", str(frames), "--out", str(tmp_path / "out"), "--formats", "ids", "--quiet"]) == 0
    moved = frames.rename(tmp_path / "moved")
    session, out = str(tmp_path / "out" / "frames.scstream"), ["--out", str(tmp_path / "e")]
    given = [words[0], session, *words[1:], *([] if words[0] == "resume" else out), "--quiet"]
    assert cli.main(given) == 1
    error = capsys.readouterr().err
    assert f"Cannot open '{frames}': there is no such file or folder." in error
    assert f"If the source of '{session}' was moved, add --source PATH." in error
    assert cli.main([*given, "--source", str(moved)]) == 0


def test_the_error_of_damaged_images_names_no_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frames = write_images(tmp_path / "frames", moving_square(3))
    pattern, out = str(frames / "%05d.png"), tmp_path / "out"
    assert cli.main(["segment", pattern, "--out", str(out), "--formats", "ids", "--quiet"]) == 0
    for image in frames.iterdir():
        image.write_bytes(b"no image")
    assert cli.main(["export", str(out), "--formats", "mp4", "--out", str(tmp_path / "e"), "--quiet"]) == 1
    error = capsys.readouterr().err
    assert "00000.png" in error
    assert "--source" not in error
