"""Conjugate pairs against textbook formulas, numeric integrals and each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special, stats

from reference import Array, Niw, diagonal_log_marginal, dirichlet_log_marginal, gaussian_row
from scstream import DiagonalGaussian, Gaussian, Multinomial
from scstream.components import BY_NAME, Component, PixelGaussian
from scstream.components.base import HOPELESS
from scstream.components.first_batch import value_steps
from scstream.sampler.moves import merge_log_hastings

SEEDS = st.integers(0, 2**32 - 1)
NAMES = ["diagonal", "gaussian", "multinomial"]


def random_covariance(D: int, rng: np.random.Generator) -> Array:
    root = rng.normal(size=(D, D)) * np.exp(rng.normal(0.0, 0.7, D))
    return root @ root.T + 0.05 * np.eye(D)


def random_case(name: str, seed: int, n: int, D: int) -> tuple[Component, Array, Array]:
    """A component with random hyperparameters, skewed points (N, D) and weights that are no whole numbers."""
    rng = np.random.default_rng(seed)
    kappa, spare = np.exp(rng.normal(0.0, 1.0, 2))
    m = rng.normal(0.0, 2.0, D)
    X = rng.exponential(1.0, (n, D)) ** 1.3 + m
    open_component: Component
    if name == "gaussian":
        open_component = Gaussian(kappa, m, D - 1 + spare, random_covariance(D, rng))
    elif name == "diagonal":
        open_component = DiagonalGaussian(kappa, m, spare, np.exp(rng.normal(0.0, 1.0, D)))
    else:
        open_component = Multinomial(np.exp(rng.normal(0.0, 1.0, D)))
        X = rng.negative_binomial(1, 0.2, (n, D)).astype(float)
    return open_component.bind(X, np.ones(n)), X, rng.exponential(1.5, n)


def row(component: Component, X: Array, w: Array) -> Array:
    """Statistics (1, P) of all points together."""
    return component.statistics(component.prepare(X), w, np.zeros(len(X), np.int32), 1)


def log_predictive(component: Component, S: Array, x: Array) -> float:
    return float(component.scores(component.predictive(S), np.zeros(1), component.prepare(x[None]))[0, 0])


# --- marginals and predictives


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40)
@given(seed=SEEDS, n=st.integers(1, 12), D=st.integers(1, 6))
def test_marginal_is_the_sum_of_predictives_in_any_order(name: str, seed: int, n: int, D: int) -> None:
    component, X, _ = random_case(name, seed, n, D)
    total = component.log_marginal(row(component, X, np.ones(n)))[0]
    for order in (np.arange(n), np.random.default_rng(seed).permutation(n)):
        S = np.zeros((1, component.n_statistics))
        steps = 0.0
        for x in X[order]:
            steps += log_predictive(component, S, x)
            S += row(component, x[None], np.ones(1))
        np.testing.assert_allclose(steps, total, rtol=1e-8, atol=1e-7)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40)
@given(seed=SEEDS, n=st.integers(0, 20), D=st.integers(1, 6))
def test_marginal_is_the_textbook_formula(name: str, seed: int, n: int, D: int) -> None:
    component, X, w = random_case(name, seed, max(n, 1), D)
    X, w = X[:n], w[:n]
    prior = component.hyperparameters()
    if name == "gaussian":
        expected = Niw(float(prior["kappa"]), prior["m"], float(prior["nu"]), prior["psi"]).log_marginal(X, w)
    elif name == "diagonal":
        expected = diagonal_log_marginal(X, w, float(prior["kappa"]), prior["m"], float(prior["nu"]), prior["psi"])
    else:
        expected = dirichlet_log_marginal(X, w, prior["concentration"])
    np.testing.assert_allclose(component.log_marginal(row(component, X, w)), [expected], rtol=1e-8, atol=1e-7)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40)
@given(seed=SEEDS, n=st.integers(1, 6), D=st.integers(1, 6))
def test_twin_scores_are_predictives_for_clusters_of_one_equal_point(name: str, seed: int, n: int, D: int) -> None:
    component, X, _ = random_case(name, seed, n, D)
    alone = component.statistics(component.prepare(X), np.ones(n), np.arange(n, dtype=np.int32), n)
    expected = [log_predictive(component, S[None], x) for S, x in zip(alone, X, strict=True)]
    np.testing.assert_allclose(component.twin_scores(alone), expected, rtol=1e-8, atol=1e-7)


@settings(max_examples=40)
@given(seed=SEEDS, n=st.integers(0, 20), D=st.integers(1, 6))
def test_gaussian_predictive_is_a_student_t(seed: int, n: int, D: int) -> None:
    component, X, w = random_case("gaussian", seed, n + 1, D)
    prior = component.hyperparameters()
    after = Niw(float(prior["kappa"]), prior["m"], float(prior["nu"]), prior["psi"]).posterior(X[:n], w[:n])
    S = row(component, X[:n], w[:n])
    assert log_predictive(component, S, X[n]) == pytest.approx(after.log_predictive(X[n]), rel=1e-8, abs=1e-7)


@pytest.mark.parametrize("name", ["diagonal", "gaussian"])
@pytest.mark.parametrize("n", [0, 1, 7])
def test_one_dimensional_predictive_integrates_to_one(name: str, n: int) -> None:
    component, X, w = random_case(name, 11, 8, 1)
    S = row(component, X[:n], w[:n])
    area, _ = integrate.quad(lambda x: np.exp(log_predictive(component, S, np.array([x]))), -np.inf, np.inf, limit=200)
    assert area == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("name", ["diagonal", "gaussian"])
def test_one_dimensional_marginal_is_the_integral_over_mean_and_variance(name: str) -> None:
    kappa, m, nu, psi = 0.7, 0.5, 3.0, 1.4
    X = np.array([[0.2], [1.9], [-0.4], [2.5]])
    component = BY_NAME[name](kappa=kappa, m=[m], nu=nu, psi=psi).bind(X, np.ones(4))

    mean, log_variance = np.meshgrid(np.linspace(-12.0, 13.0, 401), np.linspace(-5.0, 7.0, 241))
    variance = np.exp(log_variance)
    density = stats.invgamma(0.5 * nu, scale=0.5 * nu * psi).pdf(variance) * variance
    density *= stats.norm.pdf(mean, m, np.sqrt(variance / kappa))
    for x in X[:, 0]:
        density *= stats.norm.pdf(x, mean, np.sqrt(variance))
    area = integrate.simpson(integrate.simpson(density, x=mean[0], axis=1), x=log_variance[:, 0])
    assert component.log_marginal(row(component, X, np.ones(4)))[0] == pytest.approx(np.log(area), abs=1e-3)


def test_two_outcomes_marginal_is_the_integral_over_the_probability() -> None:
    X = np.array([[3.0, 1.0], [0.0, 2.0]])
    component = Multinomial([0.8, 2.5]).bind(X, np.ones(2))
    area, _ = integrate.quad(lambda p: stats.beta(0.8, 2.5).pdf(p) * p**3 * (1 - p) ** 3, 0.0, 1.0)
    assert component.log_marginal(row(component, X, np.ones(2)))[0] == pytest.approx(np.log(area), abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_has_probability_one(name: str) -> None:
    component, _, _ = random_case(name, 3, 5, 4)
    np.testing.assert_allclose(component.log_marginal(np.zeros((2, component.n_statistics))), 0.0, atol=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_a_point_of_weight_two_counts_as_two(name: str) -> None:
    component, X, _ = random_case(name, 5, 6, 3)
    doubled = row(component, np.repeat(X, 2, axis=0), np.ones(12))
    np.testing.assert_allclose(row(component, X, np.full(6, 2.0)), doubled, rtol=1e-12)


# --- scores


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("drawn", [False, True])
def test_own_scores_are_the_scores_of_the_two_sub_clusters(name: str, drawn: bool) -> None:
    component, X, w = random_case(name, 21, 40, 3)
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 6, 40).astype(np.int32)
    groups[groups == 4] = 5
    S = component.statistics(component.prepare(X), w, groups, 6)
    parameters = component.draw(S, rng) if drawn else component.predictive(S)
    log_weight = rng.normal(size=6)
    labels = rng.integers(0, 3, 40).astype(np.int32)
    points = component.prepare(X)
    scores = component.scores(parameters, log_weight, points)
    own = component.own_scores(parameters, log_weight, points, labels)
    expected = np.stack([scores[np.arange(40), 2 * labels], scores[np.arange(40), 2 * labels + 1]])
    np.testing.assert_allclose(own, expected, rtol=1e-9, atol=1e-9)


def test_drawn_gaussian_scores_are_normal_densities() -> None:
    component, X, w = random_case("gaussian", 22, 30, 3)
    S = row(component, X, w)
    drawn = component.draw(S, np.random.default_rng(1))
    A = np.tril(drawn.A[0])
    covariance = np.linalg.inv(A.T @ A)
    mean = component.hyperparameters()["m"] - np.linalg.solve(A, drawn.b[0])
    found = component.scores(drawn, np.zeros(1), component.prepare(X))[:, 0]
    np.testing.assert_allclose(found, stats.multivariate_normal(mean, covariance).logpdf(X), rtol=1e-8)


@pytest.mark.parametrize("sparse", [False, True])
def test_multinomial_predictive_is_dirichlet_multinomial(sparse: bool) -> None:
    rng = np.random.default_rng(23)
    X = rng.negative_binomial(1, 0.1, (50, 8)).astype(float) * (rng.random((50, 8)) < 0.5)
    X[0] = 0.0
    X[1, 3] = 40.0
    X[2, 2] = 2.5
    component = Multinomial(np.exp(rng.normal(size=8))).bind(X, np.ones(50))
    S = component.statistics(component.prepare(X), rng.random(50), rng.integers(0, 3, 50).astype(np.int32), 4)
    d = component.hyperparameters()["concentration"] + S[:, 1:]
    expected = np.stack(
        [
            (special.gammaln(row + X) - special.gammaln(row)).sum(axis=1)
            - special.gammaln(row.sum() + X.sum(axis=1))
            + special.gammaln(row.sum())
            for row in d
        ],
        axis=1,
    )
    points = component.prepare(sp.csr_array(X) if sparse else X)
    found = component.scores(component.predictive(S), np.zeros(4), points)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("concentration", [1e-3, 1.0, 1e6])
def test_long_documents_of_rare_words_have_finite_scores(concentration: float) -> None:
    """Products over hundreds of words neither underflow nor overflow."""
    rng = np.random.default_rng(25)
    X = rng.integers(1, 16, (4, 400)).astype(float)
    component = Multinomial(concentration).bind(X, np.ones(4))
    points, labels = component.prepare(X), np.zeros(4, np.int32)
    S = np.zeros((2, 401))
    S[1, :5] = 3.0
    parameters = component.predictive(S)
    scores = component.scores(parameters, np.zeros(2), points)
    own = component.own_scores(parameters, np.zeros(2), points, labels)
    expected = [dirichlet_log_marginal(x[None], np.ones(1), concentration + S[0, 1:]) for x in X]
    np.testing.assert_allclose(scores[:, 0], expected, rtol=1e-9)
    np.testing.assert_allclose(own, scores.T, rtol=1e-9)


def test_multinomial_drawn_scores_are_counts_times_log_probabilities() -> None:
    component, X, w = random_case("multinomial", 24, 30, 5)
    S = component.statistics(component.prepare(X), w, np.arange(30, dtype=np.int32) % 3, 3)
    drawn = component.draw(S, np.random.default_rng(2))
    np.testing.assert_allclose(special.logsumexp(drawn.log_theta, axis=1), 0.0, atol=1e-12)
    found = component.scores(drawn, np.array([0.1, 0.2, 0.3]), component.prepare(X))
    np.testing.assert_allclose(found, X @ drawn.log_theta.T + [0.1, 0.2, 0.3], rtol=1e-10)


# --- drawn parameters


def test_gaussian_draws_have_the_posterior_moments() -> None:
    """40 000 draws: E Sigma = nu* psi* / (nu* - D - 1), E mu = m*, cov mu = E Sigma / kappa*; within 5 errors."""
    D, M = 3, 40_000
    rng = np.random.default_rng(31)
    X = rng.normal(size=(20, D)) @ np.array([[2.0, 0.0, 0.0], [1.0, 0.5, 0.0], [-0.5, 0.3, 1.0]]) + [1.0, -2.0, 0.5]
    component = Gaussian(0.5, np.zeros(D), 6.0, np.eye(D)).bind(X, np.ones(20))
    after = Niw(0.5, np.zeros(D), 6.0, np.eye(D)).posterior(X, np.ones(20))
    drawn = component.draw(np.repeat(row(component, X, np.ones(20)), M, axis=0), rng)
    A = np.tril(drawn.A)
    covariance = np.linalg.inv(np.einsum("mij,mik->mjk", A, A))
    mean = -np.linalg.solve(A, drawn.b[..., None])[..., 0]
    expected = after.nu * after.psi / (after.nu - D - 1.0)
    within(covariance, expected)
    within(mean, after.m)
    away = mean - after.m
    within(np.einsum("mi,mj->mij", away, away), expected / after.kappa)
    np.testing.assert_allclose(
        drawn.c,
        -0.5 * np.linalg.slogdet(2.0 * np.pi * covariance)[1],
        rtol=1e-6,
    )


def test_diagonal_draws_have_the_posterior_moments() -> None:
    """40 000 draws: E precision = 1 / psi*, E 1/precision = nu* psi* / (nu* - 2), E mu = m*; within 5 errors."""
    D, M = 2, 40_000
    rng = np.random.default_rng(32)
    X = rng.normal(size=(12, D)) * [3.0, 0.2] + [5.0, 1.0]
    component = DiagonalGaussian(2.0, np.zeros(D), 4.0, np.array([1.0, 0.1])).bind(X, np.ones(12))
    drawn = component.draw(np.repeat(row(component, X, np.ones(12)), M, axis=0), rng)
    for d, psi in enumerate((1.0, 0.1)):
        after = Niw(2.0, np.zeros(1), 4.0, np.array([[psi]])).posterior(X[:, d : d + 1], np.ones(12))
        variance = after.nu * after.psi[0] / (after.nu - 2.0)
        within(drawn.precision[:, d : d + 1], 1.0 / after.psi[0])
        within(1.0 / drawn.precision[:, d : d + 1], variance)
        within(drawn.mean[:, d : d + 1], after.m)
        within(np.square(drawn.mean[:, d : d + 1] - after.m), variance / after.kappa)


def test_dirichlet_draws_have_the_posterior_moments() -> None:
    """40 000 draws, tiny concentrations among them: E theta = d / A, var = d (A - d) / (A^2 (A + 1))."""
    d = np.array([0.01, 0.3, 4.0, 20.0])
    component = Multinomial(d).bind(np.zeros((1, 4)), np.ones(1))
    drawn = component.draw(np.zeros((40_000, 5)), np.random.default_rng(33))
    assert np.isfinite(drawn.log_theta).all()
    theta = np.exp(drawn.log_theta)
    total = d.sum()
    within(theta, d / total)
    within(np.square(theta - d / total), d * (total - d) / (total**2 * (total + 1.0)))


def within(draws: Array, expected: Array, errors: float = 5.0) -> None:
    """The mean of the draws (first axis) lies within so many of its standard errors of what it should be."""
    error = draws.std(axis=0) / np.sqrt(len(draws))
    np.testing.assert_array_less(np.abs(draws.mean(axis=0) - expected), errors * error)


# --- translation


@pytest.mark.parametrize("name", ["diagonal", "gaussian"])
@pytest.mark.parametrize("parts", [1, 2])
@settings(max_examples=30)
@given(seed=SEEDS, D=st.integers(1, 5))
def test_translated_statistics_are_those_of_the_points_elsewhere(name: str, parts: int, seed: int, D: int) -> None:
    component, X, w = random_case(name, seed, 90, D)
    rng = np.random.default_rng(seed)
    group, part = rng.integers(0, 4, 90), rng.integers(0, parts, 90)
    batches = [slice(0, 30), slice(30, 60), slice(60, 90)]
    assert component.n_coordinates == D

    def statistics(points: Array) -> Array:
        labels = (parts * group + part).astype(np.int32)
        S = [component.statistics(component.prepare(points[b]), w[b], labels[b], 4 * parts) for b in batches]
        return np.array(S).reshape(3, 4, parts, -1)

    # A record too many, and a group: what lies beside must stay.
    way = rng.normal(0.0, 3.0, (3, D))
    records = statistics(X)
    expected = records.copy()
    expected[:2, :3] = statistics(X + np.concatenate([way, np.zeros((1, D))])[group])[:2, :3]
    component.translate(records, 2, way)
    np.testing.assert_allclose(records, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_counts_have_no_place() -> None:
    component, _, _ = random_case("multinomial", 0, 9, 3)
    assert component.n_coordinates == 0
    with pytest.raises(NotImplementedError, match="multinomial clusters have no location"):
        component.translate(np.zeros((1, 1, 1, component.n_statistics)), 1, np.zeros((1, 3)))


# --- halves


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40)
@given(seed=SEEDS, n=st.integers(1, 30), D=st.integers(1, 5), principal=st.booleans())
def test_halves_add_up_and_are_possible_statistics(name: str, seed: int, n: int, D: int, principal: bool) -> None:
    component, X, w = random_case(name, seed, n, D)
    rng = np.random.default_rng(seed)
    S = np.concatenate([row(component, X, w), np.zeros((1, component.n_statistics))])
    axis = component.axis(S[0], rng, principal)
    half = component.halve(S, axis)
    other = S - half
    np.testing.assert_allclose(half + other, S, rtol=1e-12)
    np.testing.assert_array_equal(half[:, 0], 0.5 * S[:, 0])
    assert np.isfinite(half).all()
    assert not half[1].any()
    for part in (half[0], other[0]):
        if name == "multinomial":
            assert (part >= 0).all()
        else:
            assert np.linalg.eigvalsh(covariance_of(part, D)).min() > -1e-7 * np.abs(X).max() ** 2


def covariance_of(S: Array, D: int) -> Array:
    mean = S[1 : 1 + D] / S[0]
    if len(S) == 1 + 2 * D:
        return np.diag(S[1 + D :] / S[0] - mean**2)
    second = np.zeros((D, D))
    second[np.tril_indices(D)] = S[1 + D :] / S[0]
    return second + np.tril(second, -1).T - np.outer(mean, mean)


@pytest.mark.parametrize("name", ["diagonal", "gaussian"])
def test_gaussian_halves_are_what_a_cut_through_the_mean_leaves(name: str) -> None:
    """Against 400 000 normal points that are really cut along the principal axis."""
    rng = np.random.default_rng(41)
    X = rng.normal(size=(400_000, 2)) * [3.0, 1.0] + [10.0, -4.0]
    component = BY_NAME[name](m=np.zeros(2), nu=4.0, psi=1.0).bind(X[:2], np.ones(2))
    S = row(component, X, np.ones(len(X)))
    half = component.halve(S, component.axis(S[0], rng, True))[0]
    mean = half[1:3] / half[0]
    sign = 1.0 if mean[0] > 10.0 else -1.0
    side = X[sign * (X[:, 0] - X[:, 0].mean()) > 0]
    np.testing.assert_allclose(mean, side.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(np.diag(covariance_of(half, 2)), side.var(axis=0), rtol=0.02)


@pytest.mark.parametrize("trials", [2, 30, 1000])
def test_multinomial_halves_are_what_a_cut_by_their_signs_leaves(trials: int) -> None:
    """Against 100 000 draws that are really cut; so halves of one cluster do not look like two."""
    rng = np.random.default_rng(44)
    X = rng.multinomial(trials, rng.dirichlet(np.full(40, 5.0)), 100_000).astype(float)
    component = BY_NAME["multinomial"]().bind(X[:2], np.ones(2))
    S = row(component, X, np.ones(len(X)))
    axis = component.axis(S[0], rng, True)
    half = component.halve(S, axis)[0]
    projection = X @ axis
    order = np.argsort(projection + 1e-3 * rng.normal(size=len(X)))
    upper = X[order[len(X) // 2 :]].mean(axis=0)
    expected = (upper @ axis - projection.mean()) / trials
    assert (half[1:] @ axis - 0.5 * S[0, 1:] @ axis) / (half[0] * trials) == pytest.approx(expected, rel=0.1)
    both = np.concatenate([S, half[None], S - half])
    log_marginal = component.log_marginal(both)
    # Two halves gain 1 / pi nats for each point at most, less than the log 2 that belonging to one of them costs.
    assert log_marginal[1] + log_marginal[2] - log_marginal[0] < len(X) / np.pi


@pytest.mark.parametrize("D", [2, 3])
def test_multinomial_halves_lie_apart(D: int) -> None:
    component, X, w = random_case("multinomial", 42, 30, D)
    S = row(component, X, w)
    for seed in range(20):
        half = component.halve(S, component.axis(S[0], np.random.default_rng(seed), True))[0]
        other = S[0] - half
        assert np.abs(half[1:] / half[1:].sum() - other[1:] / other[1:].sum()).sum() > 0.1


@pytest.mark.parametrize("name", ["diagonal", "gaussian"])
def test_axis_does_not_depend_on_units(name: str) -> None:
    """A feature in other units, with a prior that knows it, is cut in the same place."""
    rng = np.random.default_rng(43)
    X = rng.normal(size=(200, 3)) * [1.0, 3.0, 0.5]
    unit = np.array([1.0, 1e-3, 1e3])
    shifts = []
    for scale in (np.ones(3), unit):
        psi: Any = scale**2 if name == "diagonal" else np.diag(scale**2)
        component = BY_NAME[name](m=np.zeros(3), nu=4.0, psi=psi).bind(X[:2], np.ones(2))
        S = row(component, X * scale, np.ones(200))
        half = component.halve(S, component.axis(S[0], rng, True))[0]
        shift = half[1:4] / half[0] - S[0, 1:4] / S[0, 0]
        shifts.append(np.abs(shift / scale))
    np.testing.assert_allclose(shifts[0], shifts[1], rtol=1e-6)
    assert shifts[0].argmax() == 1


@pytest.mark.parametrize("D", [3, 24, 25, 40])
def test_the_principal_axis_is_an_eigenvector_of_small_and_large_matrices(D: int) -> None:
    """Jacobi's method finds it up to 24 features, LAPACK beyond."""
    rng = np.random.default_rng(44)
    X = rng.normal(size=(300, D)) @ rng.normal(size=(D, D))
    component = Gaussian(m=np.zeros(D), nu=D + 3.0, psi=1.0).bind(X[:2], np.ones(2))
    S = row(component, X, np.ones(300))[0]
    expected = np.linalg.eigh(covariance_of(S, D))[1][:, -1]
    axis = component.axis(S, rng, True)
    np.testing.assert_allclose(axis * np.sign(axis @ expected), expected, atol=1e-6)


