"""Interface of a component: the kind of a cluster, as a likelihood with its conjugate prior.

A cluster's sufficient statistics are one flat row of ``n_statistics`` float64 numbers, the first of them the
(weighted) number of points; rows add. Everything else in the engine (history, moves, genealogy, saving) handles
such rows without knowing their meaning.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from scstream.checks import Array as Array
from scstream.params import Parametrised

Labels = npt.NDArray[np.int32]

#: A merge with a smaller log ratio is never accepted: no uniform number of 53 bits is below exp(-37).
HOPELESS = -37.0
#: From this number on, differences of log Gamma lose too many digits.
_LOG_LARGE = np.log(1e8)


class LikelyMerges(NamedTuple):
    """Some of the pairs of clusters that `Component.mergeable` lists.

    Parameters
    ----------
    pairs : array (n, 2) int64
    places : array (n,) int64
        Place of each pair in that list.
    total : int
        Length of that list.
    """

    pairs: npt.NDArray[np.int64]
    places: npt.NDArray[np.int64]
    total: int


class Shares(Protocol):
    """Shares of N points in K clusters, in proportion to the exponentials of their scores."""

    @property
    def labels(self) -> Labels:
        """The cluster (N,) with the largest share of each point."""

    @property
    def statistics(self) -> Array:
        """Statistics (K, P) of the clusters with their shares of the points."""

    @property
    def entropy(self) -> float:
        """Weighted sum over the points of the entropy of their labels, in nats."""

    @property
    def lost(self) -> Array:
        """Entropy (K, K) that the labels lose if clusters a and b become one, for a < b."""


class Sharing(Protocol):
    """N weighted points that clusters share by their sizes and posterior predictives."""

    def shares(self, S: Array) -> Shares:
        """Share each point between clusters with statistics S (K, P)."""

    def statistics(self, S: Array) -> Array:
        """Return the statistics of `shares` alone."""


#: Component of each name that a saved model can have. Defining a class adds it.
BY_NAME: dict[str, type[Component]] = {}


class Component(Parametrised, ABC):
    """A likelihood with its conjugate prior, which has hyperparameters.

    ``__init__`` stores its arguments, the hyperparameters, unchanged under their own names; `get_params`, `set_params`
    and ``repr`` rely on it. The component that `bind` returns is the one that a model computes with. It never changes.

    A class with a ``name`` of its own can be saved in a model, and loaded wherever the class has been defined. A class
    that is defined again, in the same module under the same qualified name, replaces the earlier one; any other class
    with the same ``name`` raises ValueError.

    In the methods below, ``points`` is what `prepare` returns; the engine passes it back to the same component without
    looking at it. Shapes: N points, M clusters, P = ``n_statistics``.
    """

    #: Name in saved models, different from those of all other components.
    name: ClassVar[str]
    #: Whether `bind` and `prepare` take CSR arrays too.
    sparse: ClassVar[bool] = False
    #: Whether values must not be negative.
    positive_only: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in vars(cls):
            return
        if not isinstance(cls.name, str) or not cls.name:
            raise TypeError(f"the name of {cls.__name__} must be a non-empty string, got {cls.name!r}")
        holder = BY_NAME.get(cls.name)
        if holder is not None and not _same_definition(cls, holder):
            owner = f"{holder.__module__}.{holder.__qualname__}"
            raise ValueError(f"the name {cls.name!r} of {cls.__name__} is taken by {owner}: choose another")
        BY_NAME[cls.name] = cls

    @abstractmethod
    def bind(self, X: Any, weight: Array) -> Self:
        """Return a component with all hyperparameters set, missing ones from the first batch, and checked.

        If none is missing, the result does not depend on the values of X.
        """

    def candidates(self, X: Any, weight: Array) -> list[Self]:
        """Return bound components to choose from on the first batch: several if a hyperparameter is to be found there.

        The one under which the batch has the highest evidence is used. The search ends where that falls: order them.
        """
        return [self.bind(X, weight)]

    def variations(self, bound: Self) -> list[Self]:
        """Return more components to choose from, in order, once ``bound`` is the best one of the `candidates`."""
        return []

    @abstractmethod
    def hyperparameters(self) -> dict[str, Array]:
        """Return all arguments of ``__init__`` as arrays of numbers, for saving; defined after `bind`."""

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

    def shared_statistics(self, points: Any, weight: Array, groups: Labels, share: Array, n_groups: int) -> Array:
        """Return the sufficient statistics (n_groups, P) of groups that share points.

        Point n belongs to group ``groups[r, n]`` with its share ``share[r, n]``, for each of the R rows.
        """
        total: Array = np.zeros((n_groups, self.n_statistics))
        for group, part in zip(groups, share, strict=True):
            total += self.statistics(points, weight * part, group, n_groups)
        return total

    def sharing(self, points: Any, weight: Array) -> Sharing | None:
        """Return points to be shared between clusters. None: there is no faster way than by a table of scores."""
        return None

    @abstractmethod
    def log_marginal(self, S: Array) -> Array:
        """Return the log marginal likelihood (M,) of clusters with statistics S (M, P)."""

    def log_marginal_pairs(self, S: Array, pairs: npt.NDArray[np.int64]) -> Array:
        """Return the log marginal likelihood (n,) of the union of each pair (n, 2) of clusters with statistics S."""
        return self.log_marginal(S[pairs[:, 0]] + S[pairs[:, 1]])

    def twin_scores(self, S: Array) -> Array:
        """Return the log predictive (N,) of points for clusters with an equal point alone: p(x, x) / p(x).

        S (N, P) are the statistics of each point alone.
        """
        return self.log_marginal(2.0 * S) - self.log_marginal(S)

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

    def cut(self, S: Array, rows: Array, rng: np.random.Generator, principal: bool) -> Array:
        """Cut M clusters with statistics S (M, P) in two, each along an `axis` of its own.

        Returns the statistics (R, M, P) of one `halve` of each of the rows (R, M, P).
        """
        half = np.empty_like(rows)
        for k, whole in enumerate(S):
            half[:, k] = self.halve(np.ascontiguousarray(rows[:, k]), self.axis(whole, rng, principal))
        return half

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

    def reweighted(self, factor: float) -> Self:
        """Return the component whose prior weighs ``factor`` times as much."""
        raise NotImplementedError(f"the prior of {self.name} clusters has a fixed weight")

    def without_location(self, S: Array) -> Self:
        """Return a component whose prior says no more about where clusters lie than that they are among the points.

        Parameters
        ----------
        S : array (P,)
            Statistics of all points of a batch.
        """
        return self

    @abstractmethod
    def summary(self, S: Array) -> dict[str, Array]:
        """Return a readable description of a cluster with statistics S (P,): named arrays.

        The names "mean", "covariance" or "variance", and "probabilities" become the attributes ``means_``,
        ``covariances_`` and ``probabilities_`` of `ScStream`.
        """

    def mergeable(self, S: Array, log_marginal: Array, eligible: npt.NDArray[np.bool_], log_alpha: float) -> Any:
        """Return index pairs (n, 2) of the clusters whose merge is worth scoring: by default every eligible pair."""
        chosen = np.flatnonzero(eligible)
        a, b = np.triu_indices(len(chosen), 1)
        return np.stack([chosen[a], chosen[b]], axis=1)

    def likely_merges(
        self, S: Array, log_marginal: Array, eligible: npt.NDArray[np.bool_], log_alpha: float
    ) -> LikelyMerges | None:
        """Return those of the `mergeable` pairs that Chang and Fisher's ratio, the smaller one, may accept.

        None: they are not known without scoring all. The order is that of `mergeable`.
        """
        return None


def log_rising(log_d: float, n: Array) -> Array:
    """log Gamma(d + n) - log Gamma(d), accurate also for a d that is much larger than n."""
    d, lgamma_d = _exp_and_lgamma(log_d)
    if log_d > _LOG_LARGE:
        # The difference of two huge terms would lose all digits: use Stirling's formula with these terms cancelled.
        large: Array = n * log_d - n + (d + n - 0.5) * np.log1p(n / d)
        return large
    small: Array = gammaln(d + n) - lgamma_d
    return small


@lru_cache(16)
def _exp_and_lgamma(log_d: float) -> tuple[float, float]:
    """exp(log_d) and its log Gamma; cached, because a sampler asks for the same again and again."""
    d = float(np.exp(min(log_d, 700.0)))
    return d, float(gammaln(d))


def is_built_in(cls: type[Component]) -> bool:
    """Whether the class is one of the library's own components."""
    return cls.__module__.startswith(f"{__package__}.")


def is_registered(cls: type[Component]) -> bool:
    """Whether a file with the name of this class would be loaded as this class, or as a new definition of it."""
    holder = BY_NAME.get(getattr(cls, "name", ""))
    return holder is not None and "name" in vars(cls) and _same_definition(cls, holder)


def _same_definition(cls: type[Component], other: type[Component]) -> bool:
    return (cls.__module__, cls.__qualname__) == (other.__module__, other.__qualname__)
