"""What a fitted model knows of its clusters, in one order: ids, weights, moments, probabilities of points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from reference import Array
from scstream import Component, DiagonalGaussian, Gaussian, Multinomial, ScStream

COMPONENTS: dict[str, Component] = {
    "gaussian": Gaussian(),
    "diagonal": DiagonalGaussian(),
    "multinomial": Multinomial(),
}
#: Shares of the groups of points, not in the order in which the model finds them.
SIZES = {"few": 40, "many": 300, "some": 120}


def groups() -> tuple[Array, Any]:
    """Points of three groups, not negative, and the name of each point's group."""
    rng = np.random.default_rng(0)
    centres = {"few": (40.0, 2.0, 9.0), "many": (2.0, 40.0, 9.0), "some": (9.0, 9.0, 60.0)}
    names = np.repeat(list(SIZES), list(SIZES.values()))
    order = rng.permutation(len(names))
    X = np.array([centres[name] for name in names]) + rng.normal(size=(len(names), 3)) @ np.diag([0.5, 1.0, 1.5])
    return np.maximum(X, 0.0)[order], names[order]


@pytest.fixture(params=COMPONENTS)
def model(request: pytest.FixtureRequest) -> ScStream:
    component = COMPONENTS[request.param]
    return ScStream(component, alpha=1.0, seed=0, max_init_sweeps=60).fit(groups()[0])


def test_arrays_have_the_order_of_the_clusters(model: ScStream) -> None:
    _, names = groups()
    assert model.ids_.dtype == np.int64
    assert model.ids_.tolist() == [cluster.id for cluster in model.clusters_]
    np.testing.assert_array_equal(model.weights_, [cluster.share for cluster in model.clusters_])
    assert model.weights_.sum() == pytest.approx(1.0)
    assert (np.diff(model.weights_) <= 0).all()
    largest = model.labels_ == model.ids_[0]
    assert (names[largest] == "many").mean() > 0.99
    assert model.weights_[0] == pytest.approx(largest.mean())


def test_moments_are_those_of_each_clusters_points() -> None:
    X, _ = groups()
    full = ScStream(Gaussian(), seed=0, max_init_sweeps=60).fit(X)
    diagonal = ScStream(DiagonalGaussian(), seed=0, max_init_sweeps=60).fit(X)
    for model, shape in ((full, (3, 3, 3)), (diagonal, (3, 3))):
        assert model.covariances_.shape == shape
        for k, id in enumerate(model.ids_):
            points = X[model.labels_ == id]
            covariance = np.cov(points.T, bias=True)
            np.testing.assert_allclose(model.means_[k], points.mean(axis=0))
            expected = covariance if len(shape) == 3 else np.diag(covariance)
            np.testing.assert_allclose(model.covariances_[k], expected, atol=1e-6)
        assert not hasattr(model, "probabilities_")


def test_probabilities_are_those_of_each_clusters_counts() -> None:
    X, _ = groups()
    model = ScStream(Multinomial(), seed=0, max_init_sweeps=60).fit(X)
    for k, id in enumerate(model.ids_):
        counts = 1.0 + X[model.labels_ == id].sum(axis=0)
        np.testing.assert_allclose(model.probabilities_[k], counts / counts.sum())


def test_what_a_component_does_not_have_is_no_attribute() -> None:
    model = ScStream(Multinomial(), seed=0, max_init_sweeps=5).fit(groups()[0])
    assert not hasattr(model, "means_")
    with pytest.raises(AttributeError, match="Multinomial clusters have no covariances_: their summary has probab"):
        model.covariances_  # noqa: B018


def test_a_custom_summary_defines_the_attributes() -> None:
    class Named(Multinomial):
        def summary(self, S: Array) -> dict[str, Array]:
            return {"mean": S[1:] / S[0], "probabilities": S[1:] / S[1:].sum()}

    X, _ = groups()
    model = ScStream(Named(), seed=0, max_init_sweeps=20).fit(X)
    np.testing.assert_allclose(model.means_[0], X[model.labels_ == model.ids_[0]].mean(axis=0))
    assert not hasattr(model, "covariances_")


@pytest.mark.parametrize("name", ["ids_", "weights_", "means_", "covariances_", "probabilities_"])
def test_before_the_first_batch_there_are_no_attributes(name: str) -> None:
    assert not hasattr(ScStream(), name)


# --- probabilities of points


def test_columns_of_the_probabilities_belong_to_the_ids(model: ScStream) -> None:
    X, _ = groups()
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (len(X), model.n_clusters_)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.ids_[probabilities.argmax(axis=1)], model.predict(X))


