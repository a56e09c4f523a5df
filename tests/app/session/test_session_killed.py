"""A session whose process is killed by SIGKILL opens, and resuming it gives the result of an uninterrupted run."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
import pytest

from helpers import killed_run
from helpers.fake_source import FakeSource
from helpers.paths import ROOT
from helpers.session_clips import clip, recorded, volume
from scstream_app.session import Session, resume

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked on this system"),
]

#: SCSTREAM_KILLS=20 makes it thorough.
KILLS = int(os.environ.get("SCSTREAM_KILLS", "6"))


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    path = tmp_path_factory.mktemp("unbroken") / "whole.scstream"
    recorded(path, clip(killed_run.FRAMES, killed_run.CUT))
    return volume(Session.open(path))


@pytest.fixture(scope="module")
def server() -> Iterator[subprocess.Popen[bytes]]:
    search = os.pathsep.join(map(str, (ROOT / "engine", ROOT, ROOT / "tests", *sys.path)))
    process = subprocess.Popen(
        [sys.executable, str(Path(killed_run.__file__))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        env={**os.environ, "PYTHONPATH": search},
    )
    with process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def lines_of(stream: IO[bytes]) -> Iterator[str]:
    return (line.decode().strip() for line in stream)


def killed_after(server: subprocess.Popen[bytes], folder: Path, frames: int, milliseconds: float) -> int:
    """Start a run and kill it some time after ``frames`` frames; returns how many frames it had reported."""
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(f"{folder}\n".encode())
    seen, child = 0, 0
    lines = lines_of(server.stdout)
    while seen < frames or not child:
        word, number = next(lines).split()
        assert word in ("pid", "frame")
        seen, child = (seen + 1, child) if word == "frame" else (seen, int(number))
    # A timeout for the next line, not a pause, so that the kill falls anywhere within the work on a frame.
    select.select([server.stdout], [], [], milliseconds / 1000.0)
    os.kill(child, signal.SIGKILL)
    for line in lines:
        word, number = line.split()
        seen += word == "frame"
        if word == "ended":
            assert int(number) == signal.SIGKILL
            return seen
    raise AssertionError("the server has ended")


@pytest.mark.parametrize("kill", range(KILLS))
def test_resuming_gives_the_result_of_an_uninterrupted_run(
    kill: int, server: subprocess.Popen[bytes], unbroken: np.ndarray, tmp_path: Path
) -> None:
    rng = np.random.default_rng(kill)
    # The first one is killed about when it writes its first frame.
    frames = 0 if kill == 0 else int(rng.integers(1, killed_run.FRAMES - 2))
    path = tmp_path / "killed.scstream"
    announced = killed_after(server, path, frames, float(rng.uniform(0.0, 12.0)))
    if not path.exists():
        assert announced == 0
        return
    with Session.open(path, writable=True) as session:
        assert len(session) >= announced
        np.testing.assert_array_equal(
            np.array([session.ids(int(i)) for i in session.frames]).reshape(-1, *unbroken.shape[1:]),
            unbroken[: len(session)],
        )
        for _ in resume(session, FakeSource(clip(killed_run.FRAMES, killed_run.CUT)), threads=1).run():
            pass
        assert session.manifest.complete
    np.testing.assert_array_equal(volume(Session.open(path)), unbroken)
