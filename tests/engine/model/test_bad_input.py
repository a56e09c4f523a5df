"""Bad input: an error that names the value and what would be right, and a model that stays as it was."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from reference import Array
from scstream import Component, DiagonalGaussian, Gaussian, Multinomial, NotSegmentedError, ScStream, VideoSegmenter

X = np.random.default_rng(0).normal(size=(30, 2))
FRAME = np.random.default_rng(1).integers(0, 256, (12, 20, 3)).astype(np.uint8)


def started() -> ScStream:
    return ScStream(seed=0, max_init_sweeps=5).partial_fit(X)


def with_value(value: float) -> Array:
    changed = X.copy()
    changed[3, 1] = value
    return changed


# --- points

BAD_POINTS: dict[str, tuple[Any, str]] = {
    "nan": (with_value(math.nan), "NaN"),
    "inf": (with_value(math.inf), "infinity"),
    "minus inf": (with_value(-math.inf), "infinity"),
    "absurd": (with_value(1e155), r"between -1e\+60 and 1e\+60, got 1e\+155 in column 1"),
    "minus absurd": (with_value(-1e61), r"got -1e\+61 in column 1"),
    "absurd integers": (np.array([[3, 4], [10**70, 5]], dtype=object), r"got 1e\+70 in column 0"),
    "text": (np.array([["a", "b"], ["c", "d"]]), "could not convert|numeric"),
    "objects": (np.array([[{}, []], [1, 2]], dtype=object), "number|float"),
    "complex": (X.astype(complex), "[Cc]omplex"),
    "no points": (X[:0], r"0 sample|empty"),
    "no features": (X[:, :0], "0 feature"),
    "one dimension": (X[:, 0], "2D array"),
    "three dimensions": (X[None], "dim 3|3"),
    "a number": (3.0, "2D array"),
    "none": (None, "None|NaN|2D"),
}


@pytest.mark.parametrize("case", BAD_POINTS)
def test_bad_points_are_refused(case: str) -> None:
    bad, message = BAD_POINTS[case]
    with pytest.raises((ValueError, TypeError), match=message):
        ScStream().partial_fit(bad)


@pytest.mark.parametrize("case", [*BAD_POINTS, "wrong D"])
def test_a_bad_batch_leaves_the_model_as_it_was(case: str) -> None:
    bad, message = {**BAD_POINTS, "wrong D": (X[:, :1], "1 feature.*2 feature")}[case]
    model, twin = started(), started()
    methods = [model.partial_fit, model.predict, model.predict_proba, model.score_samples, model.score]
    for method in methods if case == "wrong D" else [*methods, model.fit]:
        with pytest.raises((ValueError, TypeError), match=message):
            method(bad)
    assert_alike(model, twin)
    assert_alike(model.partial_fit(X), twin.partial_fit(X))


def assert_alike(model: ScStream, twin: ScStream) -> None:
    np.testing.assert_array_equal(model.labels_, twin.labels_)
    np.testing.assert_array_equal(model.score_samples(X), twin.score_samples(X))
    assert model.log_posterior_ == twin.log_posterior_
    # As text: births have no Hastings ratio, and nan is not equal to nan.
    assert repr(model.events_) == repr(twin.events_)


@pytest.mark.parametrize("sparse", [False, True])
def test_absurd_counts_are_refused(sparse: bool) -> None:
    counts = np.array([[1.0, 0.0, 2.0], [0.0, 1e200, 1.0]])
    with pytest.raises(ValueError, match=r"got 1e\+200 in column 1"):
        ScStream(Multinomial()).partial_fit(sp.csr_array(counts) if sparse else counts)


@pytest.mark.parametrize("component", [Gaussian(), DiagonalGaussian(), Gaussian(psi=1e-6)])
@pytest.mark.parametrize("value", [3e38, -1e60])
def test_what_is_not_refused_leaves_finite_numbers(component: Component, value: float) -> None:
    for at in range(2):
        model = ScStream(component, seed=0, max_init_sweeps=20)
        for n in range(4):
            model.partial_fit(with_value(value) if n == at else X)
            assert math.isfinite(model.log_posterior_)
            assert np.isfinite(model.score_samples(X)).all()
            assert np.isfinite(model.score_samples(with_value(value))).all()
            assert np.isfinite(model.covariances_).all()


def test_sparse_points_are_for_counts_alone() -> None:
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        ScStream().partial_fit(sp.csr_array(X))


@pytest.mark.parametrize("sparse", [False, True])
def test_negative_counts_are_refused(sparse: bool) -> None:
    counts = np.array([[1.0, 0.0, 2.0], [0.0, -4.0, 1.0]])
    model = ScStream(Multinomial(), max_init_sweeps=3)
    with pytest.raises(ValueError, match=r"negative.*-4|-4.*negative|[Nn]egative values"):
        model.partial_fit(sp.csr_array(counts) if sparse else counts)


# --- times


@pytest.mark.parametrize("time", [0.0, -1.0, -1e300])
def test_time_must_increase(time: float) -> None:
    model = started()
    with pytest.raises(ValueError, match=rf"time must increase.*{re.escape(repr(time))}"):
        model.partial_fit(X, time=time)
    model.partial_fit(X, time=1e-6)
    with pytest.raises(ValueError, match="time must increase"):
        model.partial_fit(X, time=1e-6)


def test_a_time_that_rounding_does_not_let_increase_is_refused() -> None:
    now = 1_700_000_000_000_000_000
    model = ScStream(seed=0, max_init_sweeps=3).partial_fit(X, time=now)
    for time in (None, now + 100):
        with pytest.raises(ValueError, match="time must increase"):
            model.partial_fit(X, time=time)
    assert model.partial_fit(X, time=now + 1000).n_clusters_ >= 1


@pytest.mark.parametrize("psi", [[[1e-10, 5e-11], [0.0, 1e-10]], [[1e10, 5e9], [0.0, 1e10]]])
def test_a_covariance_must_be_symmetric_in_any_units(psi: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="psi must be a symmetric"):
        Gaussian(psi=psi).bind(np.zeros((3, 2)), np.ones(3))


@pytest.mark.parametrize("time", [math.nan, math.inf, -math.inf, "noon", True, [1.0], 1j])
def test_time_must_be_a_number(time: Any) -> None:
    for model in (ScStream(), started()):
        with pytest.raises(ValueError, match=rf"time must be a finite number, got {re.escape(repr(time))}"):
            model.partial_fit(X, time=time)


def test_a_time_in_the_place_of_y_is_noticed() -> None:
    with pytest.raises(TypeError, match=r"time=3\.0"):
        started().partial_fit(X, 3.0)


# --- parameters

NUMBERS = [math.nan, math.inf, "1", None, [1.0], 1j, True]
PARAMETERS: list[tuple[str, Any]] = [
    *[("alpha", value) for value in (0.0, -1.0, 10**400, *NUMBERS)],
    *[("decay", value) for value in (-0.5, *NUMBERS)],
    *[("epsilon", value) for value in (-1e-9, 1.5, *NUMBERS)],
    *[("sweeps", value) for value in (-1, 1.5, *NUMBERS)],
    *[("burn_in", value) for value in (-1, 2.0, *NUMBERS)],
    *[("max_init_sweeps", value) for value in (0, -3, *NUMBERS)],
    *[("restart", value) for value in (-1, 0.5, "often")],
    *[("seed", value) for value in (-1, 0.5, "luck", 2**200)],
    *[("threads", value) for value in (0, -2, 1.5, "all")],
    *[("kernel", value) for value in ("gauss", None, 3, ["rbf"])],
    *[("merge", value) for value in ("never", None, 3, ["paper"])],
]


def shown(value: Any) -> str:
    """How a message shows a value; of a very long one, its beginning will do."""
    return re.escape(repr(value)[:40])


@pytest.mark.parametrize(("name", "value"), PARAMETERS, ids=lambda x: str(x)[:20])
def test_parameters_out_of_range_are_named_with_their_value(name: str, value: Any) -> None:
    message = rf"{name} must .*{shown(value)}"
    with pytest.raises((ValueError, TypeError), match=message):
        ScStream(**{name: value}).partial_fit(X)
    with pytest.raises((ValueError, TypeError), match=message):
        VideoSegmenter(**{name: value}).segment(FRAME)


@pytest.mark.parametrize("value", ["everything", None, True, ["halves"]])
def test_what_the_past_follows_is_one_of_three(value: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=rf"follow must .*{shown(value)}"):
        ScStream(follow=value).partial_fit(X)


@pytest.mark.parametrize("component", ["gaussian", 3, Gaussian])
def test_a_component_must_be_one(component: Any) -> None:
    with pytest.raises(TypeError, match=r"component must .*" + shown(component)):
        ScStream(component).partial_fit(X)


@pytest.mark.parametrize("weight", [math.nan, -0.1, 1.5, "much", None])
def test_a_kernel_of_ones_own_must_weigh_between_0_and_1(weight: Any) -> None:
    model = ScStream(kernel=lambda age: weight, max_init_sweeps=3).partial_fit(X)
    with pytest.raises((ValueError, TypeError), match=r"kernel.*\[0, 1\].*" + shown(weight)):
        model.partial_fit(X)


# --- priors

PRIORS: dict[str, tuple[Component, str]] = {
    "kappa 0": (Gaussian(kappa=0.0), "kappa must .*0.0"),
    "kappa list": (Gaussian(kappa=[1.0]), r"kappa must be a number, got \[1.0\]"),  # type: ignore[arg-type]
    "nu list": (Gaussian(nu=[9.0]), r"nu must be a number, got \[9.0\]"),  # type: ignore[arg-type]
    "diagonal nu list": (DiagonalGaussian(nu=[9.0]), r"nu must be a number, got \[9.0\]"),  # type: ignore[arg-type]
    "kappa nan": (Gaussian(kappa=math.nan), "kappa must .*nan"),
    "kappa text": (Gaussian(kappa="x"), "kappa must .*x"),  # type: ignore[arg-type]
    "m too long": (Gaussian(m=[1.0, 2.0, 3.0]), "m must be 2"),
    "m nan": (Gaussian(m=[1.0, math.nan]), "m must .*nan"),
    "m absurd": (Gaussian(m=[1.0, 1e155]), r"m must be 2 numbers of at most 1e\+60.*1\.?e\+155"),
    "diagonal m absurd": (DiagonalGaussian(m=[1.0, -1e155]), r"m must be 2 numbers of at most 1e\+60.*-1\.?e\+155"),
    "nu too small": (Gaussian(nu=1.0), r"nu must .*> D - 1 = 1.*1\.0"),
    "nu nan": (Gaussian(nu=math.nan), "nu must .*nan"),
    "nu text": (Gaussian(nu="x"), "nu must .*x"),  # type: ignore[arg-type]
    "psi not symmetric": (Gaussian(psi=[[1.0, 0.5], [0.0, 1.0]]), "psi must be a symmetric 2 x 2.*0.5"),
    "psi not positive": (Gaussian(psi=[[1.0, 2.0], [2.0, 1.0]]), r"psi must be positive definite.*2\."),
    "psi negative": (Gaussian(psi=-1.0), "psi must be positive definite.*-1"),
    "psi singular": (Gaussian(psi=[[1.0, 1.0], [1.0, 1.0]]), "psi must be positive definite"),
    "psi too large": (Gaussian(psi=np.eye(3)), "psi must be a symmetric 2 x 2"),
    "psi nan": (Gaussian(psi=[[1.0, 0.0], [0.0, math.nan]]), "psi must .*nan"),
    "psi text": (Gaussian(psi="x"), "psi must .*x"),
    "diagonal kappa": (DiagonalGaussian(kappa=-1.0), "kappa must .*-1.0"),
    "diagonal kappa text": (DiagonalGaussian(kappa="x"), "kappa must .*x"),  # type: ignore[arg-type]
    "diagonal nu": (DiagonalGaussian(nu=0.0), "nu must .*0.0"),
    "diagonal m": (DiagonalGaussian(m=[1.0]), "m must be 2"),
    "diagonal psi": (DiagonalGaussian(psi=[1.0, 0.0]), "psi must .*0.0"),
    "diagonal psi matrix": (DiagonalGaussian(psi=np.eye(2)), "psi must be 2"),
    "concentration 0": (Multinomial(0.0), "concentration must .*0.0"),
    "concentration nan": (Multinomial(math.nan), "concentration must .*nan"),
    "concentration too long": (Multinomial([1.0, 1.0, 1.0]), "concentration must .*2 of them"),
    "concentration text": (Multinomial("x"), "concentration must .*x"),
}


@pytest.mark.parametrize("case", PRIORS)
def test_impossible_priors_are_named_with_their_value(case: str) -> None:
    component, message = PRIORS[case]
    with pytest.raises((ValueError, TypeError), match=f"(?s){message}"):
        ScStream(component).partial_fit(np.abs(X))


# --- weights


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(29), r"30.*29"),
        (np.ones((30, 1)), r"30.*\(30, 1\)|1"),
        (1.0, "30"),
        (np.full(30, -2.0), "negative.*-2"),
        (np.full(30, math.nan), "finite.*nan"),
        (np.full(30, math.inf), "finite.*inf"),
        (["a"] * 30, "numeric.*a"),
        (np.full(30, 1e308), r"at most 2\*\*53.*1e\+308"),
        (np.append(np.ones(29), 1e16), r"at most 2\*\*53.*1e\+16"),
    ],
    ids=["short", "column", "scalar", "negative", "nan", "inf", "text", "huge", "one too heavy"],
)
def test_bad_weights_are_named(weight: Any, message: str) -> None:
    model, twin = started(), started()
    for method in (ScStream().partial_fit, model.partial_fit, model.fit):
        with pytest.raises((ValueError, TypeError), match=rf"(?s)sample_weight.*({message})"):
            method(X, sample_weight=weight)
    assert_alike(model.partial_fit(X), twin.partial_fit(X))


def test_a_first_batch_needs_some_weight() -> None:
    with pytest.raises(ValueError, match=r"sample_weight.*zero"):
        ScStream().partial_fit(X, sample_weight=np.zeros(30))


# --- frames

FRAMES: dict[str, tuple[Any, str]] = {
    "float": (FRAME / 255.0, "uint8, got float64"),
    "int": (FRAME.astype(np.int32), "uint8, got int32"),
    "bool": (FRAME > 10, "uint8, got bool"),
    "list": (FRAME.tolist(), "uint8, got list"),
    "none": (None, "uint8, got NoneType"),
    "grey": (FRAME[..., 0], r"\(H, W, 3\), got \(12, 20\)"),
    "four channels": (np.zeros((5, 5, 4), np.uint8), r"got \(5, 5, 4\)"),
    "batch": (FRAME[None], r"got \(1, 12, 20, 3\)"),
    "no rows": (FRAME[:0], r"got \(0, 20, 3\)"),
    "no columns": (FRAME[:, :0], r"got \(12, 0, 3\)"),
}


@pytest.mark.parametrize("case", FRAMES)
def test_bad_frames_are_refused_and_leave_the_segmenter_as_it_was(case: str) -> None:
    bad, message = FRAMES[case]
    segmenter, twin = VideoSegmenter(seed=0, max_init_sweeps=5), VideoSegmenter(seed=0, max_init_sweeps=5)
    for _ in range(2):
        with pytest.raises((TypeError, ValueError), match=message):
            segmenter.segment(bad)
        np.testing.assert_array_equal(segmenter.segment(FRAME), twin.segment(FRAME))


def test_a_frame_of_another_size_is_refused() -> None:
    segmenter = VideoSegmenter(max_init_sweeps=5)
    segmenter.segment(FRAME)
    with pytest.raises(ValueError, match=r"20 x 12.*12 x 20"):
        segmenter.segment(FRAME.swapaxes(0, 1))


@pytest.mark.parametrize("time", [0.0, -3.0, math.nan, "now"])
def test_a_frames_time_must_increase(time: Any) -> None:
    segmenter = VideoSegmenter(max_init_sweeps=5)
    segmenter.segment(FRAME)
    with pytest.raises(ValueError, match=r"time must .*" + shown(time)):
        segmenter.segment(FRAME, time)


@pytest.mark.parametrize("scale", [0.0, -0.5, 1.01, math.nan, math.inf, "half", None])
def test_scale_out_of_range_is_named(scale: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="scale must .*" + shown(scale)):
        VideoSegmenter(scale=scale)


@pytest.mark.parametrize("colour", ["hsv", "RGB", None, 3, ["rgb"]])
def test_an_unknown_colour_is_named(colour: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=r"colour must .*(rgb|lab).*" + shown(colour)):
        VideoSegmenter(colour=colour)


# --- too early


def test_asking_before_the_first_batch_says_so(tmp_path: Any) -> None:
    model = ScStream()
    for ask in (
        lambda: model.predict(X),
        lambda: model.predict_proba(X),
        lambda: model.score_samples(X),
        lambda: model.score(X),
        lambda: model.clusters_,
        lambda: model.n_clusters_,
        lambda: model.events_,
        lambda: model.genealogy_,
        lambda: model.log_posterior_,
        lambda: model.save(tmp_path / "m"),
    ):
        with pytest.raises(NotFittedError, match="not fitted"):
            ask()


def test_asking_before_the_first_frame_says_so(tmp_path: Any) -> None:
    segmenter = VideoSegmenter()
    for ask in (
        lambda: segmenter.ids_,
        segmenter.uncertainty,
        lambda: segmenter.statistics_,
        lambda: segmenter.events_,
        lambda: segmenter.save(tmp_path / "m"),
    ):
        with pytest.raises((RuntimeError, NotFittedError), match=r"not fitted|no frame"):
            ask()


def test_a_segmenter_has_no_results_before_the_first_frame() -> None:
    segmenter = VideoSegmenter()
    names = ("statistics_", "ids_", "events_", "model_", "locked_", "log_posterior_")
    assert [name for name in names if hasattr(segmenter, name)] == []
    with pytest.raises(NotSegmentedError, match="no frame has been segmented yet"):
        segmenter.uncertainty()
    segmenter.set_params(max_init_sweeps=5).segment(FRAME)
    assert [name for name in names if not hasattr(segmenter, name)] == []


def test_a_second_start_is_refused() -> None:
    segmenter = VideoSegmenter(max_init_sweeps=5)
    segmenter.segment(FRAME)
    with pytest.raises(RuntimeError, match="already"):
        next(segmenter.start(FRAME))
