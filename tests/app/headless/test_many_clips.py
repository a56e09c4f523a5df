"""Several clips in one command: one after another, and on Dask workers in this process."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helpers.clips import leftovers, moving_square, write_images, write_video
from helpers.paths import ROOT
from scstream_app import cli
from scstream_app.errors import ClusterError, SettingsError
from scstream_app.export import ExportOptions
from scstream_app.headless.many_clips import (
    Clip,
    ClipProgress,
    ClipResult,
    are_several_clips,
    clip_addresses,
    folder_names,
    run_clip,
    run_in_turn,
)
from scstream_app.session import Session
from scstream_app.settings import Settings
from scstream_app.sources import ImageOptions

QUICK = ("--formats", "ids,csv", "--max-init-sweeps", "5", "--threads", "1")
SETTINGS = Settings(max_init_sweeps=5, threads=1)
OPTIONS = ExportOptions(("ids", "csv"))


@pytest.fixture(autouse=True)
def _ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine is warm in tests: nothing is gained by warming it up for each."""
    monkeypatch.setattr("scstream.warm_up", lambda on_progress=None: None)


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two clips of three and four frames."""
    folder = tmp_path_factory.mktemp("videos")
    return [write_video(folder / f"{name}.mp4", moving_square(count)) for name, count in (("a", 3), ("b", 4))]


@pytest.fixture(scope="module")
def alone(videos: list[Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, bytes]]:
    """The files of each clip when it is run alone."""
    out = tmp_path_factory.mktemp("alone")
    for video in videos:
        assert segment(video, "--out", out / video.stem, "--quiet") == 0
    return {video.stem: exported(out / video.stem) for video in videos}


def segment(*words: object) -> int:
    return cli.main(["segment", *map(str, words), *QUICK])


def exported(out: Path) -> dict[str, bytes]:
    """All files of a clip except those of the session that hold times and the process."""
    varying = ("frames.jsonl", "lock", "manifest.json")
    files = [path for path in out.rglob("*") if path.is_file() and path.name not in varying]
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


def made(video: Path, out: Path, **changes: Any) -> Clip:
    values: dict[str, Any] = {"settings": SETTINGS, "options": OPTIONS, "reading": ImageOptions(), **changes}
    return Clip(str(video), out / video.stem, **values)


def run(clip: Clip, on_progress: Callable[[ClipProgress], None] | None = None) -> ClipResult:
    return run_clip(clip, threading.Event(), on_progress or (lambda progress: None))


def interrupted(clip: Clip, frames: int) -> ClipResult:
    """Run a clip and cancel it after some frames."""
    cancel = threading.Event()
    return run_clip(clip, cancel, lambda progress: cancel.set() if progress.frames == frames else None)


# --- which sources are clips


def test_several_images_are_one_clip_and_several_folders_or_patterns_are_not(tmp_path: Path) -> None:
    folder = str(write_images(tmp_path / "x.png", moving_square(1)))
    assert are_several_clips(["a.mp4", folder, "b/%03d.png", "c/*.png", "http://host/d.mp4"])
    assert not are_several_clips(["1.png", "2.png"])
    assert not are_several_clips(["1.png", "a.mp4"])


def test_folders_have_names_that_differ_in_more_than_capitals() -> None:
    assert folder_names(["x/a.mp4", "y/A.mp4", "z/a.mov"]) == ["a", "A-2", "a-3"]
    # The report of the first one is a.json.
    assert folder_names(["a.mp4", "a.json.mp4"]) == ["a", "a.json-2"]


@pytest.mark.parametrize("live", ["-", "camera:0", "live:a.mp4", "live-loop:a.mp4"])
def test_live_sources_are_refused(live: str) -> None:
    with pytest.raises(SettingsError, match=f"'{live}' is live"):
        clip_addresses(["a.mp4", live])


def test_a_clip_given_twice_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"'x/../a\.mp4' is given twice"):
        clip_addresses(["a.mp4", "x/../a.mp4"])


# --- one clip


def test_an_interrupted_clip_ends_like_one_that_was_not(
    videos: list[Path], alone: dict[str, dict[str, bytes]], tmp_path: Path
) -> None:
    clip = made(videos[1], tmp_path)
    assert interrupted(clip, 2).interrupted
    assert not clip.report_path.exists()
    steps = []
    result = run(clip, steps.append)
    assert result.report is not None
    assert (result.report["frames"], result.report["frames_in_session"]) == (2, 4)
    assert [progress.frames for progress in steps if progress.step == "segmenting"] == [3, 4]
    mine = exported(clip.out)
    assert {name: mine[name] for name in mine if "models" not in name} == {
        name: data for name, data in alone["b"].items() if "models" not in name
    }


def test_files_that_a_killed_run_left_incomplete_are_written_again(videos: list[Path], tmp_path: Path) -> None:
    clip = made(videos[0], tmp_path)
    run(clip)
    # As if the process had been killed between the last frame and the report.
    clip.report_path.unlink()
    (clip.out / "segments.csv").unlink()
    result = run(clip)
    assert not result.skipped
    assert result.report is not None
    assert result.report["frames"] == 0
    assert (clip.out / "segments.csv").exists()
    assert run(clip) == ClipResult(json.loads(clip.report_path.read_bytes()), skipped=True)


def test_a_clip_with_other_options_is_not_taken_for_complete(videos: list[Path], tmp_path: Path) -> None:
    run(made(videos[0], tmp_path))
    changed = made(videos[0], tmp_path, settings=Settings(detail=4.0), options=ExportOptions(("ids",)), stop=2)
    assert "other options (detail, max_init_sweeps, frames, formats)" in run(changed).error
    same_name = write_video(tmp_path / "a.mp4", moving_square(1))
    assert f"is the session of another source, '{videos[0]}'" in run(made(same_name, tmp_path)).error
    # The number of threads does not change results.
    assert run(made(videos[0], tmp_path, settings=Settings(max_init_sweeps=5, threads=2))).skipped


def test_overwrite_begins_anew(videos: list[Path], tmp_path: Path) -> None:
    run(made(videos[0], tmp_path))
    again = made(videos[0], tmp_path, stop=2, overwrite=True)
    result = run(again)
    assert result.report is not None
    assert result.report["frames"] == 2
    assert len(list((again.out / "ids").iterdir())) == 2


def test_an_unexpected_error_is_the_clip_s_own(videos: list[Path], tmp_path: Path) -> None:
    def fail(progress: ClipProgress) -> None:
        raise ZeroDivisionError("of the test")

    results: dict[int, Any] = {}
    bad = run(made(videos[0], tmp_path), fail)
    assert bad.error == "Unexpected error: ZeroDivisionError: of the test."
    assert "in fail" in bad.trace
    clips = [made(Path("missing.mp4"), tmp_path), made(videos[0], tmp_path, stop=1)]
    run_in_turn(clips, threading.Event(), lambda number, news: results.update({number: news}))
    assert "no such file" in results[0].error
    assert results[1].report["frames"] == 1


# --- the command


def test_clips_in_turn_are_as_if_run_alone(
    videos: list[Path],
    alone: dict[str, dict[str, bytes]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    bad = tmp_path / "bad.mp4"
    bad.write_bytes(b"nothing")
    assert segment(videos[0], bad, videos[1], "--out", tmp_path / "o") == 1
    out, err = capsys.readouterr()
    assert "[1/3] a: done, 3 frames" in err
    assert "[2/3] bad: failed: Cannot open" in err
    assert "[3/3] b: done, 4 frames" in err
    assert err.endswith("scstream: 1 of 3 clips failed. The same command tries them again.\n")
    assert out.startswith("2 clips segmented, 1 failed; 7 frames in ")
    assert {name: exported(tmp_path / "o" / name) for name in "ab"} == alone
    assert not leftovers(tmp_path)
    assert segment(videos[0], bad, videos[1], "--out", tmp_path / "o", "--json", "--quiet") == 1
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert (report["segmented"], report["skipped"], report["failed"]) == (0, 2, 1)
    assert [clip["state"] for clip in report["clips"]] == ["skipped", "failed", "skipped"]
    assert set(report["clips"][1]) == {"source", "state", "error"}
    text = (ROOT / "docs" / "command.md").read_text(encoding="utf-8").partition("with several clips\n")[2]
    assert all(f"`{field}`" in text.partition("\n## ")[0] for field in (*report, *report["clips"][1]))
    assert report["clips"][2]["source"] == str(videos[1])
    assert report["clips"][2]["frames"] == 4
    assert "bad: failed" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--object", "1,2"), "--object is for one clip"),
        (("--raw", "4x4@1:rgb24"), "--raw is for one clip"),
        (("--workers", "0"), "must be a whole number"),
        (("--workers", "2", "--scheduler", "tcp://localhost:1"), "give one of them"),
        (("--scheduler", "localhost:1"), "Cannot connect to the scheduler 'localhost:1'"),
        (("--scheduler", "nonsense://x"), "Cannot connect to the scheduler 'nonsense://x'"),
    ],
)
def test_wrong_options_are_named(
    options: tuple[str, ...],
    message: str,
    videos: list[Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if "Cannot connect" in message:
        dask_run = pytest.importorskip("scstream_app.headless.many_clips.dask_run")
        monkeypatch.setattr(dask_run, "_CONNECT", 0.2)
    assert segment(*videos, "--out", tmp_path / "o", *options) in (1, 2)
    assert message in capsys.readouterr().err
    assert not (tmp_path / "o").exists()


# --- on Dask


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A client of two workers that are threads of this process."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, memory_limit=0
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def run_on_dask(client: Any, clips: list[Clip], cancel_at: int = 0) -> tuple[list[Any], dict[int, Any]]:
    """Run the clips; returns all progress and the results. Cancels when this number of clips has a frame."""
    from scstream_app.headless.many_clips import dask_run

    cancel, progress, results = threading.Event(), [], {}

    def on_update(number: int, news: ClipProgress | ClipResult) -> None:
        if isinstance(news, ClipResult):
            results[number] = news
            return
        progress.append((number, news))
        if cancel_at and len({number for number, news in progress if news.frames}) == cancel_at:
            cancel.set()

    dask_run.run_on_dask(client, clips, cancel, on_update)
    return progress, results


def test_clips_on_workers_are_as_if_run_alone(
    client: Any, videos: list[Path], alone: dict[str, dict[str, bytes]], tmp_path: Path
) -> None:
    clips = [made(videos[0], tmp_path), made(tmp_path / "missing.mp4", tmp_path), made(videos[1], tmp_path)]
    progress, results = run_on_dask(client, clips)
    assert "no such file" in results[1].error
    assert {name: exported(tmp_path / name) for name in "ab"} == alone
    assert {(number, news.expected) for number, news in progress if news.step == "segmenting"} <= {(0, 3), (2, 4)}
    assert {number for number, _ in progress} >= {0, 2}
    assert not leftovers(tmp_path)
    _, again = run_on_dask(client, clips)
    assert [again[number].skipped for number in range(3)] == [True, False, True]


def test_cancelled_clips_end_after_their_frame_and_others_do_not_begin(
    client: Any, videos: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def held(clip: Clip, cancel: threading.Event, on_progress: Callable[[ClipProgress], None]) -> ClipResult:
        def report(progress: ClipProgress) -> None:
            on_progress(progress)
            assert progress.frames == 0 or cancel.wait(60)

        return run_clip(clip, cancel, report)

    monkeypatch.setattr("scstream_app.headless.many_clips.dask_task.run_clip", held)
    clips = [made(video, tmp_path) for video in (*videos, Path("third.mp4"))]
    _, results = run_on_dask(client, clips, cancel_at=2)
    assert {number: result.interrupted for number, result in results.items()} == {0: True, 1: True}
    for name in "ab":
        with Session.open(tmp_path / name / f"{name}.scstream") as session:
            assert not session.manifest.complete
            assert len(session) == 1
    assert not leftovers(tmp_path)


def test_clips_without_any_worker_are_given_up(
    videos: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They used to wait for ever."""
    distributed = pytest.importorskip("distributed")
    from scstream_app.headless.many_clips import dask_run

    monkeypatch.setattr(dask_run, "_ANY_WORKER", 0.2)
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address="127.0.0.1:0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        pytest.raises(ClusterError, match="All workers have been gone"),
    ):
        run_on_dask(client, [made(videos[0], tmp_path)])
    assert not leftovers(tmp_path)


