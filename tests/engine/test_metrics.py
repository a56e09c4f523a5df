"""Scores of clusterings and of video segments, against libraries, brute force and hand-made pictures."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from scstream.metrics import (
    Contingency,
    ari,
    boundary_f,
    carried_jaccard,
    clustering_scores,
    dominant_id,
    full_nmi,
    jaccard,
    label_churn,
    nmi,
    oracle_jaccard,
    oracle_jaccard_per_frame,
    pairwise_f,
    purity,
    temporal_consistency,
)
from scstream.sampler.genealogy import Event, Kind

LABELS = st.integers(1, 40).flatmap(lambda n: st.tuples(*[st.lists(st.integers(-3, 6), min_size=n, max_size=n)] * 2))

# --- clusterings --------------------------------------------------------------------------------------


@given(LABELS)
@settings(max_examples=200, deadline=None)
def test_ari_and_nmi_are_scikit_learns(labels: tuple[list[int], list[int]]) -> None:
    truth, predicted = labels
    assert ari(truth, predicted) == pytest.approx(adjusted_rand_score(truth, predicted), abs=1e-12)
    assert nmi(truth, predicted) == pytest.approx(normalized_mutual_info_score(truth, predicted), abs=1e-12)


@given(LABELS)
@settings(max_examples=200, deadline=None)
def test_pairwise_f_and_purity_are_what_counting_gives(labels: tuple[list[int], list[int]]) -> None:
    truth, predicted = labels
    pairs = list(combinations(range(len(truth)), 2))
    together = {(i, j) for i, j in pairs if truth[i] == truth[j]}
    claimed = {(i, j) for i, j in pairs if predicted[i] == predicted[j]}
    total = len(together) + len(claimed)
    assert pairwise_f(truth, predicted) == pytest.approx(2 * len(together & claimed) / total if total else 1.0)
    members = {c: [t for t, p in zip(truth, predicted, strict=True) if p == c] for c in set(predicted)}
    right = sum(max(group.count(label) for label in group) for group in members.values())
    assert purity(truth, predicted) == pytest.approx(right / len(truth))


@given(LABELS)
@settings(max_examples=50, deadline=None)
def test_scores_stay_in_range_and_ignore_names(labels: tuple[list[int], list[int]]) -> None:
    truth, predicted = labels
    scores = clustering_scores(truth, predicted)
    assert all(0.0 <= scores[name] <= 1.0 + 1e-12 for name in ("nmi", "purity", "pairwise_f"))
    renamed = clustering_scores([f"class {t}" for t in truth], [100 - 7 * p for p in predicted])
    assert renamed == pytest.approx(scores)


def test_counts_of_large_tables_do_not_overflow() -> None:
    halves = np.repeat([0, 1], 1_000_000)
    big = Contingency.of(halves, halves)
    huge = Contingency(big.truth, big.predicted, big.counts * 1000)
    assert huge.ari() == huge.nmi() == huge.pairwise_f() == 1.0


def test_full_nmi_is_nmi_of_the_concatenation() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 7, (30, 100))
    predicted = np.where(rng.random((30, 100)) < 0.7, truth + np.arange(30)[:, None] // 10, 99)
    expected = normalized_mutual_info_score(truth.ravel(), predicted.ravel())
    assert full_nmi(iter(truth), iter(predicted)) == pytest.approx(expected)
    added = Contingency.of(truth[0], predicted[0])
    for batch in range(1, 30):
        added += Contingency.of(truth[batch], predicted[batch])
    assert added.nmi() == pytest.approx(expected)
    assert added.n == 3000


def test_bad_labels_are_refused() -> None:
    with pytest.raises(ValueError, match=r"got shapes \(2,\) and \(3,\)"):
        ari([0, 1], [0, 1, 2])
    with pytest.raises(ValueError, match="one length"):
        nmi([[0, 1]], [[0, 1]])
    with pytest.raises(ValueError, match="must not be empty"):
        purity([], [])
    with pytest.raises(ValueError, match="at least one batch"):
        full_nmi([], [])
    with pytest.raises(ValueError, match="shorter"):
        full_nmi([[0]], [])


# --- masks --------------------------------------------------------------------------------------------


def blob(shape: tuple[int, int], seed: int) -> np.ndarray:
    noise = np.random.default_rng(seed).standard_normal(shape)
    return np.asarray(ndimage.gaussian_filter(noise, 6) > 0.02)


def boundary_f_by_distance_transform(pred: np.ndarray, truth: np.ndarray, tolerance: float = 0.008) -> float:
    """The DAVIS definition, pixel by pixel: outlines grown by a disk."""
    radius = math.ceil(tolerance * np.linalg.norm(pred.shape))

    def outline(mask: np.ndarray) -> np.ndarray:
        right, below, both = np.zeros_like(mask), np.zeros_like(mask), np.zeros_like(mask)
        right[:, :-1], below[:-1], both[:-1, :-1] = mask[:, 1:], mask[1:], mask[1:, 1:]
        edge = (mask ^ right) | (mask ^ below) | (mask ^ both)
        edge[-1], edge[:, -1] = mask[-1] ^ right[-1], mask[:, -1] ^ below[:, -1]
        edge[-1, -1] = False
        return np.asarray(edge)

    a, b = outline(pred), outline(truth)
    precision = np.mean(ndimage.distance_transform_edt(~b)[a] <= radius)
    recall = np.mean(ndimage.distance_transform_edt(~a)[b] <= radius)
    return float(2 * precision * recall / (precision + recall))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("tolerance", [0.008, 0.03])
def test_boundary_f_is_the_distance_transforms(seed: int, tolerance: float) -> None:
    pred, truth = blob((70, 110), seed), blob((70, 110), seed + 100)
    expected = boundary_f_by_distance_transform(pred, truth, tolerance)
    assert 0.05 < expected < 0.95
    assert boundary_f(pred, truth, tolerance) == pytest.approx(expected)


def test_boundary_f_on_edge_cases() -> None:
    empty, full = np.zeros((20, 30), bool), np.ones((20, 30), bool)
    dot = empty.copy()
    dot[10, 10] = True
    assert boundary_f(empty, empty) == 1.0
    assert boundary_f(full, empty) == 1.0  # neither has an outline inside the picture
    assert boundary_f(dot, empty) == 0.0
    assert boundary_f(empty, dot) == 0.0
    assert boundary_f(dot, dot) == 1.0
    with pytest.raises(ValueError, match="tolerance must be > 0"):
        boundary_f(dot, dot, tolerance=0.0)


def test_jaccard_on_hand_made_masks() -> None:
    a = np.array([[1, 1, 0], [0, 0, 0]])
    b = np.array([[0, 255, 255], [0, 0, 255]], np.uint8)
    assert jaccard(a, b) == 1 / 4
    assert jaccard(a, a) == 1.0
    assert jaccard(a, 0 * a) == 0.0
    assert jaccard(0 * a, 0 * a) == 1.0
    with pytest.raises(ValueError, match="images of one size"):
        jaccard(a, b[:1])


# --- segments against masks ---------------------------------------------------------------------------

MASK = np.array([[1, 1, 1, 1, 0, 0, 0, 0]])


def rows(*frames: list[int]) -> list[np.ndarray]:
    return [np.array([frame], np.int32) for frame in frames]


def move(kind: Kind, frame: int, first: int, second: int) -> Event:
    return Event(kind, float(frame), frame, (first, second), 1.0, (2.0, 1.0))


# Id 3 is the object and 8 the background; 3 loses 4 to a split; 4 loses 5; 4 is absorbed by the background.
STORY = rows(
    [3, 3, 3, 3, 8, 8, 8, 8],
    [3, 3, 4, 4, 8, 8, 8, 8],
    [3, 3, 4, 5, 8, 8, 8, 8],
    [3, 3, 8, 5, 8, 8, 8, 8],
)
STORY_EVENTS = [
    [],
    [move(Kind.SPLIT, 1, 3, 4)],
    [move(Kind.SPLIT, 2, 4, 5)],
    [move(Kind.MERGE, 3, 8, 4)],
]


def test_carrying_along_a_split_and_merge_story() -> None:
    masks = [MASK] * 4
    np.testing.assert_allclose(carried_jaccard(STORY, masks), [1, 2 / 4, 2 / 4, 2 / 4])
    np.testing.assert_allclose(carried_jaccard(STORY, masks, STORY_EVENTS), [1, 1, 1, 3 / 4])


def test_carrying_picks_ids_that_lie_mostly_inside_and_ignores_the_first_frames_events() -> None:
    ids = rows([1, 1, 2, 2, 2, 2, 3, 3], [1, 1, 2, 2, 2, 2, 3, 3])
    mask = np.array([[1, 1, 1, 1, 0, 0, 0, 0]])
    # Half of id 2 is not most of it.
    np.testing.assert_allclose(carried_jaccard(ids, [mask, mask]), [0.5, 0.5])
    past = [[move(Kind.SPLIT, 0, 1, 3)], []]
    np.testing.assert_allclose(carried_jaccard(ids, [mask, mask], past), [0.5, 0.5])


def test_carrying_a_frame_without_object_scores_one() -> None:
    nothing = np.zeros_like(MASK)
    ids = rows([1] * 8, [1] * 8)
    np.testing.assert_allclose(carried_jaccard(ids, [nothing, nothing]), [1, 1])
    np.testing.assert_allclose(carried_jaccard(ids, [nothing, MASK]), [1, 0])


def test_oracle_decides_once_per_video() -> None:
    # Id 1 leaks in frame 1, yet 7 of its 12 pixels are the object's: it stays with the object.
    ids = rows([1, 1, 1, 1, 2, 2, 2, 2], [1, 1, 1, 1, 1, 1, 1, 1])
    other = np.array([[1, 1, 1, 0, 0, 0, 0, 0]])
    np.testing.assert_allclose(oracle_jaccard(ids, [MASK, other]), [1, 3 / 8])
    np.testing.assert_allclose(oracle_jaccard_per_frame(ids, [MASK, other]), [1, 0])


def test_oracle_reads_generators_and_counts_frames() -> None:
    assert oracle_jaccard((frame for frame in STORY), (MASK for _ in STORY)).shape == (4,)
    assert oracle_jaccard([], []).shape == oracle_jaccard_per_frame([], []).shape == (0,)
    with pytest.raises(ValueError, match="shorter"):
        oracle_jaccard(STORY, [MASK] * 3)
    with pytest.raises(ValueError, match="images of one size"):
        oracle_jaccard(STORY, [MASK[:, :4]] * 4)


@pytest.mark.parametrize("spread", [1, 1000, 10**6])
def test_scores_from_tables_equal_scores_from_pixels(spread: int) -> None:
    rng = np.random.default_rng(spread)
    small = rng.integers(0, 12, (5, 6, 8)).repeat(4, axis=1).repeat(4, axis=2)
    ids = (small * spread).astype(np.int32)
    masks = (small < 5) ^ (rng.random(small.shape) < 0.3)
    inside = np.array([masks[small == k].mean() for k in range(12)])
    members = np.flatnonzero(inside > 0.5)
    assert members.tolist() == [0, 1, 2, 3, 4]
    expected = [jaccard(np.isin(frame, members), mask) for frame, mask in zip(small, masks, strict=True)]
    np.testing.assert_allclose(oracle_jaccard(ids, masks), expected)
    best = [np.bincount(frame[mask]).argmax() for frame, mask in zip(small, masks, strict=True)]
    np.testing.assert_array_equal(dominant_id(ids, masks), np.array(best) * spread)


def test_dominant_id_of_an_empty_mask_is_none() -> None:
    ids = rows([5, 5, 7, 7, 7, 7, 7, 7])
    assert dominant_id(ids * 2, [MASK * 0, np.array([[1, 1, 1, 0, 0, 0, 0, 0]])]).tolist() == [-1, 5]


def test_oracle_on_a_real_clip(shared_data: Path) -> None:
    cv2 = pytest.importorskip("cv2")
    folder = shared_data / "davis2016" / "Annotations" / "480p" / "bear"
    masks = [cv2.imread(str(path), cv2.IMREAD_GRAYSCALE) for path in sorted(folder.iterdir())[:3]]
    y, x = np.mgrid[: masks[0].shape[0], : masks[0].shape[1]]
    grid = (y // 8 * 1000 + x // 8).astype(np.int32)
    scores = oracle_jaccard_per_frame([grid] * 3, masks)
    # Squares of 8 pixels follow a bear closely; the same squares, chosen once, a little less so.
    assert np.all((scores > 0.9) & (scores < 1.0))
    assert np.all(oracle_jaccard([grid] * 3, masks) <= scores)


# --- steadiness ---------------------------------------------------------------------------------------


def test_label_churn_counts_pixels() -> None:
    assert label_churn(STORY[0], STORY[1]) == 2 / 8
    assert label_churn(STORY[0], STORY[0]) == 0.0
    with pytest.raises(ValueError, match="images of one size"):
        label_churn(STORY[0], STORY[1][:, :4])


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