# --- merges worth scoring


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40)
@given(
    seed=SEEDS,
    K=st.integers(2, 12),
    D=st.integers(1, 4),
    spread=st.sampled_from([0.0, 0.3, 3.0, 100.0]),
    log_alpha=st.sampled_from([-10.0, 0.0, 7.0, 40.0]),
)
def test_mergeable_leaves_out_no_merge_that_could_be_accepted(
    name: str, seed: int, K: int, D: int, spread: float, log_alpha: float
) -> None:
    component, X, w = random_case(name, seed, 15 * K, D)
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(K), 15).astype(np.int32)
    if name == "multinomial":
        X = rng.poisson(np.exp(min(spread, 3.0) * rng.normal(size=(K, D))))[groups]
    else:
        X = X + spread * rng.normal(size=(K, D))[groups]
    S = component.statistics(component.prepare(X), w * np.exp(rng.normal(0.0, 1.5, K))[groups], groups, K)
    S = S[S[:, 0] >= 1.0]
    K = len(S)
    eligible = rng.random(K) < 0.8
    L = component.log_marginal(S)
    found = {tuple(sorted(map(int, pair))) for pair in component.mergeable(S, L, eligible, log_alpha)}
    a, b = np.triu_indices(K, 1)
    pairs = np.stack([a, b], axis=1)
    for kind in ("paper", "original"):
        ratios = merge_log_hastings(component, S, L, pairs, log_alpha, kind)
        for (i, j), ratio in zip(pairs.tolist(), ratios, strict=True):
            if not (eligible[i] and eligible[j]):
                assert (i, j) not in found
            elif ratio > HOPELESS:
                assert (i, j) in found
    likely = component.likely_merges(S, L, eligible, log_alpha)
    if likely is not None:
        # The ratios of the last kind, "original".
        certain = {(i, j) for (i, j), ratio in zip(pairs.tolist(), ratios, strict=True) if ratio > HOPELESS}
        listed = [tuple(sorted(pair)) for pair in likely.pairs.tolist()]
        assert {(i, j) for i, j in certain if eligible[i] and eligible[j]} <= set(listed) <= found
        wider = [tuple(sorted(map(int, pair))) for pair in component.mergeable(S, L, eligible, log_alpha)]
        assert listed == [wider[place] for place in likely.places]
        assert likely.total == len(wider)


