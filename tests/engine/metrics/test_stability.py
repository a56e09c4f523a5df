"""Stability of ids over time, on hand-made maps and against pixel-by-pixel computations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import ndimage

from scstream.metrics import Lives, kept_along_flow, label_churn, lives, temporal_consistency


def rows(*frames: list[int]) -> list[np.ndarray]:
    return [np.array([frame], np.int32) for frame in frames]


# --- from frame to frame ------------------------------------------------------------------------------


def test_label_churn_counts_pixels() -> None:
    before, after = rows([3, 3, 3, 3, 8, 8, 8, 8], [3, 3, 4, 4, 8, 8, 8, 8])
    assert label_churn(before, after) == 2 / 8
    assert label_churn(before, before) == 0.0
    with pytest.raises(ValueError, match="images of one size"):
        label_churn(before, after[:, :4])


def test_temporal_consistency_tells_motion_from_renaming() -> None:
    still = rows([1, 1, 1, 1, 2, 2, 2, 2])
    moved = rows([1, 1, 1, 2, 2, 2, 2, 2])
    swapped = rows([2, 2, 2, 2, 1, 1, 1, 1])
    split_off = rows([1, 1, 1, 3, 2, 2, 2, 2])
    assert temporal_consistency(still + moved + still) == 1.0
    assert temporal_consistency(still + swapped) == 0.0
    assert temporal_consistency(still + split_off) == 1.0
    assert temporal_consistency(still + still + swapped) == 0.5
    assert temporal_consistency(iter(still)) == temporal_consistency([]) == 1.0


def test_temporal_consistency_takes_ids_far_apart() -> None:
    ids = [np.array([[0, 2_000_000_000]], np.int32)] * 2
    assert temporal_consistency(ids) == 1.0


# --- along the motion ---------------------------------------------------------------------------------


def constant_flow(shape: tuple[int, int], dx: float, dy: float) -> np.ndarray:
    return np.broadcast_to(np.array([dx, dy], np.float32), (*shape, 2))


def smooth_flow(shape: tuple[int, int], size: float, seed: int) -> np.ndarray:
    noise = np.random.default_rng(seed).standard_normal((*shape, 2))
    smooth = ndimage.gaussian_filter(noise, (4, 4, 0))
    return np.asarray(size * smooth / smooth.std(), np.float32)


def kept_pixel_by_pixel(
    before: np.ndarray, after: np.ndarray, forward: np.ndarray, backward: np.ndarray
) -> tuple[int, int]:
    """Number of pixels that are followed, and of those that keep their id."""
    followed = kept = 0
    for row in range(before.shape[0]):
        for column in range(before.shape[1]):
            dx, dy = forward[row, column].tolist()
            x, y = round(column + dx), round(row + dy)
            if 0 <= x < before.shape[1] and 0 <= y < before.shape[0]:
                back_x, back_y = backward[y, x].tolist()
                if math.dist((dx, dy), (-back_x, -back_y)) < 1.0:
                    followed += 1
                    kept += before[row, column] == after[y, x]
    return followed, kept


@pytest.mark.parametrize("size", [0.4, 2.0, 9.0])
def test_kept_along_flow_is_what_following_each_pixel_gives(size: float) -> None:
    shape = (30, 44)
    rng = np.random.default_rng(0)
    ids = rng.integers(0, 3, (4, 10, 11)).repeat(3, axis=1).repeat(4, axis=2)
    flows = [(smooth_flow(shape, size, seed), -smooth_flow(shape, size, seed)) for seed in range(3)]
    shares = []
    for n, (forward, backward) in enumerate(flows):
        followed, kept = kept_pixel_by_pixel(ids[n], ids[n + 1], forward, backward)
        assert 0 < followed < ids[n].size
        shares.append(kept / followed)
    assert kept_along_flow(iter(ids), iter(flows)) == pytest.approx(np.mean(shares))
    renamed = np.array([70, 2, 2_000_000_000])[ids]
    assert kept_along_flow(renamed, flows) == pytest.approx(np.mean(shares))


def test_a_picture_that_moves_keeps_all_its_ids() -> None:
    """By two columns and minus one row: an error in the order of x and y would not go unnoticed."""
    ids = np.random.default_rng(1).integers(0, 50, (20, 31))
    moved = np.roll(ids, (-1, 2), axis=(0, 1))
    there, back = constant_flow(ids.shape, 2.2, -0.9), constant_flow(ids.shape, -2.1, 1.1)
    assert kept_along_flow([ids, moved], [(there, back)]) == 1.0
    assert kept_along_flow([ids, ids], [(there, back)]) < 0.1


def test_pixels_that_cannot_be_followed_do_not_count() -> None:
    ids = np.arange(12).reshape(3, 4)
    still, nowhere = constant_flow(ids.shape, 0, 0), constant_flow(ids.shape, 9, 0)
    assert kept_along_flow([ids, ids], [(still, constant_flow(ids.shape, 0.8, 0.5))]) == 1.0
    assert math.isnan(kept_along_flow([ids, ids], [(still, constant_flow(ids.shape, 0.8, 0.7))]))
    assert math.isnan(kept_along_flow([ids, ids], [(nowhere, -nowhere)]))
    assert math.isnan(kept_along_flow([ids], []))
    # A pair without any such pixel leaves the mean of the others as it is.
    halves = np.where(ids < 6, ids, -1)
    assert kept_along_flow([ids, halves, ids], [(still, still), (nowhere, -nowhere)]) == 0.5
    unknown = still.copy()
    unknown[:, 2:] = np.nan
    assert kept_along_flow([ids, np.where(np.arange(4) < 2, ids, -1)], [(unknown, unknown)]) == 1.0


def test_flows_of_another_size_or_number_are_refused() -> None:
    ids = np.zeros((3, 4), int)
    still = constant_flow(ids.shape, 0, 0)
    with pytest.raises(ValueError, match=r"flows must have shape \(3, 4, 2\), got \(3, 4, 2\) and \(3, 3, 2\)"):
        kept_along_flow([ids, ids], [(still, still[:, :3])])
    with pytest.raises(ValueError, match="longer"):
        kept_along_flow([ids, ids], [(still, still)] * 2)
    with pytest.raises(ValueError, match="images of one size"):
        kept_along_flow([ids, ids[:2]], [(still, still)])


# --- lives of ids -------------------------------------------------------------------------------------


def test_lives_are_the_frames_in_which_an_id_is_seen() -> None:
    # Id 7 is hidden for a while: its frames count, the gap does not.
    found = lives(rows([3, 3, 7], [3, 3, 3], [3, 7, 7], [8, 8, 8]))
    assert dict(zip(found.ids.tolist(), found.frames.tolist(), strict=True)) == {3: 3, 7: 2, 8: 1}
    assert (found.n_ids, found.n_frames) == (3, 4)
    assert found.duration == 2.0
    assert found.mean == 0.5
    assert found.short_lived() == 0.0
    assert found.short_lived(0.26) == pytest.approx(1 / 3)


def test_lives_are_those_of_the_whole_volume() -> None:
    rng = np.random.default_rng(2)
    ids = rng.choice(np.arange(-4, 400) * 5, (40, 3, 4))
    seen = {label: sum(label in frame for frame in ids) for label in np.unique(ids).tolist()}
    found = lives(iter(ids))
    assert found.ids.tolist() == sorted(seen)
    assert found.mean == pytest.approx(np.mean(list(seen.values())) / 40)
    assert found.short_lived(0.05) == np.mean([n < 2 for n in seen.values()])
    assert lives(-3 * ids).mean == found.mean


@pytest.mark.parametrize("n_frames", [10, 30, 70, 110, 410])
def test_a_tenth_of_the_frames_is_not_short_lived(n_frames: int) -> None:
    ids = np.array([0, 1, 2])
    exactly = Lives(ids, np.array([n_frames // 10, n_frames // 10 - 1, n_frames]), n_frames)
    assert exactly.short_lived() == pytest.approx(1 / 3)


def test_lives_of_no_frame_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one frame"):
        lives([])
