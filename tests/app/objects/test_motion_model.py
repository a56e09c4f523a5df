"""What the motion of pixels says about an object."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from scstream_app.objects.tracking.flow import Motion
from scstream_app.objects.tracking.motion_model import motion_evidence

SHAPE = 120, 160
EVERYTHING = slice(None), slice(None)
OBJECT, INNER, STRAY, GROUND = np.s_[40:80, 50:90], np.s_[41:79, 51:89], np.s_[10:30, 120:150], np.s_[90:115, 10:150]


@pytest.fixture
def flow() -> npt.NDArray[np.float32]:
    """The object moves to the right, something else down, and the ground stands still."""
    flow = np.zeros((*SHAPE, 2), np.float32)
    flow[OBJECT] = -5.0, 0.0
    flow[STRAY] = 0.0, -8.0
    return flow


@pytest.fixture
def warped() -> npt.NDArray[np.float32]:
    warped = np.zeros(SHAPE, np.float32)
    warped[OBJECT] = 1.0
    return warped


def pictures(flow: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """A picture without flat areas, where all motion shows, and the same moved along the flow."""
    before = np.random.default_rng(0).integers(0, 256, SHAPE).astype(np.uint8)
    return before, Motion(before, flow).moved(before)


def test_motion_like_the_object_speaks_for_it_and_standing_still_against(
    flow: npt.NDArray[np.float32], warped: npt.NDArray[np.float32]
) -> None:
    before, grey = pictures(flow)
    evidence = motion_evidence(Motion(before, flow), grey, warped, EVERYTHING)
    # The outline is blurred by a pixel.
    assert evidence[INNER].min() > 1.5
    assert evidence[GROUND].max() < -1.0


def test_motion_like_neither_speaks_less_for_the_object(
    flow: npt.NDArray[np.float32], warped: npt.NDArray[np.float32]
) -> None:
    before, grey = pictures(flow)
    evidence = motion_evidence(Motion(before, flow), grey, warped, EVERYTHING)
    assert 0.0 < evidence[STRAY].mean() < evidence[OBJECT].mean() - 0.5


def test_what_changes_its_looks_as_it_moves_does_not_move_like_a_thing(
    flow: npt.NDArray[np.float32], warped: npt.NDArray[np.float32]
) -> None:
    before, grey = pictures(flow)
    as_a_thing = motion_evidence(Motion(before, flow), grey, warped, EVERYTHING)[STRAY].mean()
    for part in (OBJECT, STRAY, GROUND):
        grey[part] = np.random.default_rng(1).integers(0, 256, grey[part].shape)
    evidence = motion_evidence(Motion(before, flow), grey, warped, EVERYTHING)
    # What was the object may look different; what was not must move as a whole to become a part of it.
    assert evidence[INNER].min() > 1.5
    assert evidence[STRAY].mean() < 0.2 * as_a_thing
    assert evidence[GROUND].max() < -1.0


def test_motion_speaks_for_nothing_where_the_picture_has_not_changed(
    flow: npt.NDArray[np.float32], warped: npt.NDArray[np.float32]
) -> None:
    flat = np.full(SHAPE, 90, np.uint8)
    evidence = motion_evidence(Motion(flat, flow), flat, warped, EVERYTHING)
    assert evidence.max() == 0.0
    assert evidence[GROUND].max() < -1.0


def test_a_region_has_the_evidence_of_the_whole_picture_there(
    flow: npt.NDArray[np.float32], warped: npt.NDArray[np.float32]
) -> None:
    before, grey = pictures(flow)
    motion = Motion(before, flow)
    region = np.s_[20:100, 30:140]
    whole = motion_evidence(motion, grey, warped, EVERYTHING)[region]
    part = motion_evidence(motion, grey, warped, region)
    # A window at the edge of the region sees less of the picture.
    np.testing.assert_allclose(part[4:-4, 4:-4], whole[4:-4, 4:-4], atol=1e-5)


def test_a_tiny_object_has_no_motion_of_its_own(flow: npt.NDArray[np.float32]) -> None:
    before, grey = pictures(flow)
    tiny = np.zeros(SHAPE, np.float32)
    tiny[50:54, 60:64] = 1.0
    assert not motion_evidence(Motion(before, flow), grey, tiny, EVERYTHING).any()
