"""Statistics of whole runs, and which sessions segment the same clip."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers.clips import write_images
from helpers.export_scenes import story
from scstream.sampler.genealogy import Kind
from scstream_app.evaluation.run_statistics import kept_along_flow, run_statistics, same_clip
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.session import PICTURES, Session
from scstream_app.settings import Settings
from scstream_app.sources import open_source


def stored(path: Path, results: Sequence[FrameResult], settings: Settings | None = None) -> Session:
    folder = write_images(path.with_suffix(".frames"), [result.picture for result in results])
    with open_source(str(folder)) as source, Session.create(path, source, settings or Settings()) as session:
        for result in results:
            session.append(result)
        session.finish()
    return Session.open(path)


def test_the_numbers_of_a_run(tmp_path: Path) -> None:
    results = [
        replace(result, measures={"churn": 0.1 * place}, milliseconds={"engine": 10.0 + place})
        for place, result in enumerate(story())
    ]
    found = run_statistics(stored(tmp_path / "a.scstream", results, Settings(detail=2.0)))
    assert found.settings.detail == 2.0
    assert (found.frames, found.ids, found.cuts, found.edits) == (5, 4, 0, 0)
    assert found.segments == pytest.approx(np.mean([3, 3, 4, 4, 3]))
    # Segments 0 and 1 live for all five frames, 2 for four, and 3 from frame 2 on.
    assert found.life == pytest.approx((5 + 5 + 4 + 3) / 4)
    assert (found.churn, found.milliseconds) == (pytest.approx(0.2), 12.0)
    assert np.isnan(found.uncertainty)
    assert dict(found.events) == {Kind.BIRTH: 0, Kind.SPLIT: 1, Kind.MERGE: 1, Kind.DEATH: 0}


def test_runs_of_a_clip_are_recognized_wherever_it_is(tmp_path: Path) -> None:
    first = stored(tmp_path / "a.scstream", story()).manifest
    moved = stored(tmp_path / "b.scstream", story(), Settings(detail=2.0)).manifest
    longer = stored(tmp_path / "c.scstream", story()[:4]).manifest
    other = stored(tmp_path / "d.scstream", [replace(each, rgb=255 - each.picture) for each in story()]).manifest
    assert same_clip(first, moved)
    assert not same_clip(first, longer)
    assert not same_clip(first, other)
    assert same_clip(first, replace(longer, source=first.source))
    # Recordings have one address, whatever they show.
    one, another = (replace(each, source=replace(each.source, address=PICTURES)) for each in (first, other))
    assert not same_clip(one, another)
    assert same_clip(one, replace(moved, source=replace(moved.source, length=None)))


def test_ids_are_followed_along_the_motion(tmp_path: Path) -> None:
    still = [replace(result, rgb=story()[0].picture, ids=story()[0].ids) for result in story()]
    steady = stored(tmp_path / "a.scstream", still)
    renamed = [replace(each, ids=each.ids + (10 if place % 2 else 0)) for place, each in enumerate(still)]
    restless = stored(tmp_path / "b.scstream", [replace(each, statistics=_renamed(each)) for each in renamed])
    with open_source(steady.source_address) as source:
        assert kept_along_flow([steady, restless], source, threading.Event()) == [1.0, 0.0]
        cancelled = threading.Event()
        cancelled.set()
        assert kept_along_flow([steady, restless], source, cancelled) == []


def _renamed(result: FrameResult) -> np.ndarray:
    rows = result.statistics.copy()
    rows["id"] += int(result.ids.min()) - int(rows["id"].min())
    return rows
