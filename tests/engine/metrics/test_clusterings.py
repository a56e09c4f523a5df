"""Scores of clusterings, against scikit-learn and counting of pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from scstream.metrics import Contingency, ari, clustering_scores, full_nmi, nmi, pairwise_f, purity

LABELS = st.integers(1, 40).flatmap(lambda n: st.tuples(*[st.lists(st.integers(-3, 6), min_size=n, max_size=n)] * 2))


@given(LABELS)
@settings(max_examples=200)
def test_ari_and_nmi_are_scikit_learns(labels: tuple[list[int], list[int]]) -> None:
    truth, predicted = labels
    assert ari(truth, predicted) == pytest.approx(adjusted_rand_score(truth, predicted), abs=1e-12)
    assert nmi(truth, predicted) == pytest.approx(normalized_mutual_info_score(truth, predicted), abs=1e-12)


@given(LABELS)
@settings(max_examples=200)
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
@settings(max_examples=50)
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
