"""Corrections that a session stores until their frames are segmented."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.clips import moving_square, write_images
from helpers.session_clips import QUICK
from scstream_app import headless
from scstream_app.errors import SessionError
from scstream_app.headless import RunCallbacks
from scstream_app.objects import MarkedObject
from scstream_app.objects.prompt import Prompt
from scstream_app.session import Session, resume
from scstream_app.sources import open_source

MASK = np.zeros((48, 64), bool)
MASK[10:20, 30:40] = True
POINT = Prompt("dog", 2, "added", point=(3, 4), stop=5)
PROMPTS = (POINT, Prompt("dog", 3, box=(1, 2, 30, 40)), Prompt("dog", 4, "removed", mask=MASK))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A session without frames, whose run has three corrections."""
    folder = write_images(tmp_path / "clip", list(moving_square(5)))
    objects = (MarkedObject.made("dog", (0, 0, 0), 0, {0}),)
    with open_source(str(folder)) as source:
        Session.create(tmp_path / "a.scstream", source, QUICK, objects=objects, prompts=PROMPTS).close()
    return tmp_path / "a.scstream"


def test_they_are_read_as_they_were_written(path: Path) -> None:
    point, box, mask = Session.open(path).waiting_prompts
    assert (point, box) == PROMPTS[:2]
    np.testing.assert_array_equal(mask.mask, MASK)
    assert (mask.name, mask.frame, mask.kind, mask.stop) == ("dog", 4, "removed", None)


def test_without_prompts_there_is_no_file(path: Path) -> None:
    with Session.open(path, writable=True) as session:
        session.waiting_prompts = ()
        assert session.waiting_prompts == ()
    assert not (path / "prompts.json").exists()


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "eaten"},
        {"frame": -1},
        {"until": 2},
        {"object": 7},
        {"point": [64, 4]},
        {"point": [3]},
        {"point": [3, "4"]},
        {"box": [60, 0, 10, 10]},
        {"box": [0, 0, 0, 10]},
        {"mask": "!"},
        {"mask": "aGVsbG8="},
    ],
)
def test_invalid_ones_are_refused(path: Path, change: dict[str, Any]) -> None:
    values = json.loads((path / "prompts.json").read_text())
    values["prompts"][0] |= change
    (path / "prompts.json").write_text(json.dumps(values))
    with pytest.raises(SessionError, match=r"Cannot read .*a\.scstream': "):
        _ = Session.open(path).waiting_prompts


def test_resume_applies_those_whose_frames_were_segmented_elsewhere(path: Path) -> None:
    with Session.open(path, writable=True) as session, open_source(session.source_address) as source:
        for _ in resume(session, source).run():
            pass
        assert session.manifest.complete
        run, steps = headless.resume(session, source, None, RunCallbacks())
        assert list(steps) == []
        (dog,) = session.objects
        assert [(edit.kind, edit.frame) for edit in dog.edits] == [("made", 0), ("added", 2), ("painted", 3)]
        assert session.waiting_prompts == ()
        lost = "Cannot correct 'dog' on frame 4: the mask or box covers no segment there."
        assert [notice.text for notice in run.progress.notices] == [lost]


def test_those_of_an_object_that_was_deleted_are_dropped_and_repeated_ones_count_once(path: Path) -> None:
    with Session.open(path, writable=True) as session, open_source(session.source_address) as source:
        for _ in headless.resume(session, source, None, RunCallbacks())[1]:
            pass
        expected = session.objects
        session.waiting_prompts = (*PROMPTS, Prompt("cat", 3, point=(1, 1)))
        for _ in headless.resume(session, source, None, RunCallbacks())[1]:
            pass
        assert session.objects == expected
