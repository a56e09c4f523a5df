"""Cluster yes/no answers with a component of your own: Bernoulli features with Beta priors.

    python examples/custom_component.py
    python examples/custom_component.py answers.npy       # an array (people, questions) of 0 and 1

A component is one class. Its `name` registers it, so a model of such clusters is saved, loaded and continued like any
other. docs/new_component.md explains every method, and how to test them.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.special import betaln

from scstream import Component, ScStream


class Bernoulli(Component):
    """Binary features with independent probabilities p, each with a Beta(a, b) prior."""

    name = "bernoulli"

    def __init__(self, a=1.0, b=1.0):
        self.a = a
        self.b = b

    def bind(self, X, weight):
        return type(self)(*(np.broadcast_to(np.asarray(value, float), X.shape[1]) for value in (self.a, self.b)))

    def hyperparameters(self):
        return {"a": self.a, "b": self.b}

    @property
    def n_statistics(self):
        return 1 + len(self.a)  # the number of points, and of ones in each feature

    def prepare(self, X):
        if not np.isin(X, (0.0, 1.0)).all():
            raise ValueError("features must be 0 or 1")
        return X

    def statistics(self, points, weight, groups, n_groups):
        S = np.zeros((n_groups, self.n_statistics))
        np.add.at(S, groups, weight[:, None] * np.column_stack([np.ones(len(points)), points]))
        return S

    def posterior(self, S):
        """Return a and b of the Beta posterior of each cluster."""
        return self.a + S[:, 1:], self.b + S[:, :1] - S[:, 1:]

    def log_marginal(self, S):
        return (betaln(*self.posterior(S)) - betaln(self.a, self.b)).sum(axis=1)

    def draw(self, S, rng):
        return np.clip(rng.beta(*self.posterior(S)), 1e-9, 1 - 1e-9)

    def predictive(self, S):
        a, b = self.posterior(S)
        return a / (a + b)

    def scores(self, parameters, log_weight, points):
        return points @ np.log(parameters).T + (1 - points) @ np.log1p(-parameters).T + log_weight

    def own_scores(self, parameters, log_weight, points, labels):
        p = parameters[[2 * labels, 2 * labels + 1]]
        return np.where(points, np.log(p), np.log1p(-p)).sum(axis=2) + log_weight[[2 * labels, 2 * labels + 1]]

    def axis(self, S, rng, principal):
        return rng.choice([-1.0, 1.0], len(S) - 1)

    def halve(self, S, axis):
        n, ones = S[:, :1], S[:, 1:]
        return np.hstack([n / 2, ones / 2 + axis * np.minimum(ones, n - ones) / 4])

    def summary(self, S):
        return {"share": S[1:] / S[0]}


def survey(rng, n=400):
    """Return the answers of n people from three groups to twelve questions."""
    share = np.repeat([[0.9, 0.1, 0.8, 0.2], [0.1, 0.9, 0.8, 0.3], [0.2, 0.2, 0.1, 0.9]], 3, axis=1)
    return (rng.random((n, 12)) < share[rng.integers(3, size=n)]).astype(float)


def main(path=None):
    """Learn the first half of the answers, save and load the model, and continue both with the second half."""
    answers = survey(np.random.default_rng(0)) if path is None else np.load(path).astype(float)
    first, second = np.array_split(answers, 2)
    model = ScStream(Bernoulli(), decay=0.1, seed=0).fit(first)
    for cluster in model.clusters_:
        print(f"cluster {cluster.id}: {cluster.share:.0%} of the people, yes {cluster.summary['share'].round(1)}")

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "answers.npz"
        model.save(file)
        loaded = ScStream.load(file)
    same = np.array_equal(loaded.partial_fit(second).labels_, model.partial_fit(second).labels_)
    print(f"the loaded model gives the other half the same ids: {same}")
    print(f"log posterior of both: {loaded.log_posterior_}, {model.log_posterior_}")


if __name__ == "__main__":
    main(*sys.argv[1:])
