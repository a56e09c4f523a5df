"""ScStream, the estimator: a scikit-learn clusterer for streams."""

from __future__ import annotations

import math
import numbers
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from scstream import kernels
from scstream.checks import check_weight
from scstream.components import Gaussian, Multinomial
from scstream.components.base import Array
from scstream.mixture import Mixture
from scstream.sampler.genealogy import Genealogy
from scstream.sampler.sampler import Sampler
from scstream.sampler.sweep import Points, mode_densities
from scstream.threads import using


class ScStream(ClusterMixin, Mixture, BaseEstimator):
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
    follow : {"nothing", "clusters", "halves"}
        What the past moves along with. "clusters": after each sweep, what earlier batches left of a cluster is shifted
        to where the batch at hand has it, so that its size and shape are remembered for longer than its place. For
        streams that drift. "halves": the same for each sub-cluster by itself, which does not keep the cluster's shape;
        new clusters are then found sooner, and with a long memory too many of them. Counts have no place: clusters of
        them stay as they are. Costs a few passes, each sweep, over all that is remembered.
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

    # --- checks

    def _check_points(self, X: Any, reset: bool) -> Any:
        if not reset and self._plain(X):
            return X
        counts = isinstance(self.component, Multinomial)
        return validate_data(
            self, X, reset=reset, dtype=np.float64, order="C", accept_sparse="csr" if counts else False
        )

    # --- using the model

    def _plain(self, X: Any) -> bool:
        """Whether there is nothing to check or convert: scikit-learn takes longer to find out than a batch may take."""
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.flags.c_contiguous
            and X.shape == (len(X), self.n_features_in_)
            and len(X) > 0
            and not hasattr(self, "feature_names_in_")
            and bool(np.isfinite(X).all())
        )

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """Id of the likeliest cluster of each point of X (N, D); the model stays as it is."""
        scores = self._scores(X)
        labels = np.empty(len(scores), np.int32)
        kernels.label_points(scores, np.uint32(0), False, labels)
        ids: npt.NDArray[np.int64] = self._sampler.state.ids[labels]
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

    def _sampler_checked(self) -> Sampler:
        check_is_fitted(self)
        return self._sampler

    def __sklearn_is_fitted__(self) -> bool:
        return self._started
