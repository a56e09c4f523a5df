"""Parameters of segmenters and components: read, set, checked and shown as scikit-learn's estimators do."""

from __future__ import annotations

import inspect
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from scstream import Component, DiagonalGaussian, Gaussian, Multinomial, ScStream, VideoSegmenter
from scstream.streams import gaussian_stream

FRAME = np.random.default_rng(0).integers(0, 255, (12, 20, 3), np.uint8)
OTHERS: dict[str, Any] = {
    "colour": "lab", "scale": 0.5, "alpha": 7.0, "decay": 1.5, "sweeps": 3, "seed": 9, "threads": 2, "detail": 2.0,
    "burn_in": 4, "kernel": "rbf", "epsilon": 1e-3, "max_init_sweeps": 6, "split_last": False, "restart": None,
    "merge": "paper", "smoothing": 0.5, "steadiness": 2.0,
}  # fmt: skip


# --- segmenters


def test_every_parameter_of_a_segmenter_is_read_and_set() -> None:
    signature = inspect.signature(VideoSegmenter).parameters
    assert OTHERS.keys() == signature.keys()
    segmenter = VideoSegmenter()
    assert segmenter.get_params() == {name: parameter.default for name, parameter in signature.items()}
    assert segmenter.set_params(**OTHERS) is segmenter
    assert segmenter.get_params(deep=False) == OTHERS
    for name in OTHERS.keys() - {"restart", "merge"}:
        assert getattr(segmenter, name) == OTHERS[name]


def test_a_segmenter_shows_what_differs_from_the_defaults() -> None:
    assert repr(VideoSegmenter()) == "VideoSegmenter()"
    assert repr(VideoSegmenter("lab", alpha=5.0, restart=None)) == (
        "VideoSegmenter(colour='lab', alpha=5.0, restart=None)"
    )


def test_clone_copies_the_parameters_of_a_segmenter_alone() -> None:
    segmenter = VideoSegmenter(**OTHERS)
    segmenter.segment(FRAME)
    fresh = clone(segmenter)
    assert fresh.get_params() == OTHERS
    assert fresh.shape_ is None


def test_assigning_to_a_parameter_sets_it_from_the_next_frame_on() -> None:
    assigned, called = (VideoSegmenter(seed=0, max_init_sweeps=5) for _ in range(2))
    for segmenter in (assigned, called):
        segmenter.segment(FRAME)
    assigned.decay = 0.01
    called.set_params(decay=0.01)
    assert assigned.parameters.decay == 0.01
    np.testing.assert_array_equal(assigned.segment(FRAME), called.segment(FRAME))
    assert assigned.model_.clusters_[0].count == called.model_.clusters_[0].count


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("alpha", -1.0, "alpha must be > 0, got -1.0"),
        ("sweeps", 1.5, "sweeps must be a whole number"),
        ("colour", "lab", "at a restart only"),
        ("detail", 2.0, "at a restart only"),
        ("merge", "paper", r"set_params\(merge=\.\.\.\)"),
        ("restart", 5, r"set_params\(restart=\.\.\.\)"),
    ],
)
def test_a_bad_assignment_raises_and_changes_nothing(name: str, value: Any, message: str) -> None:
    segmenter = VideoSegmenter(max_init_sweeps=5)
    segmenter.segment(FRAME)
    before = segmenter.parameters
    with pytest.raises((ValueError, AttributeError), match=message):
        setattr(segmenter, name, value)
    assert segmenter.parameters == before
    assert callable(segmenter.merge)
    assert callable(segmenter.restart)


def test_unchanged_colour_and_detail_may_be_given_at_any_time() -> None:
    segmenter = VideoSegmenter(seed=0, max_init_sweeps=5)
    segmenter.segment(FRAME)
    segmenter.set_params(**{**segmenter.get_params(), "decay": 1.0})
    assert segmenter.decay == 1.0


