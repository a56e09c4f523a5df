"""A stream of multinomials that are replaced one after another."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from scstream.streams.common import Batch, Seed, check_sizes, counter, random_weights


def multinomial_stream(
    n_batches: int | None,
    batch_size: int = 1000,
    n_clusters: int = 100,
    n_features: int = 100,
    trials: int = 100,
    *,
    period: int = 50,
    transition: int = 20,
    concentration: float = 1.0,
    seed: Seed = None,
) -> Iterator[Batch]:
    """Multinomials that are replaced one after another: a gradual drift.

    Every cluster has a concept (its probabilities). Once in each `period`, at the cluster's own phase, a new concept
    replaces it: during the `transition` points come from the new concept with growing probability, otherwise from the
    old one. The label remains that of the cluster.

    Parameters
    ----------
    n_batches : int or None
        Number of batches; None for an endless stream.
    batch_size, n_clusters, n_features, trials : int
        Points in each batch; number of multinomials; their categories; counts per point.
    period, transition : int
        Durations in batches; the transition is part of the period.
    concentration : float, default=1.0
        Parameter of the symmetric Dirichlet prior of the concepts: small values give peaked, distinct concepts.
    seed : int, numpy Generator or None

    Yields
    ------
    X : ndarray of shape (batch_size, n_features), int64
        Rows that sum to `trials`.
    y : ndarray of shape (batch_size,)

    Examples
    --------
    >>> X, y = next(multinomial_stream(10, trials=30, seed=0))
    >>> X.shape, set(X.sum(axis=1).tolist())
    ((1000, 100), {30})
    """
    sizes = {"batch_size": batch_size, "n_clusters": n_clusters, "n_features": n_features, "trials": trials}
    check_sizes(n_batches, **sizes)
    if not 0 < transition <= period:
        raise ValueError(f"transition must be in [1, period], got transition={transition}, period={period}")
    if not concentration > 0:
        raise ValueError(f"concentration must be > 0, got {concentration}")
    rng = np.random.default_rng(seed)
    prior = np.full(n_features, float(concentration))
    return _multinomials(counter(n_batches), batch_size, n_clusters, trials, period, transition, prior, rng)


def _multinomials(
    batches: Iterator[int],
    batch_size: int,
    n_clusters: int,
    trials: int,
    period: int,
    transition: int,
    prior: NDArray[np.float64],
    rng: np.random.Generator,
) -> Iterator[Batch]:
    weights = random_weights(n_clusters, rng)
    concepts = rng.dirichlet(prior, (2, n_clusters))
    phases = rng.integers(period, size=n_clusters)
    for batch in batches:
        position = (batch + phases) % period
        settled = (position == 0) & (batch > 0)
        concepts[0, settled] = concepts[1, settled]
        concepts[1, settled] = rng.dirichlet(prior, np.count_nonzero(settled))
        replaced = np.clip((position - (period - transition)) / transition, 0.0, 1.0)
        y = rng.choice(n_clusters, batch_size, p=weights)
        is_new = rng.random(batch_size) < replaced[y]
        yield rng.multinomial(trials, concepts[is_new.astype(int), y]), y
