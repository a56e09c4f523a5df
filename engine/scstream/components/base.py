"""What a conjugate pair must offer to become a component of the mixture.

A cluster's sufficient statistics are one flat row of ``n_statistics`` float64 numbers, the first of them the
(weighted) number of points; rows add. Everything else in the engine (history, moves, genealogy, saving) handles
such rows without knowing what they mean.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int32]

#: A merge less likely than exp(this) is never accepted: no uniform of 53 bits is so small.
HOPELESS = -37.0


class Component(ABC):
    """A likelihood with its conjugate prior. Instances hold hyperparameters only and never change.

    ``points`` below is whatever `prepare` made of the user's data; it only ever goes back to the same component.
    Shapes: N points, M clusters, P = ``n_statistics``.
    """

    #: Name in saved models.
    name: ClassVar[str]

    @abstractmethod
    def bind(self, X: Any, weight: Array) -> Self:
        """Return a component whose open hyperparameters are filled in from the first batch, and all checked."""

    @abstractmethod
    def hyperparameters(self) -> dict[str, Array]:
        """Arrays from which the class can be built again by keyword."""

    @property
    @abstractmethod
    def n_statistics(self) -> int:
        """Length P of a row of statistics (of a bound component)."""

    @abstractmethod
    def prepare(self, X: Any) -> Any:
        """Lay a checked batch (N, D) out as the other methods want it; raise ValueError on what cannot occur."""

    @abstractmethod
    def statistics(self, points: Any, weight: Array, groups: Labels, n_groups: int) -> Array:
        """Sufficient statistics (n_groups, P) of the points of each group."""

    @abstractmethod
    def log_marginal(self, S: Array) -> Array:
        """Log marginal likelihood (M,) of clusters with statistics S (M, P)."""

    def log_marginal_pairs(self, S: Array, pairs: npt.NDArray[np.int64]) -> Array:
        """Log marginal likelihood (n,) of the unions of pairs (n, 2) of clusters with statistics S (M, P)."""
        return self.log_marginal(S[pairs[:, 0]] + S[pairs[:, 1]])

    @abstractmethod
    def draw(self, S: Array, rng: np.random.Generator) -> Any:
        """Parameters drawn from the posterior of each cluster, in a form that `scores` takes."""

    @abstractmethod
    def predictive(self, S: Array) -> Any:
        """The posterior predictive of each cluster, in a form that `scores` takes."""

    @abstractmethod
    def scores(self, parameters: Any, log_weight: Array, points: Any) -> Array:
        """log_weight + log density (N, M) of each point under each cluster's drawn or predictive parameters."""

    @abstractmethod
    def own_scores(self, parameters: Any, log_weight: Array, points: Any, labels: Labels) -> Array:
        """As `scores`, but (2, N): only the two sub-clusters 2 k and 2 k + 1 of each point's own cluster k."""

    @abstractmethod
    def axis(self, S: Array, rng: np.random.Generator, principal: bool) -> Array:
        """A direction along which a cluster with statistics S (P,) may be cut in two; any array.

        ``principal`` asks for the most promising one, otherwise it is drawn at random.
        """

    @abstractmethod
    def halve(self, S: Array, axis: Array) -> Array:
        """Statistics (M, P) of one of the two halves of each row of S, cut along the axis; S minus it is the other.

        The halves start a newborn's sub-clusters apart without looking at the points again.
        """

    @property
    def n_place(self) -> int:
        """How many numbers of a row, from the second on, are sums of coordinates: where a cluster is.

        Here none: not all points have a place, counts for one.
        """
        return 0

    def translate(self, records: Array, n_records: int, way: Array) -> None:
        """Change rows as if their points were elsewhere by way (M, `n_place`), each group with all its parts.

        Of ``records``, whose shape is (records, groups, parts, P), only the first n_records and M groups are meant.
        """
        raise NotImplementedError(f"{self.name} clusters have no place")

    @abstractmethod
    def summary(self, S: Array) -> dict[str, Array]:
        """What a person wants to know of a cluster with statistics S (P,), such as its mean."""

    def mergeable(self, S: Array, log_marginal: Array, eligible: npt.NDArray[np.bool_], log_alpha: float) -> Any:
        """Index pairs (n, 2) of the clusters whose merge is worth scoring: here, every eligible pair."""
        chosen = np.flatnonzero(eligible)
        a, b = np.triu_indices(len(chosen), 1)
        return np.stack([chosen[a], chosen[b]], axis=1)