@pytest.mark.parametrize("name", ["nonsense", "follow", "component"])
def test_an_unknown_parameter_is_named(name: str) -> None:
    with pytest.raises(ValueError, match=f"there is no parameter '{name}'; the parameters are colour, scale"):
        VideoSegmenter().set_params(**{name: 1})


# --- components


@pytest.mark.parametrize("component", [Gaussian, DiagonalGaussian, Multinomial])
def test_a_component_has_the_parameters_of_its_signature(component: type[Component]) -> None:
    signature = inspect.signature(component).parameters
    assert component().get_params() == {name: parameter.default for name, parameter in signature.items()}
    assert repr(component()) == f"{component.__name__}()"


def test_a_component_shows_what_differs_from_the_defaults() -> None:
    assert repr(Gaussian(psi=0.5, m=np.zeros(2))) == "Gaussian(m=array([0., 0.]), psi=0.5)"
    assert repr(Multinomial(0.5)) == "Multinomial(concentration=0.5)"


def test_a_component_that_does_not_name_its_parameters_is_shown_all_the_same() -> None:
    class Loose(Gaussian):
        def __init__(self, **kwargs: Any) -> None:
            super().__init__(**kwargs)

    assert "Loose object at" in repr(Loose(psi=0.5))
    with pytest.raises(TypeError, match=r"Loose\.__init__ must name its parameters; \*args and \*\*kwargs"):
        Loose().get_params()


def test_set_params_is_as_good_as_the_constructor() -> None:
    """Also after values have been derived from the old parameters."""
    X = np.random.default_rng(0).normal(size=(20, 2))
    component = Gaussian(m=np.zeros(2), psi=1.0).bind(X, np.ones(20))
    S = component.statistics(component.prepare(X), np.ones(20), np.zeros(20, np.int32), 1)
    before = component.log_marginal(S)
    changed = component.set_params(psi=3.0 * np.eye(2))
    assert changed is component
    fresh = Gaussian(m=np.zeros(2), psi=3.0).bind(X, np.ones(20))
    assert changed.log_marginal(S) == fresh.log_marginal(S) != before


def test_an_unknown_hyperparameter_is_named() -> None:
    with pytest.raises(ValueError, match="no parameter 'sigma'; the parameters are kappa, m, nu, psi"):
        Gaussian().set_params(sigma=1.0)


def test_hyperparameters_are_set_through_the_model() -> None:
    model = ScStream(Gaussian()).set_params(component__psi=0.1, alpha=4.0)
    assert model.component.psi == 0.1
    assert model.get_params()["component__psi"] == 0.1
    assert clone(model).component is not model.component
    assert repr(clone(model).component) == "Gaussian(psi=0.1)"


@pytest.mark.parametrize("loaded", [False, True])
def test_setting_hyperparameters_leaves_a_running_model_alone(loaded: bool, tmp_path: Any) -> None:
    """A model computes with the component that `bind` returned, until it is fitted again."""
    batches = [X for X, _ in gaussian_stream(3, n_clusters=3, batch_size=100, seed=0)]
    model, twin = (ScStream(Gaussian(), seed=0, max_init_sweeps=20).fit(batches[0]) for _ in range(2))
    if loaded:
        model.save(tmp_path / "m.npz")
        model = ScStream.load(tmp_path / "m.npz")
    model.set_params(component__psi=1e6 * np.eye(2))
    np.testing.assert_array_equal(model.partial_fit(batches[1]).labels_, twin.partial_fit(batches[1]).labels_)
    np.testing.assert_array_equal(model.score_samples(batches[2]), twin.score_samples(batches[2]))
    assert model.fit(batches[0]).n_clusters_ < twin.n_clusters_


def test_a_component_that_binds_to_itself_does_not_change_with_the_model() -> None:
    class Ready(Gaussian):
        def bind(self, X: Any, weight: Any) -> Any:
            return self if np.ndim(self.psi) == 2 else super().bind(X, weight)

    X = np.random.default_rng(0).normal(size=(50, 2))
    model = ScStream(Ready(m=np.zeros(2), nu=5.0, psi=np.eye(2)), seed=0, max_init_sweeps=5).fit(X)
    before = model.score_samples(X)
    model.set_params(component__psi=100.0 * np.eye(2))
    np.testing.assert_array_equal(model.score_samples(X), before)


