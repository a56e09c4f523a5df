"""Scikit-learn's k-means on the pixels of a video, in the forms that label every pixel of each frame."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import MiniBatchKMeans

#: Pixels that are enough to update the centres, if all are only predicted.
SAMPLE_PIXELS = 10_000

Pixels = npt.NDArray[np.float32]


class Form(StrEnum):
    """How to update the model with a frame and label its pixels.

    `partial_fit` labels the batch twice, before and after it moves the centres, and the second time only for
    ``labels_``. With `predict` after it, the second labelling is switched off (``compute_labels=False``). A sample of
    the pixels moves the centres about as well as all of them, in a fraction of the time.
    """

    LABELS = "partial_fit, labels_"
    PREDICT = "partial_fit, predict"
    SAMPLE = "sample, predict"


class PixelKMeans:
    """MiniBatchKMeans in one of the forms, started on a frame.

    scikit-learn stores the number of threads of OpenMP at the first fit: limit it there and in every step.
    """

    def __init__(self, form: Form, n_clusters: int, pixels: Pixels, seed: int = 0) -> None:
        self.form = form
        self.n_clusters = n_clusters
        self._model: Any = MiniBatchKMeans(n_clusters, random_state=seed, compute_labels=form is Form.LABELS)
        if form is Form.SAMPLE:
            size = min(SAMPLE_PIXELS, len(pixels))
            self._sample = np.random.default_rng(seed).choice(len(pixels), size, replace=False)
        #: Labels of the last frame's pixels.
        self.labels = self.step(pixels)

    def step(self, pixels: Pixels) -> npt.NDArray[np.int32]:
        """Update the model with a frame and return the label of every pixel."""
        if self.form is Form.SAMPLE:
            self._model.partial_fit(pixels[self._sample])
        else:
            self._model.partial_fit(pixels)
        labels = self._model.labels_ if self.form is Form.LABELS else self._model.predict(pixels)
        self.labels = np.asarray(labels, np.int32)
        return self.labels
