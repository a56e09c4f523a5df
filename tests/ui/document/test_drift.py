"""Drift of segments: learnt a few frames at a time, and no more remembered than is needed."""

from __future__ import annotations

import pytest

from scstream_app.ui.document import drift
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.drift import Origins


def test_a_table_waits_for_few_frames_at_a_time(story_document: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drift, "_MOST_READS", 1)
    read, statistics = [], story_document.session.statistics
    monkeypatch.setattr(story_document.session, "statistics", lambda frame: read.append(frame) or statistics(frame))
    rows, origins = statistics(3), Origins(story_document)
    origins.learn(rows)
    assert read == [0]
    assert [found is not None for found in origins.drifts(rows)] == [row["id"] != 3 for row in rows]
    origins.learn(rows)
    assert read == [0, 2]
    assert None not in origins.drifts(rows)
    origins.learn(rows)
    assert read == [0, 2]


def test_segments_that_are_long_gone_are_forgotten(story_document: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drift, "_MOST_KNOWN", 3)
    origins, session = Origins(story_document), story_document.session
    for frame in (0, 3, 4, 4):
        origins.learn(session.statistics(frame))
    gone = session.statistics(3)[session.statistics(3)["id"] == 2]
    assert origins.drifts(gone) == [None]
    assert None not in origins.drifts(session.statistics(4))
