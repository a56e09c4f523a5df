"""Masks of objects in a session: stored ones are read back while their edits stay the same."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from helpers.fake_source import FakeSource
from helpers.session_clips import clip, recorded
from scstream_app.errors import SessionError
from scstream_app.objects import MarkedObject, ObjectEdit
from scstream_app.pipeline.frame_result import ObjectMasks
from scstream_app.session import ObjectResults, Session

KITE = MarkedObject.made("kite", (230, 160, 0), 1, {0})


FRAMES = clip(4, cut=None)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    recorded(tmp_path / "a.scstream", FRAMES)
    with Session.open(tmp_path / "a.scstream", writable=True) as session:
        yield session


def masks_of(session: Session, place: int = 1) -> ObjectMasks:
    numbers = np.zeros((session.manifest.source.height, session.manifest.source.width), np.uint8)
    numbers[1:3, 2:5] = place
    return ObjectMasks(numbers, (0.25,) * place)


def test_masks_come_back_as_they_were(session: Session) -> None:
    session.store_object_masks(2, masks_of(session), [KITE])
    found = session.read_object_masks(2, [KITE])
    assert found is not None
    assert np.array_equal(found.numbers, masks_of(session).numbers)
    assert found.confidences == (0.25,)


def test_masks_made_from_other_edits_do_not_count(session: Session) -> None:
    later = KITE.with_edits([*KITE.edits, ObjectEdit("removed", 2, frozenset({0}))])
    for index in (1, 2):
        session.store_object_masks(index, masks_of(session), [KITE])
    assert session.read_object_masks(1, [later]) is not None
    assert session.read_object_masks(2, [later]) is None


def test_an_object_that_begins_later_has_no_pixels_yet(session: Session) -> None:
    other = MarkedObject.made("board", (0, 160, 0), 5, {1})
    session.store_object_masks(2, masks_of(session), [KITE])
    found = session.read_object_masks(2, [KITE, other])
    assert found is not None
    assert found.confidences == (0.25, 0.0)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data.replace(b"[0.25]", b"[7]"),
        lambda data: data.replace(b"[0.25]", b"[]"),
        lambda data: data.replace(b"[0.25]", b"{}"),
        lambda data: b"[" * 5000 + data,
    ],
)
def test_damaged_masks_are_ignored(session: Session, damage) -> None:  # type: ignore[no-untyped-def]
    session.store_object_masks(2, masks_of(session), [KITE])
    path = session.path / "object_masks" / "000002.mask"
    path.write_bytes(damage(path.read_bytes()))
    assert session.read_object_masks(2, [KITE]) is None


@pytest.mark.skipif(os.name != "posix", reason="symbolic links need rights on Windows")
def test_a_link_is_refused(session: Session, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (session.path / "object_masks").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SessionError, match="link"):
        session.store_object_masks(2, masks_of(session), [KITE])


def test_tracked_frames_are_stored_and_need_no_source_afterwards(session: Session) -> None:
    first, last = int(session.frames[0]), int(session.frames[-1])
    ids = next(session.results(first, first + 1)).ids
    thing = MarkedObject.made("thing", (230, 160, 0), first, {int(ids[0, 0])})
    results = ObjectResults(session, [thing], last)
    assert not results.stored
    tracked = list(results.read(FakeSource(FRAMES)))
    assert [result.index for result in tracked] == [last]
    assert ObjectResults(session, [thing]).stored
    again = list(results.read())
    assert tracked[0].objects is not None
    assert again[0].objects is not None
    assert np.array_equal(again[0].objects.numbers, tracked[0].objects.numbers)


def test_without_a_source_objects_consist_of_segments(session: Session) -> None:
    first = int(session.frames[0])
    ids = next(session.results(first, first + 1)).ids
    thing = MarkedObject.made("thing", (230, 160, 0), first, {int(ids[0, 0])})
    found = next(ObjectResults(session, [thing], first, first + 1).read())
    assert found.objects is not None
    assert np.array_equal(found.objects.mask(0), ids == ids[0, 0])
    assert np.isnan(found.objects.confidences[0])


@pytest.mark.parametrize("complete", [False, True])
def test_masks_of_other_objects_replace_those_of_the_session_when_all_are_tracked(
    session: Session, complete: bool
) -> None:
    session.objects = (KITE,)
    source = FakeSource(FRAMES)
    list(ObjectResults(session, [KITE]).read(source))
    board = MarkedObject.made("board", (0, 160, 0), 0, {1})
    results = ObjectResults(session, [board]).read(source)
    for _ in range(len(FRAMES)):
        next(results)
        assert ObjectResults(session, [KITE]).stored
    if complete:
        assert list(results) == []
    results.close()
    assert ObjectResults(session, [KITE]).stored is not complete
    assert ObjectResults(session, [board]).stored is complete
    assert not (session.path / "object_masks.new").exists()


def test_masks_that_a_killed_export_has_left_are_removed(session: Session) -> None:
    session.store_object_masks(1, masks_of(session), [KITE], staged=True)
    assert session.read_object_masks(1, [KITE]) is None
    session.close()
    with Session.open(session.path, writable=True):
        assert not (session.path / "object_masks.new").exists()
