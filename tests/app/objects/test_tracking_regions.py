"""What the tracker computes in a part of a picture is what the whole picture gives there."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from scstream_app.objects.tracking import thin_parts
from scstream_app.objects.tracking.flow import Motion
from scstream_app.objects.tracking.outline import Guide
from scstream_app.objects.tracking.straight_lines import StraightLine, advance_lines
from scstream_app.objects.tracking.working_frame import ReducedPicture, Region, WorkingFrame, box_around

#: Sizes of which the reduced one is a half, about a third, and the same.
SIZES = [(480, 854), (720, 1280), (90, 130)]
OUTSIDE = -6.0


def pictured(height: int, width: int) -> ReducedPicture:
    """A picture of noise with blotches."""
    noise = np.random.default_rng(0).normal(120.0, 60.0, (height, width, 3)).astype(np.float32)
    return ReducedPicture.of(np.clip(cv2.GaussianBlur(noise, (0, 0), 2.0) * 2.0 - 120.0, 0, 255).astype(np.uint8))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("part", ["inside", "corner", "whole"])
def test_scores_are_enlarged_around_a_region_as_in_the_whole_picture(size: tuple[int, int], part: str) -> None:
    picture = pictured(*size)
    height, width = picture.grey.shape
    region = {
        "inside": np.s_[21:50, 30:91],
        "corner": np.s_[height - 40 : height, 0:50],
        "whole": np.s_[:, :],
    }[part]
    guide = Guide.of(picture, region)
    scores = np.random.default_rng(1).normal(0.0, 2.0, guide.grey.shape).astype(np.float32)
    slope, offset = guide.fit(scores)
    found = np.full(size, OUTSIDE, np.float32)
    found[guide.place] = guide.enlarged(slope, offset, OUTSIDE)

    whole = [np.zeros((height, width), np.float32), np.full((height, width), OUTSIDE, np.float32)]
    whole[0][region], whole[1][region] = slope, offset
    large = [cv2.resize(one, size[::-1], interpolation=cv2.INTER_LINEAR) for one in whole]
    np.testing.assert_allclose(found, large[0] * (picture.luminance() / 255.0) + large[1], atol=1e-4)


@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_moving_an_image_leaves_out_only_what_is_nothing(kind: type[np.uint8] | type[np.float32]) -> None:
    rng = np.random.default_rng(0)
    flow = rng.normal(0.0, 3.0, (60, 80, 2)).astype(np.float32)
    image = np.zeros((60, 80), kind)
    image[20:35, 60:80] = 1 + rng.integers(0, 200, (15, 20))
    motion = Motion(np.zeros((60, 80), np.uint8), flow)
    columns, rows = np.meshgrid(np.arange(80, dtype=np.float32), np.arange(60, dtype=np.float32))
    expected = cv2.remap(image, columns + flow[..., 0], rows + flow[..., 1], cv2.INTER_LINEAR)
    np.testing.assert_array_equal(motion.moved(image), expected)
    assert not motion.moved(np.zeros_like(image)).any()


@pytest.mark.parametrize("region", [np.s_[40:60, 50:90], np.s_[0:30, 100:130], np.s_[0:90, 0:130]])
def test_ridges_of_a_region_are_those_of_the_whole_picture(region: Region) -> None:
    picture = pictured(90, 130)
    whole = thin_parts._ridges(picture, 2.0, np.s_[0:90, 0:130])
    np.testing.assert_array_equal(thin_parts._ridges(picture, 2.0, region), whole[region])


def test_lines_are_sought_near_where_they_are_expected_only() -> None:
    heights = np.full((240, 320), np.nan, np.float32)
    heights[60:140, 60:220] = 0.0
    cv2.line(heights, (82, 81), (202, 116), 20.0, 2)
    asked: list[Region] = []

    def ridges(region: Region) -> npt.NDArray[np.float32]:
        asked.append(region)
        return heights[region]

    line = StraightLine(np.array([[80.0, 80.0], [200.0, 115.0]]), 2.0)
    (found,) = advance_lines([line], ridges, heights.shape, np.array([2.0, 0.0]), 12.0, 2.0)
    assert found.missed == 0
    assert len(asked) == 1
    assert not np.isnan(heights[asked[0]]).any()


def test_a_part_of_a_frame_has_the_segments_of_its_pixels() -> None:
    ids = np.random.default_rng(0).choice([3, 7, 4000], (90, 130)).astype(np.int32)
    frame = WorkingFrame.of(pictured(90, 130), ids)
    part = frame.part(np.s_[10:40, 20:70])
    assert frame.names.tolist() == [3, 7, 4000]
    np.testing.assert_array_equal(frame.names[part.segments].reshape(30, 50), ids[10:40, 20:70])
    np.testing.assert_array_equal(frame.sizes, [(ids == id).sum() for id in frame.names])


def test_the_box_around_nothing_is_empty() -> None:
    mask = np.zeros((20, 30), bool)
    assert not mask[box_around(mask, 5)].size