def test_likely_merges_spare_pairs_that_only_the_wider_bound_lists() -> None:
    rng = np.random.default_rng(53)
    X = rng.normal(size=(6000, 2)) + np.repeat(2.5 * np.stack([np.arange(60.0), np.zeros(60)], axis=1), 100, axis=0)
    component = Gaussian(m=np.zeros(2), nu=5.0, psi=1.0).bind(X, np.ones(6000))
    S = component.statistics(component.prepare(X), np.ones(6000), np.repeat(np.arange(60), 100).astype(np.int32), 60)
    S = 50.0 * S
    L, eligible = component.log_marginal(S), np.ones(60, bool)
    wider, likely = (bound(S, L, eligible, 7.0) for bound in (component.mergeable, component.likely_merges))
    assert len(likely.pairs) < 0.3 * len(wider)


@pytest.mark.parametrize("principal", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_clusters_are_cut_together_as_one_by_one(name: str, principal: bool) -> None:
    component, X, w = random_case(name, 3, 90, 4)
    groups = np.repeat(np.arange(6), 15).astype(np.int32)
    S = component.statistics(component.prepare(X), w, groups, 6)
    rows = np.stack([S[:3], S[3:]])
    together = component.cut(S[:3], rows, np.random.default_rng(5), principal)
    rng = np.random.default_rng(5)
    for k in range(3):
        axis = component.axis(S[k], rng, principal)
        np.testing.assert_array_equal(together[:, k], component.halve(np.ascontiguousarray(rows[:, k]), axis))


@pytest.mark.parametrize(("name", "excess"), [("diagonal", 1.01), ("gaussian", 1.25)])
def test_mergeable_leaves_little_more_than_the_merges_that_could_be_accepted(name: str, excess: float) -> None:
    rng = np.random.default_rng(51)
    X = rng.normal(size=(2000, 2)) + np.repeat(50.0 * rng.normal(size=(100, 2)), 20, axis=0)
    component = BY_NAME[name](m=np.zeros(2), nu=5.0, psi=1.0).bind(X, np.ones(2000))
    groups = np.repeat(np.arange(100), 20).astype(np.int32)
    S = component.statistics(X, np.ones(2000), groups, 100)
    L = component.log_marginal(S)
    pairs = component.mergeable(S, L, np.ones(100, bool), 0.0)
    ratios = merge_log_hastings(component, S, L, np.stack(np.triu_indices(100, 1), axis=1), 0.0, "paper")
    possible = np.count_nonzero(ratios > HOPELESS)
    assert possible <= len(pairs) <= excess * possible < 0.3 * len(ratios)


def test_mergeable_spares_most_pairs_of_unlike_counts() -> None:
    rng = np.random.default_rng(52)
    groups = np.repeat(np.arange(50), 20).astype(np.int32)
    X = rng.poisson(5.0 * rng.dirichlet(np.ones(30), 50)[groups] * 30.0).astype(np.float64)
    component = Multinomial(1.0).bind(X, np.ones(1000))
    S = component.statistics(component.prepare(X), np.ones(1000), groups, 50)
    pairs = component.mergeable(S, component.log_marginal(S), np.ones(50, bool), 0.0)
    assert len(pairs) < 0.05 * 50 * 49 / 2


# --- open hyperparameters


@pytest.mark.parametrize("make", [Gaussian, DiagonalGaussian])
def test_open_hyperparameters_come_from_the_weighted_first_batch(make: Callable[[], Component]) -> None:
    rng = np.random.default_rng(61)
    X = rng.exponential(size=(50, 3)) * [1.0, 10.0, 0.1] + 3.0
    w = rng.integers(0, 4, 50).astype(float)
    prior = make().bind(X, w).hyperparameters()
    repeated = np.repeat(X, w.astype(int), axis=0)
    psi = np.diag(prior["psi"]) if prior["psi"].ndim == 2 else prior["psi"]
    np.testing.assert_allclose(prior["m"], repeated.mean(axis=0))
    np.testing.assert_allclose(psi, repeated.var(axis=0))


@pytest.mark.parametrize("make", [Gaussian, DiagonalGaussian])
def test_a_resolution_spreads_points_over_its_steps(make: Callable[..., Component]) -> None:
    """The statistics are those of many points spread evenly over a step around each."""
    X, w, resolution = np.array([[1.0, 2.0], [4.0, 2.5]]), np.array([1.0, 3.0]), np.array([1.0, 0.5])
    places = (np.arange(1000) + 0.5) / 1000.0 - 0.5
    u, v = (axis.ravel() for axis in np.meshgrid(places, places))
    spread = (X[:, None] + np.stack([u, v], axis=1) * resolution).reshape(-1, 2)
    coarse = make(m=np.zeros(2), psi=1.0, resolution=resolution).bind(X, w)
    fine = make(m=np.zeros(2), psi=1.0, resolution=0.0).bind(X, w)
    expected = row(fine, spread, np.repeat(w / 1e6, 10**6))
    np.testing.assert_allclose(row(coarse, X, w), expected, rtol=1e-5)


@pytest.mark.parametrize("resolution", [-1.0, np.nan, 1e160, [1.0, 2.0, 3.0]])
def test_bad_resolutions_are_rejected(resolution: Any) -> None:
    with pytest.raises(ValueError, match=r"resolution must be (2 numbers from 0 to|finite)"):
        Gaussian(psi=1.0, resolution=resolution).bind(np.zeros((3, 2)), np.ones(3))


@pytest.mark.parametrize("make", [Gaussian, DiagonalGaussian])
def test_steps_between_values_are_found_unless_the_user_sets_the_prior(make: Callable[..., Component]) -> None:
    x = np.random.default_rng(0).normal(0.0, 30.0, (2000, 2))
    X = np.column_stack([x.round(), x[:, 1]])
    np.testing.assert_array_equal(make().bind(X[:, :2], np.ones(2000)).hyperparameters()["resolution"], [1.0, 1.0])
    np.testing.assert_array_equal(make().bind(X, np.ones(2000)).hyperparameters()["resolution"], [1.0, 1.0, 0.0])
    np.testing.assert_array_equal(make(psi=1.0).bind(X, np.ones(2000)).hyperparameters()["resolution"], np.zeros(3))


def test_a_few_large_values_do_not_widen_the_step() -> None:
    rng = np.random.default_rng(1)
    small, large = rng.normal(0.0, 1.0, 1000).round(1), 10.0 ** rng.uniform(3.0, 6.0, 500)
    X = np.concatenate([small, large])[:, None]
    assert value_steps(X, np.ones(1500)) == pytest.approx([0.1])


def test_codes_have_no_steps_even_beside_other_features() -> None:
    """A hundred points show at most ten codes, and zeros of both signs, which are one."""
    rng = np.random.default_rng(2)
    codes = np.round(rng.uniform(-1.4, 1.4, (900, 2)))
    assert np.signbit(codes[codes == 0.0]).any()
    X = np.column_stack([codes, rng.normal(size=900)])
    for features in (codes, X):
        np.testing.assert_array_equal(value_steps(features, np.ones(900)), np.zeros(features.shape[1]))


def test_gaussian_rows_are_those_of_numpy_around_the_prior_mean() -> None:
    component, X, w = random_case("gaussian", 62, 20, 4)
    np.testing.assert_allclose(row(component, X, w)[0], gaussian_row(X - component.get_params()["m"], w), rtol=1e-12)


def test_rows_of_pixels_are_those_of_numpy_around_zero() -> None:
    component, X, w = random_case("gaussian", 62, 20, 4)
    pixels = PixelGaussian(**component.get_params()).bind(X, w)
    np.testing.assert_allclose(row(pixels, X, w)[0], gaussian_row(X, w), rtol=1e-12)
    np.testing.assert_allclose(pixels.log_marginal(row(pixels, X, w)), component.log_marginal(row(component, X, w)))


@pytest.mark.parametrize("name", ["diagonal", "gaussian"])
def test_components_with_different_means_can_share_statistics(name: str) -> None:
    component, X, w = random_case(name, 64, 20, 3)
    moved = type(component)(**{**component.get_params(), "m": [3.0, -1.0, 40.0]}).bind(X, w)
    shared = type(component)(**moved.get_params())
    shared.origin = component.origin  # type: ignore[attr-defined]
    S, T = row(component, X, w), row(moved, X, w)
    np.testing.assert_allclose(row(shared, X, w), S)
    np.testing.assert_allclose(shared.log_marginal(S), moved.log_marginal(T), rtol=1e-9)
    np.testing.assert_allclose(log_predictive(shared, S, X[0]), log_predictive(moved, T, X[0]), rtol=1e-9)
    np.testing.assert_allclose(shared.summary(S[0])["mean"], moved.summary(T[0])["mean"])


@pytest.mark.parametrize("make", [Gaussian, DiagonalGaussian])
def test_a_bound_component_keeps_its_mean_when_the_users_array_changes(make: Callable[..., Component]) -> None:
    m, X = np.zeros(2), np.random.default_rng(65).normal(size=(9, 2))
    component = make(m=m).bind(X, np.ones(9))
    before = component.prepare(X)
    m += 100.0
    np.testing.assert_array_equal(component.prepare(X), before)
    np.testing.assert_array_equal(component.hyperparameters()["m"], 0.0)


@pytest.mark.parametrize("make", [Gaussian, DiagonalGaussian])
def test_the_default_prior_does_not_depend_on_the_origin(make: Callable[[], Component]) -> None:
    X = np.random.default_rng(63).normal(size=(100, 2)) * [4.0, 0.5]
    here = make().bind(X, np.ones(100)).hyperparameters()["psi"]
    there = make().bind(X + 1e5, np.ones(100)).hyperparameters()["psi"]
    np.testing.assert_allclose(there, here, rtol=1e-6)


@pytest.mark.parametrize("make", [Gaussian, DiagonalGaussian])
@pytest.mark.parametrize("value", [0.0, 7.0, 1e6])
def test_a_constant_feature_still_gives_a_usable_prior(make: Callable[[], Component], value: float) -> None:
    X = np.full((20, 2), value)
    component = make().bind(X, np.ones(20))
    score = component.log_marginal(row(component, X, np.ones(20)))
    assert np.isfinite(score).all()
    assert np.isfinite(log_predictive(component, row(component, X, np.ones(20)), X[0]))
