"""Addresses that are shown or stored have no secrets."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.clips import moving_square
from helpers.fake_source import FakeSource
from helpers.session_clips import QUICK
from scstream_app import cli
from scstream_app.addresses import hide_secrets, public_address
from scstream_app.errors import SourceError
from scstream_app.session import Session
from scstream_app.sources import open_source

SECRETS = [
    "rtsp://me:hunter2@10.0.0.7/door",
    "https://hunter2hunter2hunter2hunter2@host/a.mp4",
    "https://host/a.mp4?token=hunter2",
    "https://host/a.mp4?access_token=hunter2&x=1",
    "https://host/a.mp4?x=1&api%5Fkey=hunter2",
    "https://host/a.mp4?sig=hunter2;se=hunter2",
    "https://host/a.mp4?X-Amz-Credential=hunter2&X-Amz-Signature=hunter2&X-Amz-Date=hunter2",
    "https://host/a.mp4?pwd=hunter2#hunter2",
    "https://host/a.mp4?whatever=a-long-value-hunter2",
    "srt://host:1234?passphrase=hunter2&mode=caller",
    "live:https://me:hunter2@host/a.mp4",
    "live-loop:https://host/a.mp4?auth=hunter2",
    "https://me:hunter2@[10?token=hunter2",
]


@pytest.mark.parametrize("address", SECRETS)
def test_no_secret_remains(address: str) -> None:
    shown = public_address(address)
    assert "hunter2" not in shown
    assert public_address(shown) == shown
    assert "hunter2" not in hide_secrets(f"Server returned 403: '{address}' (\"{address}\")")


@pytest.mark.parametrize(
    "address",
    [
        "rtsp://me@10.0.0.7:554/cam/realmonitor?channel=1&subtype=0",
        "http://host/a.mp4?v=2",
        "/clips/a?token=1.mp4",
        "camera:0",
        "live:/clips/a.mp4",
    ],
)
def test_what_is_no_secret_stays(address: str) -> None:
    assert public_address(address) == address


@pytest.mark.parametrize("address", SECRETS)
def test_a_manifest_has_no_secret(address: str, tmp_path: Path) -> None:
    source = FakeSource(moving_square(1))
    source.address = address
    path = tmp_path / "a.scstream"
    Session.create(path, source, QUICK).close()
    assert "hunter2" not in (path / "manifest.json").read_text()


# Port 9 discards; nothing listens there.
@pytest.mark.parametrize(
    "address", ["http://me:hunter2@127.0.0.1:9/a.mp4?token=hunter2", "nope://me:hunter2@h?key=hunter2"]
)
def test_no_message_has_a_secret(address: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SourceError, match="Cannot open") as caught:
        open_source(address)
    assert "hunter2" not in str(caught.value)
    assert cli.main(["segment", address, "--out", str(tmp_path), "--debug"]) == 1
    written = "".join(capfd.readouterr())
    assert "Traceback" in written
    assert "hunter2" not in written
