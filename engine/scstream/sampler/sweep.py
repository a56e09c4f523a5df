"""One sweep over a batch: draw (or fix) weights and parameters, label every point, recount.

A sweep is a function of the settings, the state, the batch and a counter; the random numbers come from the counter
alone, so that the same seed gives the same labels on any number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from scstream import kernels
from scstream.components.base import Array, Component, Labels
from scstream.sampler.forgetting import Kernel
from scstream.sampler.history import History


@dataclass(frozen=True, slots=True)
class Settings:
    """The sampler's parameters, checked by the model; see `ScStream` for what they mean."""

    log_alpha: float
    kernel: Kernel
    epsilon: float
    sweeps: int
    burn_in: int
    split_last: bool
    patience: int | None
    merge: str
    follow: str
    seed: int


@dataclass(slots=True)
class State:
    """Everything the next batch needs.

    ``current`` (K, 2, P) holds the statistics of the batch being worked on, ``history`` those of the earlier ones.
    Per cluster: ``ids``, ``age`` (sweeps since its last move), ``rest`` (sweeps since its sub-clusters were started)
    and ``born`` (the batch in which its id appeared). Clusters whose id is in ``locked`` are not split or merged.
    """

    history: History
    current: Array
    ids: npt.NDArray[np.int64]
    age: npt.NDArray[np.int64]
    rest: npt.NDArray[np.int64]
    born: npt.NDArray[np.int64]
    batch: int = 0
    sweep: int = 0
    locked: frozenset[int] = frozenset()

    @property
    def free(self) -> npt.NDArray[np.bool_]:
        """Which clusters (K,) moves may touch."""
        if not self.locked:
            return np.ones(len(self.ids), bool)
        return ~np.isin(self.ids, np.fromiter(self.locked, np.int64))

    @property
    def total(self) -> Array:
        """Time-weighted statistics (K, 2, P), the batch at hand included."""
        return self.history.past + self.current


@dataclass(frozen=True, slots=True)
class Densities:
    """Log weights and parameters of the clusters (K) and of their sub-clusters (2 K, interleaved)."""

    log_weight: Array
    parameters: Any
    sub_log_weight: Array
    sub_parameters: Any


class Batch(Protocol):
    """Points that can be labelled: `Points` here, tiles of pixels in `tiles`."""

    def label(self, component: Component, densities: Densities, keys: npt.NDArray[np.uint32], sampling: bool) -> Array:
        """Label each point 2 k + j and return the statistics (K, 2, P) of the sub-clusters."""
        ...

    @property
    def used(self) -> npt.NDArray[np.bool_]:
        """For each label 2 k + j that the last call could give, whether any point has it."""
        ...

    def at_edge(self) -> Array:
        """For each of these labels, along what length of the edge of what can be seen it lies; 0 without an edge."""
        ...


class Points:
    """A batch of N weighted points of any component."""

    def __init__(self, points: Any, weight: Array) -> None:
        self.points = points
        self.weight = weight
        self.labels: Labels = np.zeros(len(weight), np.int32)
        self.used = np.ones(2, bool)

    def label(self, component: Component, densities: Densities, keys: npt.NDArray[np.uint32], sampling: bool) -> Array:
        scores = component.scores(densities.parameters, densities.log_weight, self.points)
        cluster = np.empty(len(scores), np.int32)
        kernels.label_points(scores, keys[0], sampling, cluster)
        own = component.own_scores(densities.sub_parameters, densities.sub_log_weight, self.points, cluster)
        self.labels = np.empty(len(scores), np.int32)
        kernels.label_halves(own, keys[1], sampling, cluster, self.labels)
        n_groups = len(densities.sub_log_weight)
        self.used = np.bincount(self.labels, minlength=n_groups) > 0
        S = component.statistics(self.points, self.weight, self.labels, n_groups)
        return S.reshape(n_groups // 2, 2, -1)

    def at_edge(self) -> Array:
        # Points in general have no surroundings.
        return np.zeros(len(self.used))


def counter_rng(seed: int, batch: int, sweep: int) -> np.random.Generator:
    """Random numbers that belong to one sweep of one batch."""
    return np.random.Generator(np.random.SFC64([seed, batch, sweep]))


def draw_densities(component: Component, total: Array, alpha: float, rng: np.random.Generator) -> Densities:
    """Weights and parameters drawn from their posteriors (the restricted Gibbs sampler)."""
    K, _, P = total.shape
    sub = total.reshape(2 * K, P)
    cluster = both_halves(total)
    # Only ratios of weights matter: a Dirichlet draw needs no normalising, nor its K + 1st weight.
    log_weight = np.log(np.maximum(rng.standard_gamma(np.maximum(cluster[:, 0], 1e-3)), 1e-300))
    sub_log_weight = np.log(np.maximum(rng.standard_gamma(sub[:, 0] + 0.5 * alpha), 1e-300))
    return Densities(log_weight, component.draw(cluster, rng), sub_log_weight, component.draw(sub, rng))


def mode_densities(component: Component, total: Array, alpha: float) -> Densities:
    """Weights at their mode and posterior predictives (the deterministic sweep)."""
    K, _, P = total.shape
    sub = total.reshape(2 * K, P)
    cluster = both_halves(total)
    return Densities(
        np.log(np.maximum(cluster[:, 0], 1e-300)),
        component.predictive(cluster),
        np.log(sub[:, 0] + 0.5 * alpha),
        component.predictive(sub),
    )


def relabel(
    settings: Settings, component: Component, state: State, batch: Batch, sampling: bool, rng: np.random.Generator
) -> None:
    """Label the batch anew and put its statistics into ``state.current``."""
    keys = rng.integers(0, 2**32, 2, np.uint32)
    alpha = float(np.exp(min(settings.log_alpha, 600.0)))
    total = state.total
    if sampling:
        densities = draw_densities(component, total, alpha, rng)
    else:
        densities = mode_densities(component, total, alpha)
    state.current = batch.label(component, densities, keys, sampling)


def both_halves(total: Array) -> Array:
    """Statistics (..., P) of clusters, given those of their halves (..., 2, P); numpy's sum takes twice as long."""
    whole: Array = total[..., 0, :] + total[..., 1, :]
    return whole


def log_posterior(component: Component, total: Array, log_alpha: float) -> float:
    """Log of p(labels, points) up to a constant: the DP's prior of the partition times the marginals."""
    cluster = both_halves(total)
    counts = np.maximum(cluster[:, 0], 1.0)
    return float(len(cluster) * log_alpha + gammaln(counts).sum() + component.log_marginal(cluster).sum())
