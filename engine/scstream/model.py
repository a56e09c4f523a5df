"""ScStream: a scikit-learn clusterer for streams."""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from copy import deepcopy
from dataclasses import fields
from functools import partial
from operator import attrgetter, is_
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from scstream import persistence
from scstream.checks import check_bounded, check_time, check_weight, is_bounded
from scstream.chunks import is_dask_array, join_chunks
from scstream.cluster import Cluster
from scstream.components import Component, Gaussian
from scstream.components.base import Array
from scstream.errors import ModelFileError
from scstream.interruption import interrupt_afterwards
from scstream.mixture import Mixture, size_order
from scstream.predictions import best_ids, likely_ids, log_densities, sum_probabilities
from scstream.sampler.forgetting import Kernel
from scstream.sampler.genealogy import Event, Genealogy
from scstream.sampler.parameters import Parameters
from scstream.sampler.points import Points, Rows, run_chunks
from scstream.sampler.sampler import LARGE, Sampler
from scstream.sampler.starts import start_stream
from scstream.sampler.sweep import mode_densities
from scstream.threads import thread_limit

_PARAMETERS = tuple(field.name for field in fields(Parameters))
_values = attrgetter(*_PARAMETERS)


class ScStream(ClusterMixin, BaseEstimator):
    """Dirichlet-process mixture for streams: clusters appear, drift, split, merge and die, and keep their ids.

    Parameters
    ----------
    component : Component, default=None
        Conjugate pair of likelihood and prior that the clusters are made of. None: `Gaussian()`.
    alpha : float, default=1.0
        Concentration of the Dirichlet process: larger values favour more clusters. May be huge (1e20).
    decay : float, default=1.0
        How fast the past is forgotten.
    kernel : {"exponential", "rbf", "window"} or callable, default="exponential"
        Weight of a batch as a function of its age t: 2 ** (-decay * t), exp(-(decay * t) ** 2 / 2), or 1 while
        decay * t < 1 and 0 from then on, so that a window needs a decay below 1 to remember anything. A callable takes
        the age and ignores ``decay``.
    epsilon : float, default=1e-8
        Batches whose weight is at most this are dropped.
    sweeps : int, default=1
        Stochastic sweeps over each batch after the first, before the deterministic one (T in the paper).
    burn_in : int, default=5
        Sweeps after its birth during which a cluster is neither split nor merged.
    max_init_sweeps : int, default=200
        Maximum number of sweeps over the first batch by the start from one cluster, which otherwise end at convergence.
    split_last : bool, default=True
        Whether to propose splits also after the deterministic sweep.
    restart : int or None, default=60
        Initialise a cluster's sub-clusters again after this many sweeps without a split. None: never after the first
        batch.
    merge : {"original", "paper"}, default="original"
        Hastings ratio of a merge: that of Chang and Fisher, or one over the split's as in the paper.
    follow : {"nothing", "clusters", "halves"}, default="clusters"
        What to shift to its position in the current batch after each sweep, for streams that drift. "clusters": the
        statistics of each cluster's earlier batches, so that its size and shape are remembered for longer than its
        position. "halves": those of each sub-cluster on its own, which does not preserve the cluster's shape; new
        clusters are then found sooner, and with slow forgetting too many of them. Has no effect on `Multinomial`,
        whose points have no position. Costs a few passes over all kept batches in each sweep.
    revise : int or None, default=3
        Number of batches after which to look for a better clustering again; each time that the same clusters are found
        doubles the wait, to at most four times as many batches, until others are. Splits and merges change one or two
        clusters at a time, and drifting clusters can end where no such move helps. A revision fits the present clusters
        and as many new ones, which begin at distant points, softly to a sample of the last four batches (half of each,
        500 to 4096 points), and merges them as long as that raises the evidence, an estimate of log p(points). If the
        result is clearly better, changed clusters are replaced. They keep their ids as far as they keep their points,
        and events tell of splits and merges. A batch that the clusters fit much worse than those before is followed by
        one at once. There is no revision if the sample has fewer than 24 points for each cluster: batches are too
        small, or there are more than about 700 clusters. None: never.
    patience : int, default=0
        Number of batches for which a new cluster must last before it is announced. Until then its points have the id of
        the cluster that it split from, no event tells of it, and results count it as part of that cluster. Only ids and
        events depend on this. With 0 every cluster is announced at once.
    seed : int, default=None
        The same seed gives the same labels on any number of threads. None stands for 0.
    threads : int, default=None
        Number of threads. None: one for each core.

    Attributes
    ----------
    labels_ : array (N,) int64
        Ids of the last batch's points. As all results for points, a dask array if the batch is one.
    n_clusters_ : int
        Number of live clusters.
    clusters_ : list of Cluster
        Live clusters, largest first.
    ids_ : array (K,) int64
        Ids of the live clusters, largest first. `weights_`, `means_`, `covariances_` and `probabilities_` have this
        order.
    weights_ : array (K,)
        Shares of the clusters in all points, which are time-weighted.
    means_ : array (K, D)
        Means of the clusters; not with `Multinomial`.
    covariances_ : array (K, D, D), or (K, D) with `DiagonalGaussian`
        Covariances, or variances, of the clusters; not with `Multinomial`.
    probabilities_ : array (K, D)
        Probabilities of the outcomes in each cluster; with `Multinomial` only.
    events_ : list of Event
        Births, splits, merges and deaths during the last batch.
    genealogy_ : Genealogy
        Parents, children, births and deaths of all clusters.
    log_posterior_ : float
        Log of p(labels, points) after the last batch, up to a constant.
    n_features_in_ : int
        Number of features of the first batch.
    feature_names_in_ : array (D,) of str
        Names of the features, if the first batch was a data frame with names.

    Notes
    -----
    The first batch is clustered from two starts: from one cluster, which is split, and from many, which are seeded as
    in k-means++, fitted softly and merged. The one with the higher evidence is kept. A later batch is treated like a
    first one if the past has faded, or consists of a few points: all clusters die, and new ones with new ids are born.

    Parameters can change between two batches; another ``component`` is used from the next `fit` on. A custom component
    has those of ``means_``, ``covariances_`` and ``probabilities_`` that its `Component.summary` defines.

    References
    ----------
    O. Dinari and O. Freifeld, "Sampling in Dirichlet Process Mixture Models for Clustering Streaming Data",
    AISTATS 2022.

    Examples
    --------
    >>> from scstream import ScStream
    >>> from scstream.streams import gaussian_stream
    >>> model = ScStream(alpha=10.0, decay=0.5, seed=1)
    >>> for X, y in gaussian_stream(5, n_clusters=4, seed=0):
    ...     ids = model.partial_fit(X).labels_
    >>> model.n_clusters_
    4

    The columns of `predict_proba` belong to ``ids_``:

    >>> probabilities = model.predict_proba(X)
    >>> bool((model.ids_[probabilities.argmax(axis=1)] == model.predict(X)).all())
    True

    Hyperparameters can be searched like any others; `score` is the mean log density of held-out points:

    >>> from sklearn.model_selection import GridSearchCV
    >>> from scstream import Gaussian
    >>> search = GridSearchCV(ScStream(Gaussian(), seed=0), {"component__psi": [1.0, 100.0]}, cv=2).fit(X)
    >>> search.best_params_
    {'component__psi': 1.0}
    """

    # None until the first batch. A class attribute, because scikit-learn wants __init__ to set parameters only.
    _sampler: Sampler | None = None
    #: The component of the last `fit`; `component` may be another one, for the next.
    _unbound: Component

    def __init__(
        self,
        component: Component | None = None,
        *,
        alpha: float = 1.0,
        decay: float = 1.0,
        kernel: str | Kernel = "exponential",
        epsilon: float = 1e-8,
        sweeps: int = 1,
        burn_in: int = 5,
        max_init_sweeps: int = 200,
        split_last: bool = True,
        restart: int | None = 60,
        merge: str = "original",
        follow: str = "clusters",
        revise: int | None = 3,
        patience: int = 0,
        seed: int | None = None,
        threads: int | None = None,
    ) -> None:
        self.component = component
        self.alpha = alpha
        self.decay = decay
        self.kernel = kernel
        self.epsilon = epsilon
        self.sweeps = sweeps
        self.burn_in = burn_in
        self.max_init_sweeps = max_init_sweeps
        self.split_last = split_last
        self.restart = restart
        self.merge = merge
        self.follow = follow
        self.revise = revise
        self.patience = patience
        self.seed = seed
        self.threads = threads

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if isinstance(self.component, Component):
            tags.input_tags.sparse = self.component.sparse
            tags.input_tags.positive_only = self.component.positive_only
        return tags

    # --- fitting

    def fit(self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Reset the model and start a stream with the batch X (N, D). If this fails, the model stays as it was."""
        return self._start(X, None, sample_weight)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None) -> Any:
        """Reset the model, start a stream with the batch X (N, D) and return its ids."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        *,
        time: float | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Update the model with the next batch. Ctrl-C takes effect when the batch is learned, a second one at once.

        Parameters
        ----------
        X : array or CSR array (N, D), dask array, or list of arrays (n, D)
            The points of a dask array stay where they are: labels and statistics are computed there. If that fails, the
            model stays as it was. A list of arrays is one batch.
        y : ignored
            Present for API consistency with scikit-learn.
        time : float, default=None
            Time of the batch, later than that of the last one. None: one unit later.
        sample_weight : array (N,), dask array, or list of arrays (n,), default=None
            Number of points that each row stands for.

        Returns
        -------
        self : ScStream
        """
        if isinstance(y, numbers.Number):
            raise TypeError(f"partial_fit takes a batch's time by name: partial_fit(X, time={y!r})")
        if self._sampler is None:
            return self._start(X, time, sample_weight)
        config = self._config()
        rows = self._rows(X, sample_weight, reset=False)
        moment = check_time(time, self._sampler.time)
        # A dask cluster can fail in the middle of a batch: the model then stays as it was.
        sampler = deepcopy(self._sampler) if rows.is_remote else self._sampler
        with nullcontext() if rows.is_remote else interrupt_afterwards(), thread_limit(config.n_threads):
            batch = self._continue(sampler, config, rows, moment)
            self.labels_ = batch.ids(self._sampler.announced_of)
        return self

    def _start(self, X: Any, time: float | None, sample_weight: npt.ArrayLike | None) -> Self:
        """Start a stream with its first batch."""
        with self._unchanged_on_failure():
            config = self._config()
            rows = self._rows(X, sample_weight, reset=True)
            if rows.total == 0.0:
                raise ValueError("sample_weight must not be all zero in the first batch")
            with thread_limit(config.n_threads):
                unbound = deepcopy(self.component or Gaussian())
                sampler, batch = self._start_stream(unbound, config, rows, check_time(time, None))
                sampler.register_births()
                self._sampler, self._unbound = sampler, unbound
            self.labels_ = batch.ids(self._sampler.announced_of)
        return self

    def _continue(self, sampler: Sampler, config: Parameters, rows: Rows, time: float) -> Points:
        """Update the sampler with a later batch, or start again if the past says nothing; returns the batch."""
        sampler.config = config
        faded = sampler.has_faded(time)
        # Fewer points than features do not tell what clusters look like.
        enough = min(self.n_features_in_ + 2, rows.total / LARGE)
        if rows.total > 0.0 and (faded or sampler.remembers_fewer_than(enough, time)):
            number = sampler.state.batch + 1
            if faded:
                self._sampler, batch = start_stream(config, [sampler.component], rows, time, number)
            else:
                self._sampler, batch = self._start_stream(self._unbound, config, rows, time, number)
            self._sampler.register_births(sampler)
            return batch
        batch = rows.points(sampler.component)
        sampler.update(batch, time)
        self._sampler = sampler
        return batch

    @contextmanager
    def _unchanged_on_failure(self) -> Iterator[None]:
        """Restore all attributes after an exception, KeyboardInterrupt included."""
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _start_stream(
        self, unbound: Component, config: Parameters, rows: Rows, time: float, number: int = 0
    ) -> tuple[Sampler, Points]:
        """Start with a component that is bound to the batch."""

        def vary(best: Component) -> list[Component]:
            return _own_components(unbound, unbound.variations(best))

        candidates = _own_components(unbound, rows.candidates(unbound))
        return start_stream(config, candidates, rows, time, number, vary)

    # --- checks

    def _config(self) -> Parameters:
        """The parameters, checked; the sampler's own if they have not changed."""
        if self.component is not None and not isinstance(self.component, Component):
            hint = f"; create one: {self.component.__name__}()" if isinstance(self.component, type) else ""
            raise TypeError(f"component must be a scstream Component, got {self.component!r}{hint}")
        values = _values(self)
        # Checking takes longer than a small batch.
        if self._sampler is not None and all(map(is_, values, _values(self._sampler.config))):
            return self._sampler.config
        return Parameters(**dict(zip(_PARAMETERS, values, strict=True)))

    def _rows(self, X: Any, sample_weight: Any, reset: bool) -> Rows:
        """Checked rows of a batch."""
        X = self._check_points(X, reset)
        weight = join_chunks(sample_weight, 1)
        if is_dask_array(X):
            from scstream.sampler.dask_rows import DaskRows

            return DaskRows(X, weight, self._takes_sparse(reset))
        return Rows(X, check_weight(weight, X.shape[0]))

    def _takes_sparse(self, reset: bool) -> bool:
        # Another `component` is used from the next `fit` on.
        component = self.component if reset else self._fitted().component
        return component is not None and component.sparse

    def _check_points(self, X: Any, reset: bool) -> Any:
        """Points that are checked, and converted if necessary; of a dask array only the shape is checked."""
        if not reset and self._is_checked(X):
            return X
        X = join_chunks(X, 2)
        if is_dask_array(X):
            validate_data(self, np.zeros((1,) * (X.ndim > 0) + X.shape[1:]), reset=reset)
            return X
        sparse = self._takes_sparse(reset)
        X = validate_data(self, X, reset=reset, dtype=np.float64, order="C", accept_sparse="csr" if sparse else False)
        check_bounded(X)
        return X

    def _is_checked(self, X: Any) -> bool:
        """Whether X needs no check or conversion. scikit-learn's own test takes longer than a small batch."""
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.flags.c_contiguous
            and X.shape == (len(X), self.n_features_in_)
            and len(X) > 0
            and not hasattr(self, "feature_names_in_")
            and is_bounded(X)
        )

    # --- predicting

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """Return the id (N,) of the most likely cluster of each point of X (N, D), without updating the model."""
        sampler = self._fitted()
        if sampler.state.hidden.any():
            columns, first = _groups(sampler)
            convert = partial(likely_ids, columns=columns, first=first, ids=self.ids_)
        else:
            convert = partial(best_ids, ids=sampler.state.ids)
        ids: npt.NDArray[np.int64] = self._map_scores(X, convert, np.int64)
        return ids

    def predict_proba(self, X: Any) -> Array:
        """Return the probability (N, K) that each point of X (N, D) belongs to each cluster.

        Column k belongs to the cluster ``ids_[k]``: the largest cluster comes first.
        """
        columns, first = _groups(self._fitted())
        convert = partial(sum_probabilities, columns=columns, first=first)
        probabilities: Array = self._map_scores(X, convert, np.float64, len(first))
        return probabilities

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log density of the points of X (N, D): the mean of `score_samples`. ``y`` is ignored."""
        return float(self.score_samples(X).mean())

    def score_samples(self, X: Any) -> Array:
        """Return the log density (N,) of each point of X (N, D) under the posterior predictive of the mixture."""
        log_count = math.log(max(float(self._fitted().state.total[:, :, 0].sum()), 1e-300))
        densities: Array = self._map_scores(X, partial(log_densities, log_count=log_count), np.float64)
        return densities

    def _map_scores(self, X: Any, convert: Callable[[Array], npt.NDArray[Any]], dtype: Any, *shape: int) -> Any:
        """Convert the scores (n, K) of each chunk of X (N, D) to an array (n, *shape); returns all rows (N, *shape)."""
        sampler, config = self._fitted(), self._config()
        component = sampler.component
        X = self._check_points(X, reset=False)
        densities = mode_densities(component, sampler.state.total, float(config.alpha))
        if is_dask_array(X):
            from scstream.sampler.dask_rows import map_scores

            return map_scores(X, component, densities, convert, dtype, shape)
        out = np.empty((X.shape[0], *shape), dtype)

        def score(first: int, last: int) -> None:
            points = component.prepare(X[first:last])
            out[first:last] = convert(component.scores(densities.parameters, densities.log_weight, points))

        with thread_limit(config.n_threads):
            run_chunks(X.shape[0], len(sampler.state.ids), score)
        return out

    # --- results

    def _fitted(self) -> Sampler:
        check_is_fitted(self)
        assert self._sampler is not None
        return self._sampler

    def __sklearn_is_fitted__(self) -> bool:
        return self._sampler is not None

    @property
    def n_clusters_(self) -> int:
        return Mixture(self._fitted()).n_clusters_

    @property
    def clusters_(self) -> list[Cluster]:
        return Mixture(self._fitted()).clusters_

    @property
    def ids_(self) -> npt.NDArray[np.int64]:
        return Mixture(self._fitted()).ids_

    @property
    def weights_(self) -> Array:
        return Mixture(self._fitted()).weights_

    @property
    def means_(self) -> Array:
        return Mixture(self._fitted()).means_

    @property
    def covariances_(self) -> Array:
        return Mixture(self._fitted()).covariances_

    @property
    def probabilities_(self) -> Array:
        return Mixture(self._fitted()).probabilities_

    @property
    def events_(self) -> list[Event]:
        return Mixture(self._fitted()).events_

    @property
    def genealogy_(self) -> Genealogy:
        return Mixture(self._fitted()).genealogy_

    @property
    def log_posterior_(self) -> float:
        return Mixture(self._fitted()).log_posterior_

    # --- saving

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to an npz file of plain arrays. A loaded model continues with identical results.

        ``threads`` is not saved: it depends on the machine. Nor is ``labels_`` if it is a dask array.
        """
        sampler = self._fitted()
        extra: dict[str, Any] = self._from_data(sampler.component)
        if hasattr(self, "feature_names_in_"):
            extra["feature_names"] = list(self.feature_names_in_)
        labels = getattr(self, "labels_", None)
        if is_dask_array(labels):
            labels = None
        persistence.save(path, sampler, self._config(), self.n_features_in_, extra, labels)

    def _from_data(self, bound: Component) -> dict[str, Any]:
        """What `fit` takes from the first batch: hyperparameters that are None, and numbers that it has adjusted."""
        component = self._unbound
        given, found = component.get_params(), bound.hyperparameters()
        # `persistence.save` refuses hyperparameters that are not all there.
        given_numbers = {name: float(value) for name, value in given.items() if isinstance(value, numbers.Real)}
        return {
            "from_data": [name for name, value in given.items() if value is None],
            "adjusted": {
                name: value for name, value in given_numbers.items() if np.all(found.get(name, value) != value)
            },
        }

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that `save` has written.

        Hyperparameters that `fit` takes from the first batch, or adjusts to it, are as they were set before.
        A custom component must have been defined before: import its module first.
        """
        sampler, meta, labels, _ = persistence.load(path)
        if "video" in meta:
            raise ModelFileError(f"Cannot load '{path}': it is a video model, use VideoSegmenter.load")
        component = deepcopy(sampler.component)
        component.set_params(**dict.fromkeys(meta.get("from_data", ())), **meta.get("adjusted", {}))
        model = cls(component, **vars(sampler.config))
        model.n_features_in_ = meta["n_features"]
        if meta.get("feature_names") is not None:
            model.feature_names_in_ = np.array(meta["feature_names"], dtype=object)
        if labels is not None:
            model.labels_ = labels
        model._sampler, model._unbound = sampler, deepcopy(component)
        return model


def _groups(sampler: Sampler) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Clusters (K,) in the order of their owners, the largest owner first, and where each owner's begin (M,)."""
    rank = np.argsort(size_order(sampler))[sampler.state.place]
    columns = np.argsort(rank, kind="stable")
    return columns, np.searchsorted(rank[columns], np.arange(len(sampler.state.announced)))


def _own_components(unbound: Component, bound: list[Component]) -> list[Component]:
    """Bound components to choose from; raises TypeError if they are of another class than the unbound one."""
    for component in bound:
        if type(component) is not type(unbound):
            wrong, right = type(component).__name__, type(unbound).__name__
            raise TypeError(f"bind of {right} returned a {wrong}: let it return type(self)(...)")
    # `set_params` may change a component that is bound to itself later.
    return [deepcopy(component) if component is unbound else component for component in bound]
