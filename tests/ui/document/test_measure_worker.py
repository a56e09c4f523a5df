"""Churn, uncertainty and time of writing: noted with every frame, or found out afterwards."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_video
from helpers.export_scenes import story
from scstream import VideoSegmenter, metrics
from scstream.pixels.uncertainty import uncertainty
from scstream_app.pipeline.edits import Edit, colour_after
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.session import FrameRecord, Session
from scstream_app.session.frame_measures import colour_at, mean_uncertainty
from scstream_app.session.run_summary import SETTLED_FRAMES, RunSummary
from scstream_app.session.run_writer import inherited_births
from scstream_app.settings import Settings
from scstream_app.sources import open_source
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State
from scstream_app.ui.document.workers import measure_worker
from scstream_app.ui.window.status.status_bar_widgets import SettledLight

LONG = 60_000


def summary_of(churn: list[float], doubt: list[float] | None = None) -> RunSummary:
    summary = RunSummary()
    for index, value in enumerate(churn):
        measures = {"churn": value, "uncertainty": 0.1 if doubt is None else doubt[index]}
        summary.add(FrameRecord(index, index / 25, False, 0.0, {}, (), 0, 0, 0, 3, 0, measures=measures))
    return summary


def test_a_run_notes_them_and_a_session_keeps_them(document: Document, qtbot: QtBot, tmp_path: Path) -> None:
    document.set_settings(Settings(max_init_sweeps=20, threads=1))
    clip = write_video(tmp_path / "clip.mp4", moving_square(5))
    document.open_source(str(clip), tmp_path / "a.scstream")
    qtbot.waitUntil(lambda: document.state is State.DONE, timeout=LONG)
    noted = {name: document.summary.column(name) for name in ("churn", "uncertainty", "write")}
    ids = [document.session.ids(index) for index in range(5)]
    expected = [metrics.label_churn(ids[n], ids[n + 1]) for n in range(4)]
    assert noted["churn"][1:] == pytest.approx(expected, abs=1e-6)
    assert np.isfinite(noted["uncertainty"]).all()
    assert (noted["write"][1:] > 0.0).all()
    document.close()
    document.run.when_idle(lambda: document.open_session(tmp_path / "a.scstream"))
    qtbot.waitUntil(lambda: document.state is State.DONE, timeout=LONG)
    for name, values in noted.items():
        np.testing.assert_allclose(document.summary.column(name), values, atol=1e-3)


def test_unmeasured_frames_are_measured_afterwards(open_results: Callable[..., Document], qtbot: QtBot) -> None:
    document = open_results(story((48, 64)))
    qtbot.waitUntil(lambda: np.isfinite(document.summary.column("churn")[1:]).all(), timeout=LONG)
    ids = [document.session.ids(index) for index in range(5)]
    expected = [metrics.label_churn(ids[n], ids[n + 1]) for n in range(4)]
    assert document.summary.column("churn")[1:] == pytest.approx(expected)
    assert np.isnan(document.summary.column("churn")[0])
    assert np.isfinite(document.summary.column("uncertainty")).all()


def test_what_was_found_out_is_kept(
    open_results: Callable[..., Document], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = open_results(story((48, 64)))
    path = document.session.path
    kept = path / "measured.jsonl"
    qtbot.waitUntil(lambda: kept.exists() and len(kept.read_bytes().splitlines()) == 5, timeout=LONG)
    # They are on the disk before the window hears of them.
    qtbot.waitUntil(lambda: np.isfinite(document.summary.column("uncertainty")).all(), timeout=LONG)
    expected = {name: document.summary.column(name) for name in ("churn", "uncertainty")}
    document.close()
    started: list[object] = []
    monkeypatch.setattr(document.measure_worker, "start", lambda *job: started.append(job))
    with qtbot.waitSignal(document.opened, timeout=LONG):
        document.open_session(path)
    for name, values in expected.items():
        np.testing.assert_allclose(document.summary.column(name), values, atol=1e-6)
    qtbot.waitUntil(lambda: document.state is State.DONE, timeout=LONG)
    assert started == []


def test_damaged_lines_of_what_was_found_out_are_measured_again(
    open_results: Callable[..., Document], qtbot: QtBot
) -> None:
    document = open_results(story((48, 64)))
    path = document.session.path
    kept = path / "measured.jsonl"
    qtbot.waitUntil(lambda: kept.exists() and len(kept.read_bytes().splitlines()) == 5, timeout=LONG)
    # They are on the disk before the window hears of them.
    qtbot.waitUntil(lambda: np.isfinite(document.summary.column("uncertainty")).all(), timeout=LONG)
    expected = document.summary.column("uncertainty")
    document.close()
    lines = kept.read_bytes().splitlines(keepends=True)
    strange = [b'{"index":1,"measures":7}\n', b"[]\n", b"nothing\n", b'{"index":-2,"measures":{}}\n']
    kept.write_bytes(b"".join([lines[0], *strange, lines[4]]))
    document.open_session(path)
    qtbot.waitUntil(lambda: document.state is State.DONE, timeout=LONG)
    qtbot.waitUntil(lambda: np.isfinite(document.summary.column("uncertainty")).all(), timeout=LONG)
    np.testing.assert_allclose(document.summary.column("uncertainty"), expected, atol=1e-6)


def test_a_frame_without_segments_has_no_uncertainty(open_results: Callable[..., Document], qtbot: QtBot) -> None:
    results = story((48, 64))
    results[2] = replace(results[2], statistics=results[2].statistics[:0])
    document = open_results(results)
    qtbot.waitUntil(lambda: np.isfinite(document.summary.column("churn")[1:]).all(), timeout=LONG)
    assert np.isfinite(document.summary.column("uncertainty")).tolist() == [True, True, False, True, True]


def test_a_job_that_fails_does_not_affect_the_next_one(
    open_results: Callable[..., Document], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = threading.Event()

    def broken(job: object) -> Iterator[tuple[int, dict[str, float]]]:
        failed.set()
        raise RuntimeError("not foreseen")

    monkeypatch.setattr(measure_worker, "measure_frames", broken)
    document = open_results(story((48, 64)))
    qtbot.waitUntil(failed.is_set, timeout=LONG)
    monkeypatch.undo()
    document.measure_worker.start(document.session, list(document.summary.frames))
    qtbot.waitUntil(lambda: np.isfinite(document.summary.column("uncertainty")).all(), timeout=LONG)


def test_closing_in_the_midst_of_measuring(open_results: Callable[..., Document], qtbot: QtBot) -> None:
    document = open_results(story((48, 64)))
    document.close()
    assert len(document.summary) == 0


def test_the_mean_of_a_few_pixels_is_that_of_all() -> None:
    frame = np.repeat(np.repeat(moving_square(1)[0], 4, axis=0), 4, axis=1)
    segmenter = VideoSegmenter(max_init_sweeps=20, threads=1)
    segmenter.segment(frame)
    rows = segmenter.statistics_
    whole = float(uncertainty(frame, rows, "rgb").mean())
    assert mean_uncertainty(frame, rows, "rgb") == pytest.approx(whole, abs=0.02)


def test_segments_of_another_clip_begin_to_live_on_the_first_frame() -> None:
    first: FrameResult = story((48, 64))[0]
    assert inherited_births(first) == []
    known = replace(first, events=first.events[:1])
    assert [event.ids for event in inherited_births(known)] == [(id,) for id in known.statistics["id"] if id != 0]


def test_the_colour_space_is_the_one_in_force() -> None:
    change = Edit("restart", values={"colour": "lab"})
    assert colour_after([Edit("lock", (1,)), change], "rgb") == "lab"
    assert colour_after([Edit("change", values={"sweeps": 2})], "rgb") == "rgb"


def test_a_change_of_the_colour_space_is_measured_in_the_new_one(
    document: Document, qtbot: QtBot, tmp_path: Path
) -> None:
    document.set_settings(Settings(max_init_sweeps=20, threads=1))
    clip = write_video(tmp_path / "clip.mp4", moving_square(8))
    document.autostart = False
    document.open_source(str(clip), tmp_path / "a.scstream")
    qtbot.waitUntil(lambda: document.state is State.PAUSED, timeout=LONG)
    document.edit(Edit("restart", values={"colour": "lab"}))
    document.pause(False)
    qtbot.waitUntil(lambda: document.state is State.DONE, timeout=LONG)
    session = document.session
    assert colour_at(session, 8) == "lab"
    with open_source(str(clip)) as source:
        last = next(iter(session.results(7, 8, source)))
    expected = mean_uncertainty(last.picture, last.statistics, "lab")
    assert document.summary.column("uncertainty")[7] == pytest.approx(expected, abs=1e-3)
    document.close()
    document.run.when_idle(lambda: document.open_session(tmp_path / "a.scstream"))
    qtbot.waitUntil(lambda: document.state is State.DONE, timeout=LONG)
    assert document.settings.colour == "lab"


# --- the summary of measures


def test_settled_when_few_pixels_change_for_a_while() -> None:
    summary = summary_of([0.5] * 5 + [0.05] * SETTLED_FRAMES + [0.4])
    last = 4 + SETTLED_FRAMES
    assert summary.settled(3) is None
    assert summary.settled(last - 1) is False
    assert summary.settled(last) is True
    assert summary.settled(last + 1) is False


def test_of_each_uncertain_stretch_the_worst_frame() -> None:
    doubt = [0.1] * 40
    doubt[10:12], doubt[30] = [0.3, 0.4], 0.2
    summary = summary_of([0.0] * 40, doubt)
    assert summary.uncertain_frames() == [11, 30]
    assert (summary.next_uncertain(11), summary.previous_uncertain(11)) == (30, None)
    assert summary_of([0.0] * 5).uncertain_frames() == []


def test_old_sessions_have_no_measures_and_are_read_all_the_same(open_results: Callable[..., Document]) -> None:
    document = open_results(story((48, 64)))
    text = (document.session.path / "frames.jsonl").read_text()
    assert "measures" not in text
    with Session.open(document.session.path) as session:
        assert dict(session.record(0).measures) == {}


def test_the_light_goes_with_the_frame(story_document: Document, qtbot: QtBot) -> None:
    light = SettledLight(story_document)
    qtbot.addWidget(light)
    assert light.text == ""
    story_document.summary = summary_of([0.0] + [0.01] * 20)
    story_document.display.show(20)
    story_document.progressed.emit()
    story_document.display.shown = replace(
        story_document.display.shown, result=replace(story_document.display.shown.result, index=20)
    )
    story_document.display.shown_changed.emit()
    assert light.text == "Segments settled"
    assert "1.0 %" in light.toolTip()
