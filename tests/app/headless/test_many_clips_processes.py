"""Several clips in worker processes: killed workers, and Ctrl-C in the terminal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import scstream
from helpers.clips import leftovers, moving_square, read_video, write_video
from helpers.paths import ROOT
from scstream_app.export import ExportOptions
from scstream_app.headless.many_clips import Clip, ClipProgress, ClipResult, run_clip
from scstream_app.session import Session
from scstream_app.settings import Settings
from scstream_app.sources import ImageOptions

pytest.importorskip("distributed")
psutil = pytest.importorskip("psutil")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="kills by POSIX signals")]

FRAMES = 100
FORMATS = ("ids", "csv", "mp4")


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("videos")
    frames = moving_square(FRAMES, 48, 160)
    return [write_video(folder / "a.mp4", frames), write_video(folder / "b.mp4", frames[::-1])]


@pytest.fixture(scope="module")
def alone(videos: list[Path], tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Everything that each clip writes when it is run alone."""
    out = tmp_path_factory.mktemp("alone")
    for clip in clips_of(videos, out):
        assert not run_clip(clip, threading.Event(), lambda progress: None).error
    return [contents(out / video.stem) for video in videos]


@pytest.fixture
def client() -> Iterator[Any]:
    from scstream_app.headless.many_clips.dask_run import local_workers

    with local_workers(2) as client:
        yield client


def clips_of(videos: list[Path], out: Path) -> list[Clip]:
    settings, options = Settings(threads=1), ExportOptions(FORMATS)
    return [Clip(str(video), out / video.stem, settings, options, ImageOptions()) for video in videos]


def contents(out: Path) -> dict[str, Any]:
    """All files of a clip without times, and without snapshots of the model, which depend on when a run stopped.

    Of movies only the number of frames: x264 does not encode such small pictures alike each time.
    """
    found: dict[str, Any] = {}
    for path in out.rglob("*"):
        name = str(path.relative_to(out))
        if path.name == "frames.jsonl":
            lines = [json.loads(line) for line in path.read_bytes().splitlines()]
            found[name] = [{key: line[key] for key in line if key != "milliseconds"} for line in lines]
        elif path.suffix == ".mp4":
            found[name] = len(read_video(path))
        elif path.is_file() and path.name not in ("lock", "manifest.json") and path.parent.name != "models":
            found[name] = path.read_bytes()
    return found


def run_and_kill(
    client: Any, clips: list[Clip], victim: int, when: Callable[[ClipProgress, int], bool]
) -> tuple[dict[int, ClipResult], int]:
    """Run the clips; kill the worker of one whenever ``when(progress, kills so far)`` holds."""
    from scstream_app.headless.many_clips import dask_run

    results: dict[int, ClipResult] = {}
    killed: set[int] = set()

    def on_update(number: int, news: ClipProgress | ClipResult) -> None:
        if isinstance(news, ClipResult):
            results[number] = news
        elif number == victim and when(news, len(killed)):
            processes = client.run(os.getpid)
            for address, keys in client.processing().items():
                if any(key.startswith(f"segment-{clips[victim].name}-") for key in keys):
                    killed.add(processes[address])
                    os.kill(processes[address], signal.SIGKILL)

    dask_run.run_on_dask(client, clips, threading.Event(), on_update)
    return results, len(killed)


def test_a_clip_whose_worker_is_killed_ends_as_if_run_alone(
    client: Any, videos: list[Path], alone: list[dict[str, Any]], tmp_path: Path
) -> None:
    clips = clips_of(videos, tmp_path)
    results, kills = run_and_kill(client, clips, 0, lambda news, kills: news.frames > 0 and kills == 0)
    assert kills == 1
    assert [results[number].error for number in range(2)] == ["", ""]
    assert results[0].report is not None
    # The frames before the kill were not segmented again from the start.
    assert 0 < results[0].report["frames"] < FRAMES
    assert [contents(clip.out) for clip in clips] == alone
    assert not leftovers(tmp_path)


def test_a_clip_that_kills_three_workers_fails_and_the_other_is_done(
    client: Any, videos: list[Path], alone: list[dict[str, Any]], tmp_path: Path
) -> None:
    clips = clips_of(videos, tmp_path)
    results, kills = run_and_kill(client, clips, 0, lambda news, kills: news.step == "starting")
    assert kills == 3
    assert results[0].error.startswith("3 workers died while they segmented it")
    assert contents(clips[1].out) == alone[1]


def test_ctrl_c_in_the_terminal_loses_nothing(videos: list[Path], alone: list[dict[str, Any]], tmp_path: Path) -> None:
    out = tmp_path / "out"
    engine = str(Path(scstream.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), engine])}
    words = ["segment", *map(str, videos), "--out", str(out), "--workers", "2", "--threads", "1"]
    command = [sys.executable, "-m", "scstream_app", *words]
    logs = [out / name / f"{name}.scstream" / "frames.jsonl" for name in "ab"]
    with subprocess.Popen(
        command, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        deadline = time.monotonic() + 200
        while process.poll() is None and not any(log.exists() and log.stat().st_size for log in logs):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        started = psutil.Process(process.pid).children(recursive=True)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=100)
    assert process.returncode == 130
    assert err.splitlines()[-1].startswith("Interrupted: 0 of 2 clips complete.")
    assert "Traceback" not in err
    assert len(started) >= 2
    _, alive = psutil.wait_procs(started, timeout=30)
    # A process that has ended may wait for somebody to ask for its exit code.
    assert not [child for child in alive if child.status() != psutil.STATUS_ZOMBIE]
    assert not leftovers(out)
    done = [len(Session.open(log.parent)) for log in logs if log.exists()]
    assert 0 < sum(done) < 2 * FRAMES
    again = [run_clip(clip, threading.Event(), lambda progress: None).report for clip in clips_of(videos, out)]
    assert sum(report["frames"] for report in again) + sum(done) == 2 * FRAMES
    assert [contents(out / name) for name in "ab"] == alone
