"""Interface of a component: the kind of a cluster, as a likelihood with its conjugate prior.

A cluster's sufficient statistics are one flat row of ``n_statistics`` float64 numbers, the first of them the
(weighted) number of points; rows add. Everything else in the engine (history, moves, genealogy, saving) handles
such rows without knowing their meaning.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int32]

#: A merge with a smaller log ratio is never accepted: no uniform number of 53 bits is below exp(-37).
HOPELESS = -37.0


class Component(ABC):
    """A likelihood with its conjugate prior. Instances hold hyperparameters only and never change.

    In the methods below, ``points`` is what `prepare` returns; the engine passes it back to the same component without
    looking at it. Shapes: N points, M clusters, P = ``n_statistics``.
    """

    #: Name in saved models.
    name: ClassVar[str]

    @abstractmethod
    def bind(self, X: Any, weight: Array) -> Self:
        """Return a component with all hyperparameters set, missing ones from the first batch, and checked."""

    @abstractmethod
    def hyperparameters(self) -> dict[str, Array]:
        """Return the constructor's arguments as arrays, for saving."""

    @property
    @abstractmethod
    def n_statistics(self) -> int:
        """Length P of a row of statistics; defined after `bind`."""

    @abstractmethod
    def prepare(self, X: Any) -> Any:
        """Convert a checked batch (N, D) to what the other methods take; raise ValueError for impossible values."""

    @abstractmethod
    def statistics(self, points: Any, weight: Array, groups: Labels, n_groups: int) -> Array:
        """Return the sufficient statistics (n_groups, P) of the points of each group."""

    @abstractmethod
    def log_marginal(self, S: Array) -> Array:
        """Return the log marginal likelihood (M,) of clusters with statistics S (M, P)."""

    def log_marginal_pairs(self, S: Array, pairs: npt.NDArray[np.int64]) -> Array:
        """Return the log marginal likelihood (n,) of the union of each pair (n, 2) of clusters with statistics S."""
        return self.log_marginal(S[pairs[:, 0]] + S[pairs[:, 1]])

    @abstractmethod
    def draw(self, S: Array, rng: np.random.Generator) -> Any:
        """Draw parameters from the posterior of each cluster, in a form that `scores` takes."""

    @abstractmethod
    def predictive(self, S: Array) -> Any:
        """Return the posterior predictive of each cluster, in a form that `scores` takes."""

    @abstractmethod
    def scores(self, parameters: Any, log_weight: Array, points: Any) -> Array:
        """Return log_weight + log density (N, M) of each point under each cluster's drawn or predictive parameters."""

    @abstractmethod
    def own_scores(self, parameters: Any, log_weight: Array, points: Any, labels: Labels) -> Array:
        """As `scores`, but (2, N): only for the two sub-clusters 2 k and 2 k + 1 of each point's own cluster k."""

    @abstractmethod
    def axis(self, S: Array, rng: np.random.Generator, principal: bool) -> Array:
        """Return a direction along which to cut a cluster with statistics S (P,) in two, as any array.

        It is the most promising direction if ``principal``, otherwise a random one.
        """

    @abstractmethod
    def halve(self, S: Array, axis: Array) -> Array:
        """Cut each row of S (M, P) in two halves along the axis; return the statistics (M, P) of one of them.

        The other half is S minus the result. The halves initialise sub-clusters without another pass over the points.
        """

    @property
    def n_coordinates(self) -> int:
        """Number of coordinate sums in a row, from its second number on; 0 if points have no location (counts)."""
        return 0

    def translate(self, records: Array, n_records: int, shift: Array) -> None:
        """Shift all points behind some rows of statistics, in place.

        Parameters
        ----------
        records : array (R, G, parts, P)
            Rows of R records, G >= M groups.
        n_records : int
            Only the first ``n_records`` records are changed.
        shift : array (M, n_coordinates)
            Shift of all parts of each of the first M groups.
        """
        raise NotImplementedError(f"{self.name} clusters have no location")

    @abstractmethod
    def summary(self, S: Array) -> dict[str, Array]:
        """Return a readable description of a cluster with statistics S (P,), such as its mean."""

    def mergeable(self, S: Array, log_marginal: Array, eligible: npt.NDArray[np.bool_], log_alpha: float) -> Any:
        """Return index pairs (n, 2) of the clusters whose merge is worth scoring: by default every eligible pair."""
        chosen = np.flatnonzero(eligible)
        a, b = np.triu_indices(len(chosen), 1)
        return np.stack([chosen[a], chosen[b]], axis=1)
