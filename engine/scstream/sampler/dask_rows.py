"""A batch that is a dask array: points and labels stay on the workers.

The array is cut into blocks of whole chunks, and a task labels a block. Densities go to the workers; the statistics of
each chunk come back and are added in the order of the chunks, as in `Points`. So labels depend neither on the chunks of
the array nor on the number of workers, and a task that dask repeats after the loss of a worker gives the same result.

With a `dask.distributed.Client`, blocks and labels are kept in the memory of the workers. Without one, dask's own
scheduler runs the tasks in this process and computes each block again in every sweep: they need not fit in memory
together.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar, TypeVar

import dask
import dask.array as da
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from dask.base import get_scheduler
from dask.delayed import delayed
from sklearn.utils.validation import check_array
from threadpoolctl import threadpool_info, threadpool_limits

from scstream.checks import MAX_WEIGHT, check_bounded, check_weight
from scstream.components.base import Array, Component, Labels
from scstream.components.first_batch import sum_rows
from scstream.sampler.pairwise_sum import Sums, add_parts, sum_part
from scstream.sampler.points import CHUNK, Points, Rows, label_chunk
from scstream.sampler.sweep import Densities

_T = TypeVar("_T")

#: Most chunks in a block.
_CHUNKS = 16
#: Most memory in bytes that the statistics of chunks take in this process at a time.
_MEMORY = 2**26
#: The number of BLAS threads is a setting of the process, which the threads of a worker share.
_blas = threading.Lock()


class DaskRows(Rows):
    """The rows of a dask array and their weights.

    Parameters
    ----------
    X : dask array (N, D)
    weight : array or dask array (N,) or None
    sparse : bool
        Whether the chunks of X may be CSR arrays.
    """

    is_remote: ClassVar[bool] = True

    def __init__(self, X: Any, weight: Any, sparse: bool) -> None:
        X = _in_blocks(X)
        self.shape: tuple[int, int] = X.shape
        N, lengths = X.shape[0], X.chunks[0]
        weights = [None] * len(lengths) if weight is None else _weights(weight, N, lengths)
        self.lengths: tuple[int, ...] = lengths
        self.firsts = [0, *accumulate(lengths[:-1])]
        self.blocks = _keep([_task(_check)(x, w, sparse) for x, w in zip(_tasks(X), weights, strict=True)])
        summaries = dask.compute(
            *[_task(_summarise)(block, first, N) for block, first in zip(self.blocks, self.firsts, strict=True)]
        )
        self._total = add_parts([sums for sums, _ in summaries], N)
        if self._total > MAX_WEIGHT:
            raise ValueError(f"sample_weight must sum to at most 2**53, got {self._total:g}")
        #: Number of rows with a positive weight before each block, and in all.
        self._positive = np.cumsum([0, *(positive for _, positive in summaries)])

    def __len__(self) -> int:
        return sum(self.lengths)

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return self._total

    def candidates(self, component: Component) -> list[Component]:
        """Return the `Component.candidates` of a component for these rows, which takes them from `mean_of`."""
        weight: Any = self
        return [*component.candidates(self, weight)]

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            "the points of a dask array are not in this process: set all hyperparameters of the component, "
            "so that its bind needs no more than the shape of X"
        )

    def mean_of(self, term: Callable[..., Array], *origins: Array) -> Array:
        """Return the weighted mean (D,) of term(x, *origins) over all rows x, as `weighted_moments` needs it."""
        scale = self._total, self.shape[0], _blas_threads()
        parts = dask.compute(*[_task(_sum_block)(block, scale, term, *origins) for block in self.blocks])
        return sum((part for block in parts for part in block), np.zeros(self.shape[1]))

    def sample(self, size: int, rng: np.random.Generator) -> tuple[Any, Array]:
        """Draw at most ``size`` rows of positive weight, without repeats; returns them in order, and their weights."""
        positive = self._positive
        places = np.arange(positive[-1]) if positive[-1] <= size else np.sort(rng.choice(positive[-1], size, False))
        cuts = np.searchsorted(places, positive)
        tasks = [
            _task(_rows_at)(block, places[a:b] - before)
            for block, before, a, b in zip(self.blocks, positive, cuts, cuts[1:], strict=False)
            if a < b
        ]
        found = dask.compute(*tasks)
        X = [x for x, _ in found] or [np.zeros((0, self.shape[1]))]
        weight = np.concatenate([np.zeros(0), *(w for _, w in found)])
        return sp.vstack(X, "csr") if any(map(sp.issparse, X)) else np.concatenate(X), weight

    def points(self, component: Component) -> Points:
        """Return the rows as points of a component."""
        return DaskPoints(component, self)


class DaskPoints(Points):
    """Points of a dask array; see `Points`. Labels are kept where the points are."""

    rows: DaskRows

    def __init__(self, component: Component, rows: DaskRows) -> None:
        component = _task(_same)(component)
        self._begin(rows, _keep([_task(_prepare)(component, block) for block in rows.blocks]))

    def _begin(self, rows: DaskRows, blocks: list[Any]) -> None:
        self.rows, self._blocks = rows, blocks
        self._labelled: list[Any] = []
        self.used = np.ones(2, bool)

    def copy(self) -> Points:
        """Return the same points without their labels."""
        points = object.__new__(DaskPoints)
        points._begin(self.rows, self._blocks)
        return points

    def label(self, component: Component, densities: Densities, keys: npt.NDArray[np.uint32], sampling: bool) -> Array:
        """Label each point and return the statistics (K, 2, P); see `sweep.Batch`."""
        job = _task(_same)(_Job(component, densities, keys, sampling))
        self._labelled = [
            *dask.persist(
                *[_task(_label)(job, block, first) for block, first in zip(self._blocks, self.rows.firsts, strict=True)]
            )
        ]
        n_groups = len(densities.sub_log_weight)
        self.used = np.zeros(n_groups, bool)
        total = np.zeros(0)
        at_a_time = max(1, _MEMORY // (8 * n_groups * component.n_statistics * _CHUNKS))
        for first in range(0, len(self._labelled), at_a_time):
            tasks = [_task(_statistics)(block) for block in self._labelled[first : first + at_a_time]]
            for used, parts in dask.compute(*tasks):
                self.used |= used
                for part in parts:
                    # As in `OrderedSum`, the first part is not added to zeros.
                    total = total + part if len(total) else part
        return total.reshape(n_groups // 2, 2, -1)

    def ids(self, id_of: npt.NDArray[np.int64]) -> Any:
        """Return the id of each point as a dask array (N,), given those (2 K,) of the labels."""
        tasks = _keep([_task(_ids)(block, id_of) for block in self._labelled])
        return _joined(tasks, self.rows.lengths, np.dtype(np.int64))


def map_scores(
    X: Any,
    component: Component,
    densities: Densities,
    convert: Callable[[Array], npt.NDArray[Any]],
    dtype: npt.DTypeLike,
    shape: tuple[int, ...],
) -> Any:
    """Convert the scores (n, K) of each chunk of a dask array X (N, D) to an array (n, *shape).

    Returns a dask array (N, *shape), which is not computed yet.
    """
    X = _in_blocks(X)
    job = _task(_same)((component, densities, convert))
    return _joined([_task(_convert)(job, x) for x in _tasks(X)], X.chunks[0], np.dtype(dtype), shape)


# --- arrays and their blocks


def _in_blocks(X: Any) -> Any:
    """Return a dask array (N, D) with blocks of whole chunks of rows, about as large as its own."""
    X = _with_known_sizes(X)
    if not X.shape[0]:
        raise ValueError("a batch must have at least one point, got a dask array with none")
    size = CHUNK * min(max(max(X.chunks[0]) // CHUNK, 1), _CHUNKS)
    return X.rechunk({0: size, 1: -1})


def _weights(weight: Any, N: int, lengths: tuple[int, ...]) -> Sequence[Any]:
    """Tasks that return the weights of blocks with these lengths."""
    if not isinstance(weight, da.Array):
        weight = da.from_array(check_weight(weight, N), lengths)
    weight = _with_known_sizes(weight)
    if weight.shape != (N,):
        raise ValueError(f"sample_weight must have one weight for each of the {N} points, got shape {weight.shape}")
    return _tasks(weight.rechunk((lengths,)))


def _with_known_sizes(X: Any) -> Any:
    # compute_chunk_sizes changes its array.
    return X.copy().compute_chunk_sizes() if np.isnan(X.shape).any() else X


def _tasks(X: Any) -> Sequence[Any]:
    tasks: Sequence[Any] = X.to_delayed().ravel().tolist()
    return tasks


def _joined(tasks: Sequence[Any], lengths: Sequence[int], dtype: np.dtype[Any], shape: tuple[int, ...] = ()) -> Any:
    """Dask array (N, *shape) of the arrays (n, *shape) that tasks return."""
    meta = np.empty((0, *shape), dtype)
    return da.concatenate(
        [da.from_delayed(task, (n, *shape), meta=meta) for task, n in zip(tasks, lengths, strict=True)]
    )


def _task(function: Callable[..., Any]) -> Any:
    return delayed(function, pure=False)


def _keep(tasks: list[_T]) -> list[_T]:
    """Let the workers of a cluster keep the results of tasks; without a cluster, return the tasks as they are."""
    scheduler = get_scheduler()
    on_cluster = getattr(scheduler, "__module__", "").startswith("distributed.")
    return [*dask.persist(*tasks)] if on_cluster else tasks


# --- what tasks do


@dataclass(frozen=True, slots=True)
class _Block:
    """Checked rows (n, D) of a batch and their weights (n,)."""

    X: Any
    weight: Array

    def chunks(self) -> Iterator[slice]:
        return (slice(first, first + CHUNK) for first in range(0, len(self.weight), CHUNK))


@dataclass(frozen=True, slots=True)
class _Job:
    """What a sweep labels points with; see `label_chunk`."""

    component: Component
    densities: Densities
    keys: npt.NDArray[np.uint32]
    sampling: bool


def _same(value: _T) -> _T:
    """A task of its own for what all tasks of a sweep need: it is sent once to each worker, and can be repeated."""
    return value


def _checked(X: Any, sparse: bool) -> Any:
    X = check_array(X, dtype=np.float64, order="C", accept_sparse="csr" if sparse else False, input_name="X")
    check_bounded(X)
    return X


def _check(X: Any, weight: Any, sparse: bool) -> _Block:
    return _Block(_checked(X, sparse), check_weight(weight, X.shape[0]))


def _summarise(block: _Block, first: int, N: int) -> tuple[Sums, int]:
    """Return the sum of the weights, and how many are positive."""
    return sum_part(block.weight, first, N), int(np.count_nonzero(block.weight))


def _blas_threads() -> int:
    return max((pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"), default=1)


def _sum_block(
    block: _Block, scale: tuple[float, int, int], term: Callable[..., Array], *origins: Array
) -> list[Array]:
    """Sums over the chunks of a block; ``scale`` is the sum of all weights, their number and that of BLAS threads."""
    total, N, threads = scale
    weight = block.weight / total if total > 0 else np.full(len(block.weight), 1.0 / N)
    # BLAS adds in another order on another number of threads.
    with _blas, threadpool_limits(threads, "blas"):
        return sum_rows(block.X, weight, term, *origins)


def _rows_at(block: _Block, places: npt.NDArray[np.int64]) -> tuple[Any, Array]:
    """Rows at these places among those of positive weight, and their weights."""
    rows = np.flatnonzero(block.weight)[places]
    return block.X[rows], block.weight[rows]


def _prepare(component: Component, block: _Block) -> list[tuple[Any, Array]]:
    """Prepared points and weights of each chunk."""
    return [(component.prepare(block.X[rows]), block.weight[rows]) for rows in block.chunks()]


def _label(job: _Job, chunks: list[tuple[Any, Array]], first: int) -> tuple[Labels, list[Array]]:
    """Labels of the points of a block that starts at row ``first``, and the statistics (2 K, P) of each chunk."""
    labelled = [
        label_chunk(job.component, job.densities, job.keys, job.sampling, points, weight, first + n * CHUNK)
        for n, (points, weight) in enumerate(chunks)
    ]
    return np.concatenate([labels for labels, _ in labelled]), [part for _, part in labelled]


def _statistics(labelled: tuple[Labels, list[Array]]) -> tuple[npt.NDArray[np.bool_], list[Array]]:
    """Whether any point of a block has each label, and the statistics of each chunk."""
    labels, parts = labelled
    return np.bincount(labels, minlength=len(parts[0])) > 0, parts


def _ids(labelled: tuple[Labels, list[Array]], id_of: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    ids: npt.NDArray[np.int64] = id_of[labelled[0]]
    return ids


def _convert(job: tuple[Component, Densities, Callable[[Array], npt.NDArray[Any]]], X: Any) -> npt.NDArray[Any]:
    component, densities, convert = job
    X = _checked(X, component.sparse)
    return np.concatenate(
        [
            convert(component.scores(densities.parameters, densities.log_weight, component.prepare(X[n : n + CHUNK])))
            for n in range(0, X.shape[0], CHUNK)
        ]
    )
