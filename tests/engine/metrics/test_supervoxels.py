"""Supervoxel measures, against computations on the whole volume and volumes with known answers."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from scstream.metrics import Supervoxels, supervoxel_scores


def boundary_voxels(volume: np.ndarray) -> np.ndarray:
    """Voxels that differ from a neighbour in time, row or column, found one by one."""
    found = np.zeros(volume.shape, bool)
    for place in np.ndindex(volume.shape):
        for axis in range(3):
            for step in (-1, 1):
                near = list(place)
                near[axis] += step
                if 0 <= near[axis] < volume.shape[axis] and volume[tuple(near)] != volume[place]:
                    found[place] = True
    return found


def scores_of_volume(ids: np.ndarray, truth: np.ndarray, rgb: np.ndarray, void: int | None) -> dict[str, float]:
    """The definitions, with the whole video in memory."""
    errors, accuracies = [], []
    for region in set(np.unique(truth).tolist()) - {void}:
        inside = truth == region
        touching = np.isin(ids, ids[inside])
        good = [label for label in np.unique(ids) if np.mean(inside[ids == label]) >= 0.5]
        errors.append((touching.sum() - inside.sum()) / inside.sum())
        accuracies.append((np.isin(ids, good) & inside).sum() / inside.sum())
    wanted = boundary_voxels(truth) & (truth != void)
    # R squared of the regression of colours on ids.
    painted = np.empty(rgb.shape)
    for label in np.unique(ids):
        painted[ids == label] = rgb[ids == label].mean(axis=0)
    residual, variation = ((rgb - painted) ** 2).sum(), ((rgb - rgb.reshape(-1, 3).mean(axis=0)) ** 2).sum()
    return {
        "ue3d": float(np.mean(errors)),
        "sa3d": float(np.mean(accuracies)),
        "br3d": float(boundary_voxels(ids)[wanted].mean()),
        "ev": float(1 - residual / variation),
        "duration": float(np.mean([np.any(ids == label, axis=(1, 2)).sum() for label in np.unique(ids)])),
        "n_ids": len(np.unique(ids)),
    }


def random_video(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ids that are a finer division of the truth, with errors, and pictures that depend on them."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 5, (3, 3, 4)).repeat(3, axis=0).repeat(4, axis=1).repeat(4, axis=2)
    ids = 3 * coarse + (np.indices(coarse.shape).sum(axis=0) // 3) % 3
    truth = np.where(rng.random(ids.shape) < 0.1, 0, coarse)
    ids = np.where(rng.random(ids.shape) < 0.1, rng.integers(0, 40, ids.shape), ids)
    rgb = (10 * ids[..., None] + rng.integers(0, 60, (*ids.shape, 3))) % 256
    return ids, truth, rgb.astype(np.uint8)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("void", [None, 0, 3])
def test_scores_frame_by_frame_are_those_of_the_volume(seed: int, void: int | None) -> None:
    ids, truth, rgb = random_video(seed)
    expected = scores_of_volume(ids, truth, rgb.astype(float), void)
    found = supervoxel_scores(iter(ids), iter(truth), iter(rgb), void)
    assert asdict(found) == pytest.approx(expected)
    assert 0.1 < expected["sa3d"] < 0.99
    assert 0.1 < expected["br3d"] < 0.99
    assert 0.1 < expected["ev"] < 0.99


def test_scores_do_not_depend_on_the_names_of_labels() -> None:
    ids, truth, rgb = random_video(9)
    renamed = supervoxel_scores(10**6 - 700 * ids, np.array([77, -2, 5, 10**9, 0])[truth], rgb, void=77)
    expected = supervoxel_scores(ids, truth, rgb, void=0)
    assert asdict(renamed) == pytest.approx(asdict(expected))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_scores_of_the_reversed_video_are_the_same(axis: int) -> None:
    ids, truth, rgb = random_video(5)
    backwards = supervoxel_scores(*(np.flip(each, axis) for each in (ids, truth, rgb)))
    assert asdict(backwards) == pytest.approx(asdict(supervoxel_scores(ids, truth, rgb)))


def test_the_truth_itself_is_perfect() -> None:
    _, truth, _ = random_video(1)
    painted = np.stack([truth * 40, truth * 3, 255 - truth], axis=-1).astype(np.uint8)
    found = supervoxel_scores(truth, truth, painted)
    assert (found.ue3d, found.sa3d, found.br3d, found.ev) == (0.0, 1.0, 1.0, pytest.approx(1.0))
    voxels = np.arange(truth.size).reshape(truth.shape)
    finest = supervoxel_scores(voxels, truth, painted)
    assert (finest.ue3d, finest.sa3d, finest.br3d, finest.ev) == (0.0, 1.0, 1.0, pytest.approx(1.0))
    assert (finest.duration, finest.n_ids) == (1.0, truth.size)


def test_one_segment_for_everything() -> None:
    truth = np.zeros((2, 4, 5), int)
    truth[:, :, 4] = 1
    truth[0, 0, 4] = 2
    found = supervoxel_scores(np.full_like(truth, 6), truth, np.arange(120).reshape(2, 4, 5, 3))
    # 40 voxels against regions of 32, 7 and 1; only the first is more than half of it.
    assert found.ue3d == pytest.approx((8 / 32 + 33 / 7 + 39 / 1) / 3)
    assert found.sa3d == pytest.approx(1 / 3)
    assert found.br3d == 0.0
    assert found.ev == pytest.approx(0.0)
    assert (found.duration, found.n_ids) == (2.0, 1)


def test_a_half_of_a_segment_is_enough_for_accuracy() -> None:
    found = supervoxel_scores([np.array([[5, 5, 5, 5]])], [np.array([[1, 1, 2, 2]])])
    assert (found.sa3d, found.ue3d) == (1.0, 1.0)
    assert found.ev is None


def test_void_is_no_region_but_counts_in_the_volume_of_a_segment() -> None:
    ids, truth = np.array([[1, 1, 1, 1, 2, 3]]), np.array([[7, 7, 0, 0, 7, 0]])
    found = supervoxel_scores([ids], [truth], void=0)
    # Segments 1 and 2 touch the region of 3 voxels with a volume of 5.
    assert found.ue3d == pytest.approx(2 / 3)
    assert found.sa3d == 1.0
    # Of the boundary voxels 1 and 4 of the region, the segmentation has 4 alone.
    assert found.br3d == 0.5


def test_a_change_in_time_is_a_boundary_on_both_sides() -> None:
    truth = np.array([[[1]], [[1]], [[2]], [[2]]])
    exact, late = [4, 4, 5, 5], [4, 4, 4, 5]
    assert supervoxel_scores([np.array([[n]]) for n in exact], truth).br3d == 1.0
    assert supervoxel_scores([np.array([[n]]) for n in late], truth).br3d == 0.5


def test_scores_can_be_read_while_frames_are_added() -> None:
    ids, truth, rgb = random_video(3)
    voxels = Supervoxels(void=0)
    buffers = [np.empty_like(each[0]) for each in (ids, truth, rgb)]
    for n in range(len(ids)):
        for buffer, each in zip(buffers, (ids, truth, rgb), strict=True):
            buffer[:] = each[n]
        voxels.add(*buffers)
        assert voxels.scores() == supervoxel_scores(ids[: n + 1], truth[: n + 1], rgb[: n + 1], void=0)


def test_a_single_colour_is_explained() -> None:
    ids, truth, _ = random_video(2)
    grey = np.full((*ids.shape, 3), 0.1)
    assert supervoxel_scores(ids, truth, grey).ev == 1.0


def test_videos_that_cannot_be_scored_are_refused() -> None:
    ids, truth, rgb = random_video(0)
    with pytest.raises(ValueError, match="no region"):
        supervoxel_scores(ids, np.zeros_like(truth), void=0)
    with pytest.raises(ValueError, match="no region"):
        supervoxel_scores([], [])
    with pytest.raises(ValueError, match="shorter"):
        supervoxel_scores(ids, truth[:-1])
    with pytest.raises(ValueError, match="longer"):
        supervoxel_scores(ids, truth, [*rgb, rgb[0]])
    with pytest.raises(ValueError, match="ids and truth must be images of one size"):
        supervoxel_scores(ids, truth[:, 1:])
    with pytest.raises(ValueError, match=r"pictures must have shape \(12, 16, 3\), got \(12, 16, 4\)"):
        supervoxel_scores(ids, truth, np.zeros((*ids.shape, 4)))
    with pytest.raises(ValueError, match="all frames must be images of one size"):
        supervoxel_scores([ids[0], ids[0, 1:]], [truth[0], truth[0, 1:]])
    voxels = Supervoxels()
    voxels.add(ids[0], truth[0], rgb[0])
    with pytest.raises(ValueError, match="of all frames, or of none"):
        voxels.add(ids[1], truth[1])
