"""Data at the edge of what a stream can hold: the right clusters, or an error that says what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reference import Array
from scstream import Component, DiagonalGaussian, Gaussian, ScStream

COMPONENTS: dict[str, Component | None] = {
    "default": None,
    "gaussian": Gaussian(psi=1.0),
    "diagonal": DiagonalGaussian(),
}


def drifting_blobs(D: int, n_batches: int, seed: int = 0, n: int = 200) -> list[Array]:
    rng = np.random.default_rng(seed)
    centres = 25.0 * np.stack([np.eye(D)[0], -np.eye(D)[0], np.zeros(D)]) + rng.normal(size=(3, D))
    batches = []
    for _ in range(n_batches):
        batches.append(centres[rng.integers(0, 3, n)] + rng.normal(size=(n, D)))
        centres = centres + rng.normal(0.0, 0.3, centres.shape)
    return batches


# --- far from zero


@pytest.mark.parametrize("follow", ["nothing", "clusters", "halves"])
@pytest.mark.parametrize("D", [1, 2, 5])
@pytest.mark.parametrize("name", COMPONENTS)
def test_an_offset_changes_nothing(name: str, D: int, follow: str, tmp_path: Path) -> None:
    """1e9 standard deviations of a cluster: float64 rounds such points to about 1e-7."""
    offset = 1e9 * np.where(np.arange(D) % 2 == 0, 1.0, -1.0)
    here, there = (ScStream(COMPONENTS[name], follow=follow, seed=1, max_init_sweeps=60) for _ in range(2))
    for n, X in enumerate(drifting_blobs(D, 5, seed=D)):
        there.partial_fit(X + offset)
        np.testing.assert_array_equal(there.labels_, here.partial_fit(X).labels_)
        np.testing.assert_array_equal(there.predict(X + offset), here.predict(X))
        np.testing.assert_allclose(there.score_samples(X + offset), here.score_samples(X), rtol=1e-5)
        np.testing.assert_allclose(there.means_ - offset, here.means_, atol=1e-6)
        np.testing.assert_allclose(there.covariances_, here.covariances_, rtol=1e-5, atol=1e-6)
        assert there.log_posterior_ == pytest.approx(here.log_posterior_, rel=1e-6)
        assert [event.ids for event in there.events_] == [event.ids for event in here.events_]
        if n == 2:
            there.save(tmp_path / "model.npz")
            there = ScStream.load(tmp_path / "model.npz")
    assert here.n_clusters_ >= 3


@pytest.mark.parametrize("make", [Gaussian, DiagonalGaussian])
def test_the_default_prior_is_accurate_far_from_zero(make: Any) -> None:
    X = np.random.default_rng(2).normal(size=(200, 2)) * [3.0, 1.0]
    for offset in (1e9, -1e12):
        rounded = X + offset
        prior = make().bind(rounded, np.ones(200)).hyperparameters()
        np.testing.assert_allclose(prior["m"], offset + (rounded - offset).mean(axis=0), rtol=1e-15)
        expected = (rounded - offset).var(axis=0)
        np.testing.assert_allclose(np.diag(prior["psi"]) if make is Gaussian else prior["psi"], expected, rtol=1e-9)