def test_probabilities_are_shares_of_the_density() -> None:
    """Two equal clusters: half and half in the middle, and in proportion to the densities elsewhere."""
    rng = np.random.default_rng(0)
    side = rng.normal(size=(200, 1))
    X = np.concatenate([side - 6.0, 6.0 - side])
    model = ScStream(Gaussian(m=[0.0], psi=1.0), seed=0, max_init_sweeps=40).fit(X)
    assert model.n_clusters_ == 2
    left = int(np.argmin(model.means_[:, 0]))
    np.testing.assert_allclose(model.predict_proba([[0.0]]), [[0.5, 0.5]], atol=1e-6)
    assert model.predict_proba([[-3.0]])[0, left] > 0.99
    far = model.predict_proba([[-1e9], [1e9]])
    assert np.isfinite(far).all()


def test_sparse_points_have_the_probabilities_of_dense_ones() -> None:
    X = np.floor(groups()[0])
    model = ScStream(Multinomial(), seed=0, max_init_sweeps=20).fit(X)
    np.testing.assert_array_equal(model.predict_proba(sp.csr_array(X)), model.predict_proba(X))
    assert model.score(sp.csr_array(X)) == model.score(X)


def test_the_score_is_the_mean_log_density(model: ScStream) -> None:
    X, _ = groups()
    assert model.score(X) == pytest.approx(model.score_samples(X).mean())
    assert isinstance(model.score(X, y=np.zeros(len(X))), float)


# --- a fit that fails


class Interrupted(Gaussian):
    """Component during whose first batch the user presses Ctrl+C."""

    def log_marginal(self, S: Array) -> Array:
        raise KeyboardInterrupt


BAD: dict[str, tuple[dict[str, Any], Any, type[BaseException]]] = {
    "nan": ({}, [[1.0, np.nan, 2.0]], ValueError),
    "shape": ({}, [1.0, 2.0], ValueError),
    "other features and no weight": ({}, np.ones((4, 7)), ValueError),
    "parameter": ({"alpha": -1.0}, np.ones((4, 2)), ValueError),
    "hyperparameter": ({"component": Gaussian(nu=-4.0)}, np.ones((4, 2)), ValueError),
    "component": ({"component": "gaussian"}, np.ones((4, 2)), TypeError),
    "negative counts": ({"component": Multinomial()}, -np.ones((4, 2)), ValueError),
    "interrupt": ({"component": Interrupted()}, np.ones((4, 2)), KeyboardInterrupt),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("fitted", [True, False])
def test_a_fit_that_fails_leaves_the_model_as_it_was(case: str, fitted: bool) -> None:
    parameters, bad, error = BAD[case]
    X, _ = groups()
    model = ScStream(seed=0, max_init_sweeps=20)
    if fitted:
        model.fit(X)
        model.feature_names_in_ = np.array(["a", "b", "c"], dtype=object)
    good = model.get_params(deep=False)
    model.set_params(**parameters)
    before = dict(vars(model))
    weight = np.zeros(len(bad)) if "weight" in case else None
    with pytest.raises(error):
        model.fit(bad, sample_weight=weight)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)
    if fitted:
        del model.feature_names_in_
        model.set_params(**good)
        twin = ScStream(seed=0, max_init_sweeps=20).fit(X)
        np.testing.assert_array_equal(model.partial_fit(X).labels_, twin.partial_fit(X).labels_)


@pytest.mark.parametrize(
    ("bad", "options", "message"),
    [
        ([[1.0, np.nan, 2.0]], {}, "contains NaN"),
        (np.ones((4, 2)), {}, "expecting 3 features"),
        (np.ones((4, 3)), {"time": -1.0}, "time must increase"),
        (np.ones((4, 3)), {"sample_weight": [-1.0, 1.0, 1.0, 1.0]}, "sample_weight must not be negative"),
        (-np.ones((4, 3)), {}, "counts must not be negative"),
    ],
    ids=["nan", "features", "time", "weight", "negative"],
)
def test_a_batch_that_is_refused_leaves_the_model_as_it_was(bad: Any, options: dict[str, Any], message: str) -> None:
    X, _ = groups()
    model, twin = (ScStream(Multinomial(), seed=0, max_init_sweeps=20).fit(X) for _ in range(2))
    with pytest.raises(ValueError, match=message):
        model.partial_fit(bad, **options)
    np.testing.assert_array_equal(model.labels_, twin.labels_)
    np.testing.assert_array_equal(model.partial_fit(X).labels_, twin.partial_fit(X).labels_)
    assert model.log_posterior_ == twin.log_posterior_
