"""Types and helpers of all streams."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Batch: TypeAlias = tuple[NDArray[Any], NDArray[Any]]
Seed: TypeAlias = int | np.random.Generator | None


def check_sizes(n_batches: int | None, **sizes: int) -> None:
    """Raise ValueError for a negative number of batches, or a size below 1."""
    if n_batches is not None and n_batches < 0:
        raise ValueError(f"n_batches must be >= 0, or None for an endless stream, got {n_batches}")
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} must be >= 1, got {size}")


def counter(n_batches: int | None) -> Iterator[int]:
    """Count the batches from 0, without end if ``n_batches`` is None."""
    return itertools.count() if n_batches is None else iter(range(n_batches))


def random_weights(n_clusters: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Random weights: uneven, but large enough for every cluster to occur in most batches of a thousand points."""
    return rng.dirichlet(np.full(n_clusters, 5.0))


def unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows scaled to length 1; rows of zeros stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: NDArray[np.float64] = vectors / np.maximum(lengths, np.finfo(float).tiny)
    return scaled


def reflect(
    means: NDArray[np.float64], directions: NDArray[np.float64], box: float | NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Positions and directions after reflection at the walls of [-box, box]."""
    inside = np.clip(means, -box, box)
    return 2 * inside - means, np.where(inside == means, directions, -directions)
