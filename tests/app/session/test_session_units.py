"""Sessions of earlier versions, whose covariances are stored relative to the size of the frame."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.fake_source import FakeSource
from helpers.session_clips import clip, recorded, recording
from scstream_app.errors import SessionError
from scstream_app.session import Session, resume

COUNT = 6
EARLIER = "upper triangle, row by row: three colours, row / height, column / width"
#: Units of the axes of a covariance of frames of 48 x 64 pixels.
AXES = [1.0, 1.0, 1.0, 48.0, 64.0]


def as_earlier_version(path: Path) -> Path:
    """Rewrite a session as earlier versions wrote it."""
    manifest = json.loads((path / "manifest.json").read_text())
    kind = np.dtype([(name, code, tuple(shape)) for name, code, shape in manifest["statistics"]["record"]])
    records = np.fromfile(path / "statistics.bin", kind)
    records["covariance"] /= [AXES[i] * AXES[j] for i in range(5) for j in range(i, 5)]
    records.tofile(path / "statistics.bin")
    lines = []
    for line in (path / "frames.jsonl").read_text().splitlines():
        frame = json.loads(line)
        place = frame["statistics"]
        place["crc32"] = zlib.crc32(records[place["first"] : place["first"] + place["count"]].tobytes())
        lines.append(json.dumps(frame) + "\n")
    (path / "frames.jsonl").write_text("".join(lines))
    (path / "manifest.json").write_text(json.dumps({**manifest, "statistics": described(manifest, EARLIER)}))
    return path


def described(manifest: dict[str, Any], covariance: str) -> dict[str, Any]:
    return {**manifest["statistics"], "covariance": covariance}


def test_covariances_of_an_earlier_version_are_read_in_pixels(tmp_path: Path) -> None:
    results = recorded(tmp_path / "a.scstream", clip(COUNT, cut=None))
    session = Session.open(as_earlier_version(tmp_path / "a.scstream"))
    for result, back in zip(results, session.results(), strict=True):
        np.testing.assert_allclose(back.statistics["covariance"], result.statistics["covariance"], rtol=1e-5)
        np.testing.assert_allclose(back.statistics["row"], result.statistics["row"], rtol=1e-6)
        positions = result.statistics["covariance"][0, 3:, 3:]
        assert np.diag(positions).min() > 1.0, "the largest segment extends over several pixels"


def test_a_resumed_session_of_an_earlier_version_keeps_its_units(tmp_path: Path) -> None:
    whole = recorded(tmp_path / "whole.scstream", clip(COUNT, cut=None))
    running = recording(tmp_path / "a.scstream", clip(COUNT, cut=None), snapshot_every=1)
    for _ in range(3):
        next(running)
    running.close()
    path = as_earlier_version(tmp_path / "a.scstream")
    with Session.open(path, writable=True) as session:
        list(resume(session, FakeSource(clip(COUNT, cut=None))).run())
    assert json.loads((path / "manifest.json").read_text())["statistics"]["covariance"] == EARLIER
    for result, back in zip(whole, Session.open(path).results(), strict=True):
        np.testing.assert_allclose(back.statistics["covariance"], result.statistics["covariance"], rtol=1e-5)


def test_an_unknown_layout_is_refused(tmp_path: Path) -> None:
    recorded(tmp_path / "a.scstream", clip(2, cut=None))
    path = tmp_path / "a.scstream" / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps({**manifest, "statistics": described(manifest, "in inches")}))
    with pytest.raises(SessionError, match="layout that this program does not support"):
        Session.open(tmp_path / "a.scstream")
