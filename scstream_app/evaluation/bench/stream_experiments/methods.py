"""The compared methods: how each is made, and the ranges in which its hyperparameters are searched."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from scstream import Component, Gaussian, Multinomial, ScStream
from scstream_app.evaluation.bench.stream_experiments.ablation import SampledScStream
from scstream_app.evaluation.bench.stream_experiments.river_learners import NearestCentre, RiverLearner
from scstream_app.evaluation.bench.stream_experiments.search import Parameters, Range, Space
from scstream_app.evaluation.bench.stream_experiments.sources import Facts
from scstream_app.evaluation.bench.streams.peers import Predictor, StreamKMeans, WarmBayesianMixture, WarmBirch

Make = Callable[[Facts, Parameters, int], Any]

#: Components that BayesianGaussianMixture may use, for each true cluster.
_MOST_COMPONENTS = 2
#: Full covariances with more features are too many parameters for batches of 1000 points.
_MOST_FULL = 20


@dataclass(frozen=True, slots=True)
class Method:
    """A compared method.

    ``given_k`` tells whether it is given the true number of clusters, ``seeded`` whether its result depends on a seed.
    ``first`` is the first trial of the search: the values that the library or its authors recommend.
    """

    name: str
    library: str
    given_k: bool
    seeded: bool
    make: Make
    first: Callable[[Facts], Parameters]
    space: Callable[[Facts], Space]
    form: str


# --- ScStream ---------------------------------------------------------------------------------------------


def _component(facts: Facts, p: Parameters) -> Component:
    if facts.counts:
        return Multinomial(concentration=p["concentration"])
    return Gaussian() if p["psi"] is None else Gaussian(psi=p["psi"])


def _make_scstream(facts: Facts, p: Parameters, seed: int, kind: type[ScStream] = ScStream) -> Predictor:
    options = {"sweeps": p.get("sweeps", 1), "seed": seed, "threads": 1}
    return kind(_component(facts, p), alpha=p["alpha"], decay=p["decay"], **options)


def _make_sampled(facts: Facts, p: Parameters, seed: int) -> Predictor:
    return _make_scstream(facts, p, seed, SampledScStream)


def _scstream_first(facts: Facts) -> Parameters:
    prior = {"concentration": 1.0} if facts.counts else {"psi": None}
    return {"alpha": 10.0, "decay": 0.3, **prior}


def _scstream_space(facts: Facts) -> Space:
    if facts.counts:
        prior = {"concentration": Range(0.01, 30.0)}
        return {"alpha": Range(1.0, 1e30), "decay": Range(0.005, 2.0), **prior}
    return {
        "alpha": Range(1.0, 1e20),
        "decay": Range(0.03, 3.0),
        "psi": Range(1e-4 * facts.variance, facts.variance),
    }


def authors_parameters(stream: str) -> Parameters | None:
    """Hyperparameters that the method's authors use on a stream, as far as this engine has them."""
    return {
        "gauss2d": {"alpha": 1e4, "decay": 0.3, "psi": 0.5},
        "multinomial100d": {"alpha": 1e20, "decay": 0.1, "concentration": 10.0},
    }.get(stream)


# --- scikit-learn -----------------------------------------------------------------------------------------


def _make_kmeans(facts: Facts, p: Parameters, seed: int) -> Predictor:
    return StreamKMeans(facts.n_clusters, seed, **p)


def _make_birch(facts: Facts, p: Parameters, seed: int) -> Predictor:
    return WarmBirch(facts.n_clusters, **p)


def _make_bayesian(facts: Facts, p: Parameters, seed: int) -> Predictor:
    return WarmBayesianMixture(_MOST_COMPONENTS * facts.n_clusters, seed, **p)


def _bayesian_space(facts: Facts) -> Space:
    return {
        "weight_concentration_prior": Range(1e-5, 1e3),
        "covariance_share": Range(1e-4, 1.0),
        "covariance_type": ("full", "diag") if facts.n_features <= _MOST_FULL else ("diag",),
        "max_iter": (10, 100),
    }


def _bayesian_first(facts: Facts) -> Parameters:
    kind = "full" if facts.n_features <= _MOST_FULL else "diag"
    return {"weight_concentration_prior": None, "covariance_share": 1.0, "covariance_type": kind, "max_iter": 100}


# --- river ------------------------------------------------------------------------------------------------


def _river(name: str) -> Any:
    return getattr(importlib.import_module("river.cluster"), name)


def _make_clustream(facts: Facts, p: Parameters, seed: int) -> Predictor:
    # Macro-clusters are formed once a batch, before the next one is predicted.
    options = {"time_gap": 1000, "sigma": facts.variance**0.5, "seed": seed}
    return RiverLearner(_river("CluStream")(facts.n_clusters, **options, **p))


