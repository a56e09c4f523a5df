"""Read-only results of a sampler: the clusters, their genealogy and the last events."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scstream.components.base import Array
from scstream.sampler.genealogy import Event, Genealogy
from scstream.sampler.parameters import Parameters
from scstream.sampler.sampler import Sampler


@dataclass(frozen=True, slots=True)
class Cluster:
    """A live cluster.

    Parameters
    ----------
    id : int
    count : float
        Time-weighted number of points.
    share : float
        Its count over that of all clusters.
    summary : dict of arrays
        What `Component.summary` returns, such as the mean.
    """

    id: int
    count: float
    share: float
    summary: dict[str, Array]


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
        Number of live clusters.
    clusters_ : list of Cluster
        Live clusters, largest first.
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
        return len(self._sampler.state.ids)

    @property
    def clusters_(self) -> list[Cluster]:
        state, component = self._sampler.state, self._sampler.component
        S = state.total.sum(axis=1)
        whole = max(float(S[:, 0].sum()), 1e-300)
        order = np.argsort(-S[:, 0], kind="stable")
        return [
            Cluster(int(state.ids[k]), float(S[k, 0]), float(S[k, 0] / whole), component.summary(S[k])) for k in order
        ]

    @property
    def events_(self) -> list[Event]:
        return list(self._sampler.events)

    @property
    def genealogy_(self) -> Genealogy:
        return self._sampler.genealogy

    @property
    def log_posterior_(self) -> float:
        return self._sampler.log_posterior
