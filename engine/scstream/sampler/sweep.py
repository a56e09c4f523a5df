"""One sweep over a batch: draw the cluster parameters (or use fixed ones), label every point, recount.

A sweep is a function of the configuration, the state, the batch and a counter. Its random numbers come from the counter
alone, so that the same seed gives the same labels on any number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from scstream.components.base import Array, Component
from scstream.phases import phase
from scstream.sampler.history import History
from scstream.sampler.parameters import Parameters


@dataclass(slots=True)
class State:
    """Everything that the next batch needs, for K clusters with P statistics each.

    Parameters
    ----------
    history : History
        Statistics of the earlier batches.
    current : array (K, 2, P)
        Statistics of the current batch for the two sub-clusters of each cluster.
    ids : array (K,)
        Id of each cluster.
    age : array (K,)
        Sweeps since the cluster's last split or merge.
    subcluster_age : array (K,)
        Sweeps since the cluster's sub-clusters were initialised.
    born : array (K,)
        Batch in which the cluster's id appeared; for a hidden cluster, in which it split off.
    batch, sweep : int
        Number of the current batch, and of the last sweep over it.
    locked : frozenset of int
        Ids of clusters that no move may split or merge.
    owner : array (K,), optional
        Announced id that the points of each cluster have: its own, unless the cluster is hidden. Default: ``ids``.
    newcomer : array (K,) of bool, optional
        Which hidden clusters will be announced as births, because they entered at the frame's edge. Default: none.
    """

    history: History
    current: Array
    ids: npt.NDArray[np.int64]
    age: npt.NDArray[np.int64]
    subcluster_age: npt.NDArray[np.int64]
    born: npt.NDArray[np.int64]
    batch: int = 0
    sweep: int = 0
    locked: frozenset[int] = frozenset()
    owner: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    newcomer: npt.NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, bool))

    def __post_init__(self) -> None:
        if not len(self.owner):
            self.announce_all()

    def announce_all(self) -> None:
        """Make every cluster its own owner."""
        self.owner, self.newcomer = self.ids.copy(), np.zeros(len(self.ids), bool)

    @property
    def hidden(self) -> npt.NDArray[np.bool_]:
        """Which clusters (K,) have split off, but are not announced yet."""
        hidden: npt.NDArray[np.bool_] = self.owner != self.ids
        return hidden

    @property
    def announced(self) -> npt.NDArray[np.intp]:
        """Indices (M,) of the announced clusters, in the order in which `summed` returns them."""
        return np.flatnonzero(self.owner == self.ids)

    @property
    def place(self) -> npt.NDArray[np.intp]:
        """Place (K,) of each cluster's owner in `announced`."""
        ids = self.ids[self.announced]
        order = np.argsort(ids)
        return order[np.searchsorted(ids[order], self.owner)]

    def summed(self, values: Array) -> Array:
        """Return values (K, ...) of the clusters, summed (M, ...) over those with the same owner."""
        hidden = self.hidden
        if not hidden.any():
            return values
        sums = values[self.announced]
        np.add.at(sums, self.place[hidden], values[hidden])
        return sums

    def lock(self, ids: Iterable[int]) -> None:
        """Lock the clusters of these owners, and no others."""
        owners = frozenset(int(id) for id in ids)
        mine = np.isin(self.owner, np.fromiter(owners, np.int64))
        self.locked = owners | frozenset(self.ids[mine].tolist())

    @property
    def locked_owners(self) -> frozenset[int]:
        """Ids of which all clusters are locked."""
        hidden = self.hidden
        return self.locked - set(self.ids[hidden].tolist()) - set(self.owner[hidden & self.unlocked].tolist())

    @property
    def unlocked(self) -> npt.NDArray[np.bool_]:
        """Which clusters (K,) may be split or merged."""
        if not self.locked:
            return np.ones(len(self.ids), bool)
        return ~np.isin(self.ids, np.fromiter(self.locked, np.int64))

    @property
    def total(self) -> Array:
        """Time-weighted statistics (K, 2, P) of the history and the current batch."""
        return self.history.past + self.current

    @property
    def counts(self) -> Array:
        """Time-weighted number of points (K,) of each cluster."""
        counts = self.history.past[:, :, 0] + self.current[:, :, 0]
        both: Array = counts[:, 0] + counts[:, 1]
        return both


