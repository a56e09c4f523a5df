"""ScStream, the estimator: a scikit-learn clusterer for streams."""

from __future__ import annotations

import math
import numbers
import os
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from scstream import persistence
from scstream.checks import check_choice, check_integer, check_number, check_weight
from scstream.components import BY_NAME, Component, Gaussian, Multinomial
from scstream.components.base import Array
from scstream.forgetting import KERNELS, Kernel
from scstream.genealogy import Event, Genealogy
from scstream.history import History
from scstream.sampler import Sampler
from scstream.sweep import Batch, Points, Settings, State, mode_densities
from scstream.threads import using


@dataclass(frozen=True, slots=True)
class Cluster:
    """A live cluster: its id, time-weighted number of points, share of the whole, and its component's summary."""

    id: int
    count: float
    share: float
    summary: dict[str, Array]


#: Parameters that are not saved as such: the component has an entry of its own, and threads are the machine's affair.
_UNSAVED = ("component", "threads")
#: Numbers of batches and ids in a file stay below this, so that counting on from them never overflows.
_MOST = 2**62


class ScStream(ClusterMixin, BaseEstimator):
    """Dirichlet-process mixture for streams: clusters appear, drift, split, merge and die, and keep their ids.

    Parameters
    ----------
    component : Component, optional
        Conjugate pair that the clusters are made of. By default `Gaussian()`.
    alpha : float
        Concentration of the Dirichlet process: larger values favour more clusters. May be huge (1e20).
    decay : float
        How fast the past is forgotten: with the exponential kernel, a batch of age t weighs 2 ** (-decay * t).
    kernel : {"exponential", "rbf", "window"} or callable
        Weight of a batch as a function of its age; a callable gets the age and ignores ``decay``.
    epsilon : float
        A batch whose weight has fallen to this or less is forgotten for good.
    sweeps : int
        Stochastic sweeps over each batch but the first, before the deterministic one (the paper's T).
    burn_in : int
        Sweeps after its birth during which a cluster is neither split nor merged.
    max_init_sweeps : int
        Most sweeps over the first batch, which is otherwise swept until it settles.
    split_last : bool
        Whether splits are proposed after the deterministic sweep too.
    restart : int or None
        Give a cluster's sub-clusters a fresh start when so many sweeps in a row have found no split. None: never
        after the first batch.
    merge : {"original", "paper"}
        Hastings ratio of a merge: Chang and Fisher's, or one over the split's as the paper has it.
    seed : int, optional
        The same seed gives the same labels on any number of threads. None stands for 0.
    threads : int, optional
        Threads to use. None: as many as there are cores.

    Attributes
    ----------
    labels_ : array (N,) int64
        Ids of the last batch's points.
    n_clusters_ : int
        Live clusters.
    clusters_ : list of Cluster
        Live clusters, largest first.
    events_ : list of Event
        Births, splits, merges and deaths during the last batch.
    genealogy_ : Genealogy
        Who descends from whom.
    log_posterior_ : float
        Log of the joint probability of labels and points after the last batch, up to a constant.
    n_features_in_ : int
        Features seen in the first batch.

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
    """

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
        self.seed = seed
        self.threads = threads

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        counts = isinstance(self.component, Multinomial)
        tags.input_tags.sparse = counts
        tags.input_tags.positive_only = counts
        return tags

    # --- fitting

    def fit(self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Forget everything and start a stream with the batch X (N, D)."""
        self.__dict__.pop("_sampler", None)
        return self.partial_fit(X, sample_weight=sample_weight)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None) -> Any:
        """Start a stream with X and return its ids."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        *,
        time: float | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Take in the next batch.

        Parameters
        ----------
        X : array or CSR array (N, D)
        y : ignored
            Here for scikit-learn's sake.
        time : float, optional
            When the batch arrived, later than the one before. By default one unit later.
        sample_weight : array (N,), optional
            How many points each row stands for.
        """
        if isinstance(y, numbers.Number):
            raise TypeError(f"partial_fit takes a batch's time by name: partial_fit(X, time={y!r})")
        first = not self._started
        self._check_parameters()
        X = self._check_points(X, reset=first)
        weight = check_weight(sample_weight, X.shape[0])
        if first and not weight.any():
            raise ValueError("sample_weight must not be all zero in the first batch")
        moment = self._check_time(time)
        with using(self.threads):
            if first:
                component = (self.component or Gaussian()).bind(X, weight)
                batch = Points(component.prepare(X), weight)
                self._begin(component, batch, moment)
                for _ in self._sampler.converge(batch, self.max_init_sweeps):
                    pass
                self._sampler.finish(batch)
                self._sampler.baptise(Genealogy())
            else:
                batch = Points(self._sampler.component.prepare(X), weight)
                self._sampler.update(batch, moment)
        self.labels_ = self._sampler.id_of[batch.labels]
        return self

    @property
    def _started(self) -> bool:
        return "_sampler" in self.__dict__

    def _begin(self, component: Component, batch: Batch, time: float, number: int = 0) -> None:
        self._sampler = Sampler.begin(self._settings(), component, batch, time, number)

    def _settings(self) -> Settings:
        return Settings(
            log_alpha=math.log(self.alpha),
            kernel=self.kernel if callable(self.kernel) else KERNELS[self.kernel](float(self.decay)),
            epsilon=float(self.epsilon),
            sweeps=int(self.sweeps),
            burn_in=int(self.burn_in),
            split_last=bool(self.split_last),
            patience=None if self.restart is None else int(self.restart),
            merge=self.merge,
            seed=int(self.seed or 0),
        )

    # --- checks

    def _check_parameters(self) -> None:
        check_number("alpha", self.alpha, 0.0, strict=True)
        check_number("decay", self.decay, 0.0)
        check_number("epsilon", self.epsilon, 0.0, 1.0)
        check_integer("sweeps", self.sweeps, 0)
        check_integer("burn_in", self.burn_in, 0)
        check_integer("max_init_sweeps", self.max_init_sweeps, 1)
        if self.restart is not None:
            check_integer("restart", self.restart, 0)
        if self.seed is not None:
            check_integer("seed", self.seed, 0)
        if self.threads is not None:
            check_integer("threads", self.threads, 1)
        if not callable(self.kernel):
            check_choice("kernel", self.kernel, KERNELS)
        check_choice("merge", self.merge, ("original", "paper"))
        if self.component is not None and not isinstance(self.component, Component):
            raise TypeError(f"component must be a scstream Component, got {self.component!r}")

    def _check_points(self, X: Any, reset: bool) -> Any:
        counts = isinstance(self.component, Multinomial)
        return validate_data(
            self, X, reset=reset, dtype=np.float64, order="C", accept_sparse="csr" if counts else False
        )

    def _check_time(self, time: float | None) -> float:
        if time is None:
            return self._sampler.time + 1.0 if self._started else 0.0
        check_number("time", time)
        if self._started and time <= self._sampler.time:
            raise ValueError(f"time must increase: the last batch came at {self._sampler.time:g}, got {time!r}")
        return float(time)

    # --- using the model

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """Id of the likeliest cluster of each point of X (N, D); the model stays as it is."""
        scores = self._scores(X)
        ids: npt.NDArray[np.int64] = self._sampler.state.ids[np.argmax(scores, axis=1)]
        return ids

    def score_samples(self, X: Any) -> Array:
        """Log density (N,) of each point under the mixture's posterior predictive."""
        counts = self._sampler_checked().state.total[:, :, 0]
        density: Array = logsumexp(self._scores(X), axis=1) - math.log(max(float(counts.sum()), 1e-300))
        return density

    def _scores(self, X: Any) -> Array:
        sampler = self._sampler_checked()
        X = self._check_points(X, reset=False)
        component = sampler.component
        densities = mode_densities(component, self._latest(), float(self.alpha))
        with using(self.threads):
            return component.scores(densities.parameters, densities.log_weight, component.prepare(X))

    def _latest(self) -> Array:
        """Time-weighted statistics as of the last batch."""
        return self._sampler.state.total

    def _sampler_checked(self) -> Sampler:
        check_is_fitted(self)
        return self._sampler

    def __sklearn_is_fitted__(self) -> bool:
        return self._started

    @property
    def n_clusters_(self) -> int:
        return len(self._sampler_checked().state.ids)

    @property
    def clusters_(self) -> list[Cluster]:
        sampler = self._sampler_checked()
        S = self._latest().sum(axis=1)
        whole = max(float(S[:, 0].sum()), 1e-300)
        order = np.argsort(-S[:, 0], kind="stable")
        return [
            Cluster(int(sampler.state.ids[k]), float(S[k, 0]), float(S[k, 0] / whole), sampler.component.summary(S[k]))
            for k in order
        ]

    @property
    def events_(self) -> list[Event]:
        return list(self._sampler_checked().events)

    @property
    def genealogy_(self) -> Genealogy:
        return self._sampler_checked().genealogy

    @property
    def log_posterior_(self) -> float:
        return self._sampler_checked().log_posterior

    # --- saving

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to an npz file of plain arrays; a loaded model continues bit by bit alike.

        ``threads`` is left out: it belongs to the machine, not to the model.
        """
        persistence.write(path, *self._pack())

    def _pack(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        sampler = self._sampler_checked()
        if callable(self.kernel):
            raise ValueError("a model with a kernel of your own cannot be saved: only named kernels can be loaded")
        state = sampler.state
        parameters = {
            name: _plain(value) for name, value in self.get_params(deep=False).items() if name not in _UNSAVED
        }
        meta = {
            "parameters": parameters,
            "component": sampler.component.name,
            "n_features": int(self.n_features_in_),
            "time": sampler.time,
            "batch": state.batch,
            "log_posterior": sampler.log_posterior,
            "events": [event.as_dict() for event in sampler.events],
            "pending": [event.as_dict() for event in sampler.pending],
            "locked": sorted(state.locked),
        }
        arrays: dict[str, npt.NDArray[Any]]
        arrays = {f"prior.{name}": value for name, value in sampler.component.hyperparameters().items()}
        arrays |= {f"genealogy.{name}": value for name, value in sampler.genealogy.state().items()}
        arrays |= {
            "times": np.array(state.history.times),
            "records": state.history.records,
            "ids": state.ids,
            "age": state.age,
            "rest": state.rest,
            "born": state.born,
        }
        return meta, arrays

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that `save` wrote."""
        meta, arrays = persistence.read(path)
        try:
            return cls._unpack(meta, arrays)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise persistence.ModelFileError(f"Cannot load '{path}': damaged ({error})") from error

    @classmethod
    def _unpack(cls, meta: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Self:
        """The model that `_pack` took apart; a ValueError if it was none, whatever else is in there."""
        try:
            return cls._put_together(meta, arrays)
        except (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError) as error:
            raise ValueError(f"{type(error).__name__}: {error}") from error

    @classmethod
    def _put_together(cls, meta: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Self:
        strange = sorted(name for name, array in arrays.items() if array.dtype.kind not in "iuf")
        if strange:
            raise ValueError(f"'{strange[0]}' holds no numbers")
        component = _stored_component(meta, arrays)
        stored = _mapping(meta, "parameters").items()
        model = cls(component=component, **{name: value for name, value in stored if name not in _UNSAVED})
        model._check_parameters()
        model.n_features_in_ = meta["n_features"]
        settings = model._settings()
        state = _stored_state(meta, arrays, component, settings.kernel)
        check_number("time", meta["time"], low=state.history.times[-1])
        model._sampler = Sampler(
            settings,
            component,
            state,
            _stored_genealogy(_section(arrays, "genealogy."), state.ids),
            float(meta["time"]),
            np.repeat(state.ids, 2),
            [Event.from_dict(event) for event in meta["events"]],
            float(meta["log_posterior"]),
            [Event.from_dict(event) for event in meta.get("pending", ())],
        )
        return model


def _stored_component(meta: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Component:
    """The component with the hyperparameters of a file."""
    component_class = BY_NAME[meta["component"]]
    prior = _section(arrays, "prior.")
    missing = component_class().hyperparameters().keys() - prior.keys()
    if missing:
        raise ValueError(f"the prior lacks {sorted(missing)}")
    # A cluster's statistics are more than its features: what the file holds limits what is made of it.
    check_integer("n_features", meta["n_features"], 1, arrays["records"].shape[-1] - 1)
    open_component = component_class(**{k: v if v.ndim else float(v) for k, v in prior.items()})
    return open_component.bind(np.zeros((1, meta["n_features"])), np.ones(1))


def _stored_state(
    meta: dict[str, Any], arrays: dict[str, npt.NDArray[Any]], component: Component, kernel: Kernel
) -> State:
    """The clusters of a file, all of whose arrays fit."""
    ids, age, rest, born = (_integers(arrays, name) for name in ("ids", "age", "rest", "born"))
    times, records = arrays["times"], arrays["records"].astype(np.float64)
    K = len(ids)
    if records.shape != (len(times), K, 2, component.n_statistics) or not np.isfinite(records).all():
        raise ValueError(f"records of shape {records.shape} do not fit {K} clusters")
    if K == 0 or any(counter.shape != (K,) for counter in (age, rest, born)):
        raise ValueError("clusters and their ages do not match")
    if times.ndim != 1 or not len(times) or not np.isfinite(times).all() or (np.diff(times) <= 0).any():
        raise ValueError("the times of the records do not increase")
    check_integer("batch", meta["batch"], 0, _MOST)
    return State(
        history=History.restore(times.astype(np.float64).tolist(), records, kernel),
        current=records[-1].copy(),
        ids=ids,
        age=age,
        rest=rest,
        born=born,
        batch=meta["batch"],
        locked=frozenset(int(id) for id in meta.get("locked", ())),
    )


def _stored_genealogy(state: dict[str, npt.NDArray[Any]], live: npt.NDArray[np.int64]) -> Genealogy:
    """The family tree of a file, which has to be one, and that of the clusters that are alive."""
    ids, dead, pending = (_integers(state, name) for name in ("id", "dead", "pending"))
    next_id, capacity = (_integers(state, name, ndim=0) for name in ("next_id", "capacity"))
    links = [_integers(state, name, low=-1) for name in ("parent", "merged")]
    spans = [state["born"], state["died"]]
    if any(column.shape != ids.shape for column in (*links, *spans)) or state["now"].shape:
        raise ValueError("the genealogy's columns differ in length")
    for some in (ids, dead, pending, live):
        if len(np.unique(some)) != len(some) or (some >= next_id).any():
            raise ValueError("the genealogy has ids twice, or ids that were never handed out")
    if not np.array_equal(np.sort(live), np.setdiff1d(ids, dead)) or not np.isin(dead, ids).all():
        raise ValueError("the genealogy is not that of the clusters that are alive")
    if np.isin(pending, ids).any() or len(dead) > capacity:
        raise ValueError("the genealogy remembers ids that it should not")
    _check_links(ids, dead, *links)
    if not np.isfinite(spans[0]).all() or not np.array_equal(np.isfinite(spans[1]), np.isin(ids, dead)):
        raise ValueError("the genealogy's births and deaths make no sense")
    if np.isnan(state["now"]) or state["now"] == math.inf:
        raise ValueError("the genealogy's time makes no sense")
    return Genealogy.from_state(state)


def _check_links(
    ids: npt.NDArray[np.int64],
    dead: npt.NDArray[np.int64],
    parent: npt.NDArray[np.int64],
    merged: npt.NDArray[np.int64],
) -> None:
    """Parents come before their children, and whoever absorbs a cluster outlives it: no way leads round in circles."""
    end = {int(id): order for order, id in enumerate(dead.tolist())}
    known = set(ids.tolist())
    for id, above, into in zip(ids.tolist(), parent.tolist(), merged.tolist(), strict=True):
        orphan = above != -1 and (above not in known or above >= id)
        adrift = into != -1 and (into not in known or not end.get(id, len(end)) < end.get(into, len(end)))
        if orphan or adrift:
            raise ValueError(f"the genealogy's links of id {id} lead nowhere")


def _integers(arrays: dict[str, npt.NDArray[Any]], name: str, low: int = 0, ndim: int = 1) -> npt.NDArray[np.int64]:
    """A stored array of whole numbers from ``low`` on."""
    array = arrays[name]
    if (
        array.dtype.kind not in "iu"
        or array.ndim != ndim
        or (array.size and not low <= array.min() <= array.max() < _MOST)
    ):
        raise ValueError(f"'{name}' does not hold whole numbers >= {low}")
    return array.astype(np.int64)


def _mapping(meta: dict[str, Any], name: str) -> dict[str, Any]:
    value = meta[name]
    if not isinstance(value, dict):
        raise ValueError(f"'{name}' must be a mapping, got {value!r}")
    return value


def _plain(value: Any) -> Any:
    """A number of numpy's as Python's own, which JSON can hold."""
    return value.item() if isinstance(value, np.generic) else value


def _section(arrays: dict[str, npt.NDArray[Any]], prefix: str) -> dict[str, npt.NDArray[Any]]:
    return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}
