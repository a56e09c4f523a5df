"""Use ScStream as a clusterer in a pipeline of river, which passes one sample at a time.

    pip install river
    python examples/river_pipeline.py

river passes a dictionary per sample; ScStream takes batches. The adapter collects samples and learns them when there
are enough. Until the first batch is full there are no clusters, and the prediction is -1.
"""

import numpy as np
from river import base, compose, metrics, preprocessing
from sklearn.base import clone

from scstream import Gaussian, ScStream


class BatchClusterer(base.Clusterer):
    """A river clusterer that passes every ``batch_size`` samples to a copy of ``model``, a scikit-learn clusterer."""

    def __init__(self, model, batch_size=100):
        self.model, self.batch_size = model, batch_size
        self.fitted, self._rows, self._features = clone(model), [], None

    def _row(self, x):
        self._features = self._features or list(x)
        return [x[name] for name in self._features]

    def learn_one(self, x):
        """Keep a sample, and learn all that are kept if there are enough."""
        self._rows.append(self._row(x))
        if len(self._rows) == self.batch_size:
            self.fitted.partial_fit(np.array(self._rows))
            self._rows = []

    def predict_one(self, x):
        """Return the id of the most likely cluster, or -1 before the first batch."""
        return int(self.fitted.predict([self._row(x)])[0]) if hasattr(self.fitted, "labels_") else -1


def synthetic_samples(n=1500, seed=0):
    """Yield samples as dictionaries, whose features have different units, and their groups."""
    rng = np.random.default_rng(seed)
    centres = np.array([[20.0, 1000.0], [25.0, 1040.0], [30.0, 960.0]])
    for group in rng.integers(3, size=n):
        temperature, pressure = rng.normal(centres[group], [0.5, 4.0])
        yield {"temperature": temperature, "pressure": pressure}, int(group)


def main():
    """Predict every sample, compare with its group, then learn it."""
    clusterer = BatchClusterer(ScStream(Gaussian(), alpha=10.0, decay=0.5, seed=0))
    pipeline = compose.Pipeline(preprocessing.StandardScaler(), clusterer)
    score = metrics.AdjustedRand()
    for number, (x, group) in enumerate(synthetic_samples(), 1):
        if number > clusterer.batch_size:
            score.update(group, pipeline.predict_one(x))
        pipeline.learn_one(x)
    print(f"{number} samples, {clusterer.fitted.n_clusters_} clusters")
    print(f"adjusted Rand index {score.get():.2f} of predictions before learning")


if __name__ == "__main__":
    main()