@dataclass(frozen=True, slots=True)
class Densities:
    """Log weights and parameters of the clusters (K) and of their sub-clusters (2 K, interleaved)."""

    log_weight: Array
    parameters: Any
    sub_log_weight: Array
    sub_parameters: Any


class Batch(Protocol):
    """Points that can be labelled: rows of features as `Points`, or the pixels of a frame as `Tiles`."""

    def label(self, component: Component, densities: Densities, keys: npt.NDArray[np.uint32], sampling: bool) -> Array:
        """Label each point 2 k + j (cluster k, sub-cluster j) and return the statistics (K, 2, P)."""
        ...

    @property
    def used(self) -> npt.NDArray[np.bool_]:
        """Whether any point has each label 2 k + j after the last call of `label`."""
        ...

    def border_length(self) -> Array:
        """Length of the frame's border that each label touches, in pixels; 0 if points have no neighbours."""
        ...


def counter_rng(seed: int | None, batch: int, sweep: int) -> np.random.Generator:
    """Generator whose numbers depend on the seed, the batch and the sweep alone; None stands for seed 0."""
    key = [int(seed or 0), batch, sweep]
    if max(key) < 2**32:
        # The same numbers, but the generator need not convert the key itself, which takes a while.
        return np.random.Generator(np.random.SFC64(np.array(key, np.uint32)))
    return np.random.Generator(np.random.SFC64(key))


def draw_densities(component: Component, total: Array, alpha: float, rng: np.random.Generator) -> Densities:
    """Weights and parameters drawn from their posteriors (the restricted Gibbs sampler).

    With counts n_k of the clusters and n_kj of their sub-clusters: weights ~ Dirichlet(n_1, ..., n_K, alpha) and
    sub-cluster weights ~ Dirichlet(n_k1 + alpha / 2, n_k2 + alpha / 2).
    """
    K, _, P = total.shape
    sub = total.reshape(2 * K, P)
    cluster = sum_subclusters(total)
    # Only ratios of weights matter: a Dirichlet draw needs no normalising, nor its K + 1st weight.
    log_weight = np.log(np.maximum(rng.standard_gamma(np.maximum(cluster[:, 0], 1e-3)), 1e-300))
    sub_log_weight = np.log(np.maximum(rng.standard_gamma(sub[:, 0] + 0.5 * alpha), 1e-300))
    return Densities(log_weight, component.draw(cluster, rng), sub_log_weight, component.draw(sub, rng))


def mode_densities(component: Component, total: Array, alpha: float) -> Densities:
    """Weights in proportion to n_k and n_kj + alpha / 2, and posterior predictives (the deterministic sweep)."""
    K, _, P = total.shape
    sub = total.reshape(2 * K, P)
    cluster = sum_subclusters(total)
    return Densities(
        np.log(np.maximum(cluster[:, 0], 1e-300)),
        component.predictive(cluster),
        np.log(sub[:, 0] + 0.5 * alpha),
        component.predictive(sub),
    )


def relabel(
    config: Parameters, component: Component, state: State, batch: Batch, sampling: bool, rng: np.random.Generator
) -> None:
    """Label the batch again and store its statistics in ``state.current``."""
    keys = rng.integers(0, 2**32, 2, np.uint32)
    alpha = float(np.exp(min(config.log_alpha, 600.0)))
    total = state.total
    with phase("parameters"):
        if sampling:
            densities = draw_densities(component, total, alpha, rng)
        else:
            densities = mode_densities(component, total, alpha)
    with phase("labels"):
        state.current = batch.label(component, densities, keys, sampling)


def sum_subclusters(total: Array) -> Array:
    """Statistics (..., P) of clusters from those of their sub-clusters (..., 2, P)."""
    # numpy's sum takes twice as long.
    cluster: Array = total[..., 0, :] + total[..., 1, :]
    return cluster


def log_posterior(component: Component, total: Array, log_alpha: float) -> float:
    """Log of p(labels, points) up to a constant: K log(alpha) + sum_k (log Gamma(n_k) + log marginal_k)."""
    cluster = sum_subclusters(total)
    counts = np.maximum(cluster[:, 0], 1.0)
    return float(len(cluster) * log_alpha + gammaln(counts).sum() + component.log_marginal(cluster).sum())


def fit_of(component: Component, total: Array, log_alpha: float) -> float:
    """The log posterior for each point, without what grows with their number: comparable between batches."""
    n = float(total[..., 0].sum())
    return (log_posterior(component, total, log_alpha) - math.lgamma(n + 1.0)) / max(n, 1.0)
