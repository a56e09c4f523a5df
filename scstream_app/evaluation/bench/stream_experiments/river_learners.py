"""Clusterers of river that learn and label whole batches."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from scstream_app.evaluation.bench.streams.peers import Points


class RiverLearner:
    """A clusterer of river, which learns one point at a time."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def partial_fit(self, X: Points) -> Self:
        """Learn from a batch."""
        learn = self.model.learn_one
        for point in _dicts(X):
            learn(point)
        return self

    def predict(self, X: Points) -> Points:
        """Label a batch."""
        predict = self.model.predict_one
        return np.array([predict(point) for point in _dicts(X)])


class NearestCentre(RiverLearner):
    """A clusterer of river that gives a point to the nearest centre, computed for all points at once.

    `DenStream.predict_one` forms all clusters anew for each point, and `DBSTREAM.predict_one` computes one distance at
    a time; here clusters are formed once a batch. The labels are those of `predict_one`.
    """

    def predict(self, X: Points) -> Points:
        """Label a batch."""
        # Forms the clusters.
        only = self.model.predict_one(_dicts(X[:1])[0])
        clusters = self.model.clusters
        if not clusters:
            return np.full(len(X), only)
        keys = np.array(list(clusters))
        features = range(X.shape[1])
        centres = np.array([[cluster.center.get(j, 0.0) for j in features] for cluster in clusters.values()])
        distances = np.square(centres).sum(axis=1) - 2.0 * X @ centres.T
        return np.asarray(keys[distances.argmin(axis=1)])


def _dicts(X: Points) -> list[dict[int, float]]:
    return [dict(enumerate(row)) for row in X.tolist()]
