"""Clusterers of scikit-learn that learn a stream batch by batch."""

from __future__ import annotations

import warnings
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt
from sklearn.cluster import Birch, KMeans, MiniBatchKMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

Points = npt.NDArray[Any]


class Predictor(Protocol):
    """A method that predicts the labels of a batch before it learns from it."""

    def partial_fit(self, X: Points) -> Any:
        """Learn from a batch."""

    def predict(self, X: Points) -> Points:
        """Label a batch."""


class Learner(Predictor, Protocol):
    """A method that also labels the batch it has learned."""

    @property
    def labels_(self) -> Points:
        """Labels of the batch learned last."""

    @property
    def n_clusters_(self) -> int:
        """Number of clusters."""


class StreamKMeans:
    """MiniBatchKMeans that starts from the best of ten runs of k-means on the first batch.

    `MiniBatchKMeans.partial_fit` ignores ``n_init``: alone, it starts from a single draw of centres.
    """

    def __init__(self, n_clusters: int, seed: int, **options: Any) -> None:
        self.n_clusters_ = n_clusters
        self._seed = seed
        self._options = options
        self._model: Any = None

    def partial_fit(self, X: Points) -> Self:
        """Learn from a batch."""
        if self._model is None:
            start = KMeans(self.n_clusters_, n_init=10, random_state=self._seed).fit(X)
            self._model = MiniBatchKMeans(
                self.n_clusters_, init=start.cluster_centers_, n_init=1, random_state=self._seed, **self._options
            )
        self._model.partial_fit(X)
        self.labels_ = np.asarray(self._model.labels_)
        return self

    def predict(self, X: Points) -> Points:
        """Label a batch."""
        return np.asarray(self._model.predict(X))


class WarmGaussianMixture:
    """GaussianMixture that is fitted to every batch, starting from the parameters of the previous one.

    On the first batch it is the best of five fits. Earlier batches matter only as a start, so it follows any drift.
    """

    def __init__(self, n_clusters: int, seed: int) -> None:
        self.n_clusters_ = n_clusters
        self._seed = seed
        self._model: Any = None

    def partial_fit(self, X: Points) -> Self:
        """Learn from a batch."""
        last = self._model
        start = (
            {"n_init": 5}
            if last is None
            else {
                "weights_init": last.weights_,
                "means_init": last.means_,
                "precisions_init": last.precisions_,
            }
        )
        self._model = GaussianMixture(self.n_clusters_, random_state=self._seed, **start)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.labels_ = np.asarray(self._model.fit_predict(X))
        return self

    def predict(self, X: Points) -> Points:
        """Label a batch."""
        return np.asarray(self._model.predict(X))


class WarmBirch:
    """Birch, whose tree grows with the stream; the clusters of its leaves are formed after each batch."""

    def __init__(self, n_clusters: int, **options: Any) -> None:
        self.n_clusters_ = n_clusters
        self._model = Birch(n_clusters=n_clusters, compute_labels=False, **options)

    def partial_fit(self, X: Points) -> Self:
        """Learn from a batch."""
        with warnings.catch_warnings():
            # A tree with fewer leaves than clusters is a poor choice of threshold, which its score shows.
            warnings.simplefilter("ignore", ConvergenceWarning)
            self._model.partial_fit(X)
        return self

    def predict(self, X: Points) -> Points:
        """Label a batch."""
        return np.asarray(self._model.predict(X))


class WarmBayesianMixture:
    """BayesianGaussianMixture with ``warm_start`` that is fitted to every batch.

    ``covariance_share`` times the variance of the first batch is the prior variance of a cluster.
    """

    def __init__(self, n_components: int, seed: int, covariance_share: float = 1.0, **options: Any) -> None:
        self._share = covariance_share
        self._model = BayesianGaussianMixture(n_components=n_components, random_state=seed, warm_start=True, **options)
        self._started = False

    def partial_fit(self, X: Points) -> Self:
        """Learn from a batch."""
        if not self._started:
            variances = self._share * np.maximum(X.var(axis=0), 1e-6)
            is_full = self._model.covariance_type == "full"
            self._model.set_params(covariance_prior=np.diag(variances) if is_full else variances)
            self._started = True
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self._model.fit(X)
        return self

    def predict(self, X: Points) -> Points:
        """Label a batch."""
        return np.asarray(self._model.predict(X))