def test_a_grid_search_finds_the_best_hyperparameters() -> None:
    X = np.concatenate([X for X, _ in gaussian_stream(1, n_clusters=3, batch_size=240, seed=0)])
    grid = {"alpha": [1.0, 10.0], "component__psi": [1.0, 1e4]}
    search = GridSearchCV(ScStream(Gaussian(), seed=0, max_init_sweeps=20), grid, cv=2).fit(X)
    assert search.best_params_["component__psi"] == 1.0
    assert search.best_estimator_.component.psi == 1.0
    assert len(search.predict(X)) == len(X)


# --- parameters of a running model


def test_changed_parameters_count_from_the_next_batch_on(tmp_path: Any) -> None:
    """Saved and loaded in between or not."""
    X = np.random.default_rng(0).normal(size=(100, 2))
    model, kept = (ScStream(alpha=1e-9, decay=0.5, seed=0, max_init_sweeps=5).fit(X) for _ in range(2))
    model.set_params(decay=3.0)
    model.save(tmp_path / "m.npz")
    loaded = ScStream.load(tmp_path / "m.npz")
    for one, weight in ((model, 2.0**-3.0), (loaded, 2.0**-3.0), (kept, 2.0**-0.5)):
        assert one.partial_fit(X).clusters_[0].count == pytest.approx(100.0 * (1.0 + weight))


def test_another_component_changes_nothing_before_the_next_fit() -> None:
    counts = np.random.default_rng(0).poisson(3.0, (60, 4)).astype(float)
    model = ScStream(Multinomial(), seed=0, max_init_sweeps=5).fit(sp.csr_array(counts))
    ids = model.predict(counts)
    model.set_params(component=Gaussian())
    np.testing.assert_array_equal(model.predict(sp.csr_array(counts)), ids)
    model.partial_fit(sp.csr_array(counts))
    dense = ScStream(Gaussian(), seed=0, max_init_sweeps=5).fit(counts).set_params(component=Multinomial())
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        dense.predict(sp.csr_array(counts))


def test_a_component_of_the_next_fit_is_not_used_where_a_tiny_past_begins_anew(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(60, 4))
    model = ScStream(Gaussian(), seed=0, max_init_sweeps=5).fit(X[:1]).set_params(component=Multinomial())
    other = ScStream(Gaussian(), seed=0, max_init_sweeps=5).fit(X[:1])
    model.save(tmp_path / "a.npz")
    for one in (model, ScStream.load(tmp_path / "a.npz")):
        np.testing.assert_array_equal(one.partial_fit(X).labels_, deepcopy(other).partial_fit(X).labels_)
    with pytest.raises(ValueError, match="Negative values"):
        model.fit(X)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "score", "score_samples"])
@pytest.mark.parametrize(("name", "value"), [("alpha", -1.0), ("alpha", "one"), ("threads", 0), ("threads", 1.5)])
def test_predicting_checks_the_parameters_too(method: str, name: str, value: Any) -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = ScStream(seed=0, max_init_sweeps=5).fit(X).set_params(**{name: value})
    with pytest.raises(ValueError, match=f"{name} must be .* got {value!r}"):
        getattr(model, method)(X)


def test_a_bad_parameter_between_two_batches_leaves_the_model_as_it_was() -> None:
    X = np.random.default_rng(0).normal(size=(100, 2))
    model, twin = (ScStream(seed=0, max_init_sweeps=5).fit(X) for _ in range(2))
    model.alpha = -1.0
    with pytest.raises(ValueError, match=r"alpha must be > 0, got -1\.0"):
        model.partial_fit(X + 1.0)
    model.alpha = 1.0
    np.testing.assert_array_equal(model.partial_fit(X).labels_, twin.partial_fit(X).labels_)
    assert model.log_posterior_ == twin.log_posterior_
