"""Models of streams that begin with the true clusters, to measure the cost of a step at a chosen number of clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from scstream import ScStream
from scstream.sampler.points import Points
from scstream.sampler.sampler import Sampler
from scstream.threads import thread_limit

#: Points of the fit that gives a model its features and prior; its clusters are replaced.
_FIRST_POINTS = 50


def start_from_truth(model: ScStream, X: npt.NDArray[Any], y: npt.NDArray[Any]) -> ScStream:
    """Fit a new model to a first batch whose clusters are those of the true labels ``y``.

    The search for the clusters of a first batch may end with far fewer, and takes long. Every step after this one is
    that of the model itself: it splits and merges, so that the number of clusters may change.
    """
    model.partial_fit(X[:_FIRST_POINTS])
    fitted: Any = model._sampler
    component, weight = fitted.component, np.ones(len(X))
    _, labels = np.unique(y, return_inverse=True)
    statistics = component.statistics(component.prepare(X), weight, labels.astype(np.int32), int(labels.max()) + 1)
    with thread_limit(model.threads):
        sampler = Sampler.begin_with(fitted.config, component, statistics, fitted.time)
        sampler.finish(Points(component, X, weight))
    model._sampler = sampler
    return model