@pytest.mark.parametrize(("losses", "error"), [(2, ""), (3, "Its workers lost the connection to the scheduler.")])
def test_a_clip_whose_worker_loses_the_scheduler_runs_again(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, losses: int, error: str
) -> None:
    results = iter([ClipResult(interrupted=True)] * losses + [ClipResult({"frames": 1})])
    monkeypatch.setattr("scstream_app.headless.many_clips.dask_task.run_clip", lambda *arguments: next(results))
    monkeypatch.setattr("scstream_app.headless.many_clips.dask_task._warm_up", lambda: None)
    _, found = run_on_dask(client, [made(tmp_path / "clip.mp4", tmp_path)])
    assert found == {0: ClipResult(error=error) if error else ClipResult({"frames": 1})}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": "0.0.0"}, "has scstream-studio .*, this command 0.0.0: install the same"),
        ({"marker": Path("/elsewhere/.marker")}, "does not see the output folder '/elsewhere'"),
        ({"found": True}, "does not see '.*gone.mp4'. Clips and --out must be in folders that all workers see"),
    ],
)
def test_a_worker_that_cannot_run_a_clip_says_why(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    dask_task = pytest.importorskip("scstream_app.headless.many_clips.dask_task")
    task = dask_task.ClipTask(made(tmp_path / "gone.mp4", tmp_path), 0, "run", tmp_path, False, {})
    assert re.search(message, dask_task.segment_on_worker(replace(task, **change)).error)
