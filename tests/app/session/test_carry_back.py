"""An object is carried back from a frame to earlier ones; nothing else changes."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers.fake_source import FakeSource
from helpers.object_clips import painted, square_at, unseparated
from scstream import metrics
from scstream_app.errors import SessionError
from scstream_app.objects import MarkedObject
from scstream_app.session import Session
from scstream_app.session.objects.carry_back import carry_back
from scstream_app.session.objects.object_tracking import ObjectResults
from scstream_app.settings import Settings

RESULTS = unseparated(40)
CUT = 6

#: Overlap with the square of 16 x 16 pixels: less than a border of one pixel is missing.
GOOD = 0.8


@pytest.fixture
def source() -> FakeSource:
    return FakeSource([one.picture for one in RESULTS])


@pytest.fixture(params=[None, CUT])
def session(tmp_path: Path, source: FakeSource, request: pytest.FixtureRequest) -> Iterator[Session]:
    with Session.create(tmp_path / "a.scstream", source, Settings()) as session:
        for one in RESULTS:
            session.append(replace(one, cut=one.index == request.param))
        yield session


def overlaps(session: Session, source: FakeSource, objects: Sequence[MarkedObject]) -> list[float]:
    """Overlap of the first object with the square on every frame."""
    results = ObjectResults(session, objects).read(source)
    return [metrics.jaccard(one.objects.mask(0), square_at(one.index)) for one in results if one.objects is not None]


@pytest.mark.parametrize("session", [None], indirect=True)
def test_an_object_marked_late_is_followed_back_to_the_first_frame(session: Session, source: FakeSource) -> None:
    late = (painted("kite", 30),)
    before = overlaps(session, source, late)
    after = overlaps(session, source, carry_back(session, source, late, 0, 30))
    assert max(before[:30]) == 0.0
    assert min(after[:30]) > GOOD
    assert after[30:] == before[30:]


@pytest.mark.parametrize("session", [None], indirect=True)
def test_it_goes_back_to_the_edit_before_and_changes_neither_that_frame_nor_later_ones(
    session: Session, source: FakeSource
) -> None:
    wrong_until_corrected = painted("kite", 3, 30, mask=lambda frame: square_at(frame, row=30 if frame == 3 else 12))
    before = [one.objects for one in ObjectResults(session, (wrong_until_corrected,)).read(source)]
    carried = carry_back(session, source, (wrong_until_corrected,), 0, 30)
    after = [one.objects for one in ObjectResults(session, carried).read(source)]
    for index, (old, new) in enumerate(zip(before, after, strict=True)):
        assert old is not None
        assert new is not None
        if 4 <= index < 30:
            assert (
                metrics.jaccard(new.mask(0), square_at(index)) > GOOD > metrics.jaccard(old.mask(0), square_at(index))
            )
        else:
            np.testing.assert_array_equal(old.numbers, new.numbers)


@pytest.mark.parametrize("session", [CUT], indirect=True)
def test_it_ends_at_a_cut(session: Session, source: FakeSource) -> None:
    late = (painted("kite", 30),)
    overlaps(session, source, late)
    after = overlaps(session, source, carry_back(session, source, late, 0, 30))
    assert max(after[:CUT]) == 0.0
    assert min(after[CUT:30]) > GOOD


@pytest.mark.parametrize("session", [None], indirect=True)
def test_pixels_of_another_object_stay_with_it(session: Session, source: FakeSource) -> None:
    lower_half = painted("wheel", 14, mask=lambda frame: square_at(frame) & (np.arange(48) >= 20)[:, None])
    objects = (painted("kite", 30), lower_half)
    overlaps(session, source, objects)
    old = session.read_object_masks(14, objects)
    carried = carry_back(session, source, objects, 0, 30)
    overlaps(session, source, carried)
    new = session.read_object_masks(14, carried)
    assert old is not None
    assert new is not None
    np.testing.assert_array_equal(new.mask(1), old.mask(1))
    assert metrics.jaccard(new.mask(0), square_at(14) & ~old.mask(1)) > GOOD


@pytest.mark.parametrize("session", [None], indirect=True)
def test_a_cancelled_or_an_untracked_object_stays_as_it_is(session: Session, source: FakeSource) -> None:
    late, cancel = (painted("kite", 30),), threading.Event()
    with pytest.raises(SessionError, match="not tracked yet"):
        carry_back(session, source, late, 0, 30)
    overlaps(session, source, late)
    cancel.set()
    assert carry_back(session, source, late, 0, 30, cancel) == late
