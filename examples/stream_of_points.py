"""Cluster a stream of points that drifts, and ask for each batch before learning it.

    python examples/stream_of_points.py
    python examples/stream_of_points.py batches.npz       # arrays X (batches, n, D) and y (batches, n)

Each batch is predicted with the model so far, then compared with the truth, then learned: this is how a stream is
scored honestly. An id means the same cluster in every batch. In the end the model is saved, loaded, and continued.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

from scstream import Gaussian, ScStream
from scstream.metrics import ari
from scstream.streams import gaussian_stream


def read_batches(path=None):
    """Return the batches (X, y) of an npz file, or of six Gaussians whose means move."""
    if path is None:
        return list(gaussian_stream(30, batch_size=500, n_clusters=6, drift=0.3, seed=5))
    with np.load(path) as archive:
        return list(zip(archive["X"], archive["y"], strict=True))


def main(path=None):
    """Learn the stream batch by batch, then show that a saved model continues in the same way."""
    *batches, (last, _) = read_batches(path)
    model = ScStream(Gaussian(psi=1.0), alpha=10.0, decay=0.5, follow="clusters", seed=0)
    model.fit(batches[0][0])
    for number, (X, y) in enumerate(batches[1:], 1):
        score = ari(y, model.predict(X))
        model.partial_fit(X)
        for event in model.events_:
            print(f"batch {number}: {event.kind}, ids {event.ids}")
        if number % 7 == 0:
            print(f"batch {number}: {model.n_clusters_} clusters, adjusted Rand index {score:.2f} before learning")

    oldest = min(model.clusters_, key=lambda cluster: model.genealogy_.born(cluster.id))
    born = model.genealogy_.born(oldest.id)
    print(f"cluster {oldest.id} lives since time {born:g}; its mean is now {oldest.summary['mean'].round(1)}")

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.npz"
        model.save(file)
        loaded = ScStream.load(file)
    same = np.array_equal(loaded.partial_fit(last).labels_, model.partial_fit(last).labels_)
    print(f"the loaded model gives the next batch the same ids: {same}")


if __name__ == "__main__":
    main(*sys.argv[1:])
