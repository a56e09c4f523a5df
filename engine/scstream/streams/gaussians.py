"""A stream of Gaussians whose means move."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scstream.checks import check_number
from scstream.streams.common import Batch, Seed, check_sizes, counter, random_weights, reflect, unit


def gaussian_stream(
    n_batches: int | None,
    batch_size: int = 1000,
    n_clusters: int = 20,
    n_features: int = 2,
    *,
    drift: float = 0.1,
    turn: float = 0.1,
    box: float = 20.0,
    spread: float | None = None,
    seed: Seed = None,
) -> GaussianStream:
    """Gaussians with moving means: an incremental drift.

    Every mean moves at its own constant speed in a slowly turning direction and is reflected at the walls of a box.
    Covariances (about 1 in every direction) and weights are constant.

    Parameters
    ----------
    n_batches : int or None
        Number of batches; None for an endless stream.
    batch_size, n_clusters, n_features : int
        Points in each batch; number of Gaussians; their dimension.
    drift : float, default=0.1
        Mean distance that a cluster moves per batch; speeds are between half and 1.5 times this.
    turn : float in [0, 1], default=0.1
        Share of a new random direction in every batch: 0 for straight lines, 1 for random walks.
    box : float, default=20.0
        The means start anywhere in [-box, box] in every dimension and stay there. Not used if `spread` is given.
    spread : float, default=None
        Standard deviation of the first means, which are then normal around 0; there are no walls. None: use `box`.
    seed : int, numpy Generator or None

    Returns
    -------
    stream : GaussianStream
        An iterator of batches (X, y) that also labels points by the true parameters.

    Examples
    --------
    >>> X, y = next(gaussian_stream(10, batch_size=500, seed=0))
    >>> X.shape, y.shape, int(y.max()) < 20
    ((500, 2), (500,), True)
    """
    check_sizes(n_batches, batch_size=batch_size, n_clusters=n_clusters, n_features=n_features)
    if drift < 0:
        raise ValueError(f"drift must be >= 0, got {drift}")
    if not 0 <= turn <= 1:
        raise ValueError(f"turn must be in [0, 1], got {turn}")
    if spread is not None:
        check_number("spread", spread, 0.0)
    elif not 2 * box > 1.5 * drift:
        raise ValueError(f"box must be wider than one step of the drift, got box={box}, drift={drift}")
    shape = (n_clusters, n_features)
    rng = np.random.default_rng(seed)
    return GaussianStream(counter(n_batches), batch_size, shape, drift, turn, box, spread, rng)


class GaussianStream(Iterator[Batch]):
    """Batches of moving Gaussians, made by `gaussian_stream`, with the true parameters of the last batch.

    Each batch is X, an array (batch_size, n_features), and y, the cluster of each point.

    Attributes
    ----------
    weights : array (K,)
        Weights of the clusters.
    means : array (K, D)
        Means at the time of the last batch.
    covariances : array (K, D, D)
        Covariances.

    Examples
    --------
    The best labels that a model with the true parameters can give:

    >>> stream = gaussian_stream(10, spread=25.0, turn=0.0, seed=0)
    >>> X, y = next(stream)
    >>> bool((stream.predict(X) == y).mean() > 0.9)
    True
    """

    weights: NDArray[np.float64]
    means: NDArray[np.float64]

    def __init__(
        self,
        batches: Iterator[int],
        batch_size: int,
        shape: tuple[int, int],
        drift: float,
        turn: float,
        box: float,
        spread: float | None,
        rng: np.random.Generator,
    ) -> None:
        self._batches = batches
        self._batch_size = batch_size
        self._shape = shape
        self._drift = drift
        self._turn = turn
        self._box = box if spread is None else np.inf
        self._spread = spread
        self._rng = rng

    def __next__(self) -> Batch:
        batch = next(self._batches)
        if batch == 0:
            self._begin()
        else:
            self._move()
        n_clusters, n_features = self._shape
        y = self._rng.choice(n_clusters, self._batch_size, p=self.weights)
        noise = self._rng.standard_normal((self._batch_size, n_features))
        return self.means[y] + np.einsum("nij,nj->ni", self._roots[y], noise), y

    @property
    def covariances(self) -> NDArray[np.float64]:
        """Covariances (K, D, D) of the clusters."""
        return self._roots @ self._roots.mT

    def predict(self, X: ArrayLike) -> NDArray[np.intp]:
        """Most probable cluster of each point, given the true parameters of the last batch."""
        deviations = np.asarray(X, float)[:, None] - self.means
        whitened = np.einsum("kij,nkj->nki", np.linalg.inv(self._roots), deviations)
        constants = np.log(self.weights) - np.linalg.slogdet(self._roots).logabsdet
        best: NDArray[Any] = (constants - 0.5 * np.square(whitened).sum(axis=2)).argmax(axis=1)
        return best

    def _begin(self) -> None:
        rng, shape = self._rng, self._shape
        self.weights = random_weights(shape[0], rng)
        self._roots = _covariance_roots(shape, rng)
        if self._spread is None:
            self.means = rng.uniform(-self._box, self._box, shape)
        else:
            self.means = rng.normal(0.0, self._spread, shape)
        self._speeds = self._drift * rng.uniform(0.5, 1.5, (shape[0], 1))
        self._directions = unit(rng.standard_normal(shape))

    def _move(self) -> None:
        fresh = unit(self._rng.standard_normal(self._shape))
        directions = unit((1 - self._turn) * self._directions + self._turn * fresh)
        self.means, self._directions = reflect(self.means + self._speeds * directions, directions, self._box)


def _covariance_roots(shape: tuple[int, int], rng: np.random.Generator) -> NDArray[np.float64]:
    """Matrices A of covariances A A^T with random axes and standard deviations between 0.5 and 1.5."""
    n_clusters, n_features = shape
    axes, _ = np.linalg.qr(rng.standard_normal((n_clusters, n_features, n_features)))
    roots: NDArray[np.float64] = axes * rng.uniform(0.5, 1.5, (n_clusters, 1, n_features))
    return roots
