"""Read-only results of a sampler: the clusters, their genealogy and the last events."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scstream.cluster import Cluster
from scstream.components.base import Array
from scstream.notebook import mixture_html
from scstream.sampler.genealogy import Event, Genealogy
from scstream.sampler.parameters import Parameters
from scstream.sampler.sampler import Sampler


class Mixture:
    """Read-only view of the mixture that a sampler has found.

    Parameters
    ----------
    sampler : Sampler

    Attributes
    ----------
    parameters : Parameters
        Parameters that the sampler runs with.
    n_clusters_ : int
        Number of live clusters. Here and below, a cluster that is not announced yet is part of its owner.
    clusters_ : list of Cluster
        Live clusters, largest first.
    ids_ : array (K,) int64
        Their ids, in the same order.
    weights_ : array (K,)
        Their shares of all points, which are time-weighted.
    means_, covariances_, probabilities_ : array (K, ...)
        Their "mean", "covariance" or "variance", and "probabilities" in `Component.summary`. Components whose summary
        lacks one lack the attribute.
    events_ : list of Event
        Births, splits, merges and deaths during the last batch.
    genealogy_ : Genealogy
        Parents, children, births and deaths of all clusters.
    log_posterior_ : float
        Log of p(labels, points) after the last batch, up to a constant.
    """

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler

    @property
    def parameters(self) -> Parameters:
        return self._sampler.config

    @property
    def n_clusters_(self) -> int:
        return len(self._sampler.state.announced)

    @property
    def clusters_(self) -> list[Cluster]:
        state, component = self._sampler.state, self._sampler.component
        S, ids = state.summed(state.total.sum(axis=1)), state.ids[state.announced]
        whole = _whole(S[:, 0])
        return [
            Cluster(int(ids[k]), float(S[k, 0]), float(S[k, 0] / whole), component.summary(S[k]))
            for k in size_order(self._sampler)
        ]

    @property
    def ids_(self) -> npt.NDArray[np.int64]:
        state = self._sampler.state
        ids: npt.NDArray[np.int64] = state.ids[state.announced][size_order(self._sampler)]
        return ids

    @property
    def weights_(self) -> Array:
        counts = _counts(self._sampler)
        return counts[size_order(self._sampler)] / _whole(counts)

    @property
    def means_(self) -> Array:
        return self._summaries("means_", "mean")

    @property
    def covariances_(self) -> Array:
        return self._summaries("covariances_", "covariance", "variance")

    @property
    def probabilities_(self) -> Array:
        return self._summaries("probabilities_", "probabilities")

    @property
    def events_(self) -> list[Event]:
        return list(self._sampler.events)

    @property
    def genealogy_(self) -> Genealogy:
        return self._sampler.genealogy

    @property
    def log_posterior_(self) -> float:
        return self._sampler.log_posterior

    def _repr_html_(self) -> str:
        return mixture_html(self.clusters_)

    def _summaries(self, attribute: str, *names: str) -> Array:
        """Stack the first of the named parts that the clusters' summaries have, largest cluster first."""
        summaries = [cluster.summary for cluster in self.clusters_]
        for name in names:
            if name in summaries[0]:
                return np.stack([summary[name] for summary in summaries])
        kind, known = type(self._sampler.component).__name__, ", ".join(summaries[0])
        raise AttributeError(f"{kind} clusters have no {attribute}: their summary has {known}")


def size_order(sampler: Sampler) -> npt.NDArray[np.intp]:
    """Places (M,) in `State.announced` of a sampler's announced clusters, largest first."""
    return np.argsort(-_counts(sampler), kind="stable")


def _counts(sampler: Sampler) -> Array:
    counts: Array = sampler.state.summed(sampler.state.total.sum(axis=1)[:, 0])
    return counts


def _whole(counts: Array) -> float:
    """Sum of the counts; positive even if all points have weight 0."""
    return max(float(counts.sum()), 1e-300)
