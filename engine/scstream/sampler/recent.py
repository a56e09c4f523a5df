"""Points of the last few batches: together they tell more about the number of clusters than one batch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from scstream.components.base import Array
from scstream.sampler.points import Rows

#: Half of a batch is kept, but at least and at most this many points, unless a revision needs more. Clusters that
#: overlap are told apart only by many points, and seem to be one on fewer.
_FEWEST, _MOST = 500, 2**12


@dataclass(slots=True)
class RecentPoints:
    """Samples of the last few batches of a stream.

    Parameters
    ----------
    X : list of array or CSR array (n, D)
        Points of each batch, oldest first.
    weight : list of array (n,)
        Their weights.
    """

    #: Number of batches that are kept.
    N_BATCHES: ClassVar[int] = 4

    X: list[Any] = field(default_factory=list)
    weight: list[Array] = field(default_factory=list)

    def add(self, rows: Rows, needed: int, rng: np.random.Generator) -> None:
        """Keep a sample of a new batch, with at least the needed points if it has them, and forget the oldest one."""
        X, weight = rows.sample(max(_FEWEST, min(len(rows) // 2, _MOST), needed), rng)
        self.X = [*self.X, X][-self.N_BATCHES :]
        self.weight = [*self.weight, weight][-self.N_BATCHES :]

    @property
    def n_points(self) -> int:
        """Number of points in all samples."""
        return sum(map(len, self.weight))

    def together(self) -> tuple[Any, Array]:
        """Return all points (N, D) and their weights (N,)."""
        X: Any = sp.vstack(self.X, "csr") if any(map(sp.issparse, self.X)) else np.concatenate(self.X)
        return X, np.concatenate(self.weight)

    # --- saving

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return the points as plain arrays."""
        if not self.X:
            return {}
        X, weight = self.together()
        sizes = np.array([len(w) for w in self.weight])
        if isinstance(X, np.ndarray):
            return {"sizes": sizes, "weight": weight, "X": X}
        return {"sizes": sizes, "weight": weight, "data": X.data, "indices": X.indices, "indptr": X.indptr}

    @classmethod
    def from_state(cls, state: dict[str, npt.NDArray[Any]], n_features: int) -> RecentPoints:
        """Return the points that `state` has described; raises ValueError or LookupError if it cannot have."""
        if not state:
            return cls()
        sizes, weight = state["sizes"], state["weight"]
        if sizes.dtype.kind not in "iu" or sizes.ndim != 1 or not 1 <= len(sizes) <= cls.N_BATCHES or (sizes < 0).any():
            raise ValueError("the sizes of the recent batches are invalid")
        if weight.shape != (sizes.sum(),) or not np.isfinite(weight).all() or (weight < 0).any():
            raise ValueError("the weights of the recent points are invalid")
        shape = (len(weight), n_features)
        X: Any = state["X"] if "X" in state else _csr(state, shape)
        if X.shape != shape or not np.isfinite(X if isinstance(X, np.ndarray) else X.data).all():
            raise ValueError("the recent points are invalid")
        ends = np.cumsum(sizes)
        begins = ends - sizes
        return cls(
            [X[a:b] for a, b in zip(begins, ends, strict=True)],
            [np.asarray(weight[a:b], np.float64) for a, b in zip(begins, ends, strict=True)],
        )


def _csr(state: dict[str, npt.NDArray[Any]], shape: tuple[int, int]) -> Any:
    X = sp.csr_array((state["data"], state["indices"], state["indptr"]), shape=shape)
    X.check_format(full_check=True)
    return X