def _make_dbstream(facts: Facts, p: Parameters, seed: int) -> Predictor:
    return NearestCentre(_river("DBSTREAM")(**p))


def _make_denstream(facts: Facts, p: Parameters, seed: int) -> Predictor:
    return NearestCentre(_river("DenStream")(n_samples_init=1000, stream_speed=1000, **p))


def _make_streamkmeans(facts: Facts, p: Parameters, seed: int) -> Predictor:
    options = {"sigma": facts.variance**0.5, "seed": seed}
    return RiverLearner(_river("STREAMKMeans")(n_clusters=facts.n_clusters, **options, **p))


def _radius(facts: Facts) -> Range:
    return Range(0.01 * facts.distance, 1.5 * facts.distance)


METHODS = {
    method.name: method
    for method in (
        Method(
            "ScStream",
            "scstream",
            False,
            True,
            _make_scstream,
            _scstream_first,
            _scstream_space,
            "predict, then partial_fit, with one stochastic sweep",
        ),
        Method(
            "MiniBatchKMeans",
            "scikit-learn",
            True,
            True,
            _make_kmeans,
            lambda facts: {"reassignment_ratio": 0.01},
            lambda facts: {"reassignment_ratio": Range(1e-3, 0.2)},
            "started from the best of ten k-means on the first batch, then predict and partial_fit",
        ),
        Method(
            "Birch",
            "scikit-learn",
            True,
            False,
            _make_birch,
            lambda facts: {"threshold": 0.05 * facts.distance, "branching_factor": 50},
            lambda facts: {"threshold": _radius(facts), "branching_factor": Range(20, 200, whole=True)},
            "predict, then partial_fit",
        ),
        Method(
            "BayesianGaussianMixture",
            "scikit-learn",
            False,
            True,
            _make_bayesian,
            _bayesian_first,
            _bayesian_space,
            "at most 2 K components, warm_start, fitted to each batch",
        ),
        Method(
            "CluStream",
            "river",
            True,
            True,
            _make_clustream,
            lambda facts: {"max_micro_clusters": 100, "micro_cluster_r_factor": 2, "halflife": 0.5},
            lambda facts: {
                "max_micro_clusters": Range(1.5 * facts.n_clusters, 10 * facts.n_clusters, whole=True),
                "micro_cluster_r_factor": Range(1.0, 6.0),
                "time_window": Range(500, 10_000, whole=True),
                "halflife": Range(0.05, 0.95, log=False),
            },
            "macro-clusters formed once a batch",
        ),
        Method(
            "DBSTREAM",
            "river",
            False,
            False,
            _make_dbstream,
            lambda facts: {"clustering_threshold": 0.1 * facts.distance, "cleanup_interval": 100},
            lambda facts: {
                "clustering_threshold": _radius(facts),
                "fading_factor": Range(1e-5, 1e-2),
                "cleanup_interval": (100, 1000),
                "intersection_factor": Range(0.02, 0.6),
                "minimum_weight": Range(1.0, 20.0),
            },
            "clusters formed once a batch; points given to the nearest centre for all at once",
        ),
        Method(
            "DenStream",
            "river",
            False,
            False,
            _make_denstream,
            lambda facts: {"epsilon": 0.1 * facts.distance, "decaying_factor": 0.25, "beta": 0.75, "mu": 2.0},
            lambda facts: {
                "epsilon": _radius(facts),
                "decaying_factor": Range(0.01, 2.0),
                "beta": Range(0.3, 0.9, log=False),
                "mu": Range(4.0, 60.0),
            },
            "clusters formed once a batch; points given to the nearest centre for all at once",
        ),
        Method(
            "STREAMKMeans",
            "river",
            True,
            True,
            _make_streamkmeans,
            lambda facts: {"chunk_size": 100, "halflife": 0.5},
            lambda facts: {
                "chunk_size": Range(max(20, facts.n_clusters), 1000, whole=True),
                "halflife": Range(0.02, 0.95, log=False),
            },
            "one point at a time",
        ),
    )
}

#: Variants of ScStream for the ablation; they are not tuned on their own.
VARIANTS: dict[str, Make] = {"ScStream": _make_scstream, "sampled": _make_sampled}

#: Libraries that are imported under another name.
_MODULES = {"scikit-learn": "sklearn"}
#: Methods of libraries that this benchmark does not run.
NOT_RUN = {
    "MOA's CluStream, StreamKM++ and DenStream (CapyMOA)": "needs Java; this benchmark does not run it",
    "CluStream and StreamKM++ (clusopt-core)": "needs Boost to build; this benchmark does not run it",
}


def missing_library(method: Method) -> str | None:
    """The reason why a method cannot run here, or None."""
    if find_spec(_MODULES.get(method.library, method.library)) is None:
        return f"{method.library} is not installed: pip install 'scstream-studio[bench]'"
    return None
