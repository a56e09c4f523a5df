"""Example streams: synthetic ones with drift, and readers for public data sets on disk."""

from __future__ import annotations

import itertools
import zipfile
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from scstream.checks import check_number

Batch: TypeAlias = tuple[NDArray[Any], NDArray[Any]]
Seed: TypeAlias = int | np.random.Generator | None
Pathish: TypeAlias = str | PathLike[str]

COVERTYPE_FEATURES = 10


# --- synthetic ----------------------------------------------------------------------------------------


def gaussian_stream(
    n_batches: int | None,
    batch_size: int = 1000,
    n_clusters: int = 20,
    n_features: int = 2,
    *,
    drift: float = 0.1,
    turn: float = 0.1,
    box: float = 20.0,
    seed: Seed = None,
) -> Iterator[Batch]:
    """Gaussians with moving means: an incremental drift.

    Every mean moves at its own constant speed in a slowly turning direction and is reflected at the walls of a box.
    Covariances (about 1 in every direction) and weights are constant.

    Parameters
    ----------
    n_batches : int or None
        Number of batches; None for an endless stream.
    batch_size, n_clusters, n_features : int
        Points in each batch; number of Gaussians; their dimension.
    drift : float, default=0.1
        Mean distance that a cluster moves per batch; speeds are between half and 1.5 times this.
    turn : float in [0, 1], default=0.1
        Share of a new random direction in every batch: 0 for straight lines, 1 for random walks.
    box : float, default=20.0
        The means stay in [-box, box] in every dimension.
    seed : int, numpy Generator or None

    Yields
    ------
    X : ndarray of shape (batch_size, n_features)
    y : ndarray of shape (batch_size,)
        Cluster of each point.

    Examples
    --------
    >>> X, y = next(gaussian_stream(10, batch_size=500, seed=0))
    >>> X.shape, y.shape, int(y.max()) < 20
    ((500, 2), (500,), True)
    """
    _check_sizes(n_batches, batch_size=batch_size, n_clusters=n_clusters, n_features=n_features)
    if drift < 0:
        raise ValueError(f"drift must be >= 0, got {drift}")
    if not 0 <= turn <= 1:
        raise ValueError(f"turn must be in [0, 1], got {turn}")
    if not 2 * box > 1.5 * drift:
        raise ValueError(f"box must be wider than one step of the drift, got box={box}, drift={drift}")
    shape = (n_clusters, n_features)
    return _gaussians(_counter(n_batches), batch_size, shape, drift, turn, box, np.random.default_rng(seed))


def _gaussians(
    counter: Iterator[int],
    batch_size: int,
    shape: tuple[int, int],
    drift: float,
    turn: float,
    box: float,
    rng: np.random.Generator,
) -> Iterator[Batch]:
    weights = _weights(shape[0], rng)
    roots = _covariance_roots(shape, rng)
    means = rng.uniform(-box, box, shape)
    speeds = drift * rng.uniform(0.5, 1.5, (shape[0], 1))
    directions = _unit(rng.standard_normal(shape))
    for _ in counter:
        y = rng.choice(shape[0], batch_size, p=weights)
        noise = rng.standard_normal((batch_size, shape[1]))
        yield means[y] + np.einsum("nij,nj->ni", roots[y], noise), y
        fresh = _unit(rng.standard_normal(shape))
        directions = _unit((1 - turn) * directions + turn * fresh)
        means, directions = _reflect(means + speeds * directions, directions, box)


def _covariance_roots(shape: tuple[int, int], rng: np.random.Generator) -> NDArray[np.float64]:
    """Matrices A of covariances A A^T with random axes and standard deviations between 0.5 and 1.5."""
    n_clusters, n_features = shape
    axes, _ = np.linalg.qr(rng.standard_normal((n_clusters, n_features, n_features)))
    roots: NDArray[np.float64] = axes * rng.uniform(0.5, 1.5, (n_clusters, 1, n_features))
    return roots


def _reflect(
    means: NDArray[np.float64], directions: NDArray[np.float64], box: float | NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    inside = np.clip(means, -box, box)
    return 2 * inside - means, np.where(inside == means, directions, -directions)


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: NDArray[np.float64] = vectors / np.maximum(lengths, np.finfo(float).tiny)
    return unit


def multinomial_stream(
    n_batches: int | None,
    batch_size: int = 1000,
    n_clusters: int = 100,
    n_features: int = 100,
    trials: int = 100,
    *,
    period: int = 50,
    transition: int = 20,
    concentration: float = 1.0,
    seed: Seed = None,
) -> Iterator[Batch]:
    """Multinomials that are replaced one after another: a gradual drift.

    Every cluster has a concept (its probabilities). Once in each `period`, at the cluster's own phase, a new concept
    replaces it: during the `transition` points come from the new concept with growing probability, otherwise from the
    old one. The label remains that of the cluster.

    Parameters
    ----------
    n_batches : int or None
        Number of batches; None for an endless stream.
    batch_size, n_clusters, n_features, trials : int
        Points in each batch; number of multinomials; their categories; counts per point.
    period, transition : int
        Durations in batches; the transition is part of the period.
    concentration : float, default=1.0
        Parameter of the symmetric Dirichlet prior of the concepts: small values give peaked, distinct concepts.
    seed : int, numpy Generator or None

    Yields
    ------
    X : ndarray of shape (batch_size, n_features), int64
        Rows that sum to `trials`.
    y : ndarray of shape (batch_size,)

    Examples
    --------
    >>> X, y = next(multinomial_stream(10, trials=30, seed=0))
    >>> X.shape, set(X.sum(axis=1).tolist())
    ((1000, 100), {30})
    """
    sizes = {"batch_size": batch_size, "n_clusters": n_clusters, "n_features": n_features, "trials": trials}
    _check_sizes(n_batches, **sizes)
    if not 0 < transition <= period:
        raise ValueError(f"transition must be in [1, period], got transition={transition}, period={period}")
    if not concentration > 0:
        raise ValueError(f"concentration must be > 0, got {concentration}")
    rng = np.random.default_rng(seed)
    prior = np.full(n_features, float(concentration))
    counter = _counter(n_batches)
    return _multinomials(counter, batch_size, n_clusters, trials, period, transition, prior, rng)


def _multinomials(
    counter: Iterator[int],
    batch_size: int,
    n_clusters: int,
    trials: int,
    period: int,
    transition: int,
    prior: NDArray[np.float64],
    rng: np.random.Generator,
) -> Iterator[Batch]:
    weights = _weights(n_clusters, rng)
    concepts = rng.dirichlet(prior, (2, n_clusters))
    phases = rng.integers(period, size=n_clusters)
    for batch in counter:
        position = (batch + phases) % period
        settled = (position == 0) & (batch > 0)
        concepts[0, settled] = concepts[1, settled]
        concepts[1, settled] = rng.dirichlet(prior, np.count_nonzero(settled))
        replaced = np.clip((position - (period - transition)) / transition, 0.0, 1.0)
        y = rng.choice(n_clusters, batch_size, p=weights)
        is_new = rng.random(batch_size) < replaced[y]
        yield rng.multinomial(trials, concepts[is_new.astype(int), y]), y


def disc_video(
    n_frames: int | None,
    shape: tuple[int, int] = (120, 160),
    n_discs: int = 3,
    *,
    speed: float = 2.0,
    noise: float = 4.0,
    seed: Seed = None,
) -> Iterator[Batch]:
    """A video of coloured discs that move over a dark background, cover each other and are reflected at the border.

    Parameters
    ----------
    n_frames : int or None
        Number of frames; None for an endless video.
    shape : (int, int), default=(120, 160)
        Height and width of a frame.
    n_discs : int, default=3
        Number of discs, each in a different colour.
    speed : float, default=2.0
        Distance in pixels that a disc moves per frame, at most the smaller side of a frame.
    noise : float, default=4.0
        Standard deviation of the noise of every pixel, in grey levels.
    seed : int, numpy Generator or None

    Yields
    ------
    frame : ndarray of shape (H, W, 3), uint8
        RGB picture.
    truth : ndarray of shape (H, W)
        0 for the background, i for the i-th disc.

    Examples
    --------
    >>> frame, truth = next(disc_video(10, shape=(60, 80), seed=0))
    >>> frame.shape, frame.dtype, np.unique(truth)
    ((60, 80, 3), dtype('uint8'), array([0, 1, 2, 3]))
    """
    _check_sizes(n_frames, height=shape[0], width=shape[1], n_discs=n_discs)
    # A faster disc would leave the frame: it is reflected once at most.
    check_number("speed", speed, 0.0, min(shape))
    check_number("noise", noise, 0.0)
    return _discs(_counter(n_frames), shape, n_discs, speed, noise, np.random.default_rng(seed))


def _discs(
    counter: Iterator[int],
    shape: tuple[int, int],
    n_discs: int,
    speed: float,
    noise: float,
    rng: np.random.Generator,
) -> Iterator[Batch]:
    half = np.array(shape) / 2.0
    grid = np.moveaxis(np.indices(shape), 0, -1) + 0.5 - half
    radius = 0.3 * half.min()
    # The hues are evenly spaced around the colour circle.
    phase = 2.0 * np.pi * (np.arange(n_discs)[:, None] / n_discs + np.arange(3) / 3.0)
    colours = np.concatenate([np.full((1, 3), 30.0), 140.0 + 100.0 * np.cos(phase)])
    angle = 2.0 * np.pi * np.arange(n_discs) / n_discs
    centres = 0.5 * half * np.stack([np.sin(angle), np.cos(angle)], axis=1)
    directions = _unit(rng.standard_normal((n_discs, 2)))
    for _ in counter:
        truth = np.zeros(shape, np.int64)
        for disc, centre in enumerate(centres, start=1):
            truth[np.square(grid - centre).sum(axis=-1) <= radius**2] = disc
        picture = colours[truth] + noise * rng.standard_normal((*shape, 3))
        yield np.clip(np.rint(picture), 0, 255).astype(np.uint8), truth
        centres, directions = _reflect(centres + speed * directions, directions, half)


def _weights(n_clusters: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Random weights: uneven, but large enough for every cluster to occur in most batches of a thousand points."""
    return rng.dirichlet(np.full(n_clusters, 5.0))


def _counter(n_batches: int | None) -> Iterator[int]:
    return itertools.count() if n_batches is None else iter(range(n_batches))


def _check_sizes(n_batches: int | None, **sizes: int) -> None:
    if n_batches is not None and n_batches < 0:
        raise ValueError(f"n_batches must be >= 0, or None for an endless stream, got {n_batches}")
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} must be >= 1, got {size}")


# --- public data sets, from files ---------------------------------------------------------------------


def batches(X: ArrayLike, y: ArrayLike, size: int = 1000) -> Iterator[Batch]:
    """Divide a data set into consecutive batches; the last may be shorter.

    Examples
    --------
    >>> [len(y) for X, y in batches(np.zeros((5, 3)), np.zeros(5), size=2)]
    [2, 2, 1]
    """
    points, labels = np.asarray(X), np.asarray(y)
    if len(points) != len(labels):
        raise ValueError(f"X and y must have the same length, got {len(points)} points and {len(labels)} labels")
    if size < 1:
        raise ValueError(f"size must be >= 1, got {size}")
    starts = range(0, len(points), size)
    return ((points[start : start + size], labels[start : start + size]) for start in starts)


def read_covertype(path: Pathish) -> Batch:
    """Read CoverType as in the paper: the ten numeric columns, each with mean 0 and standard deviation 1.

    Parameters
    ----------
    path : path
        UCI's ``covtype.data`` (also compressed, ``.gz``), or an ``.npz`` with X and y.

    Returns
    -------
    X : ndarray of shape (n, 10)
        In the order of the file.
    y : ndarray of shape (n,)
        Cover types, 1 to 7.
    """
    file = _existing(path, "UCI's covtype.data or covtype.data.gz, or an .npz with X and y")
    points, labels = _covertype_npz(file) if file.suffix == ".npz" else _covertype_csv(file)
    if points.ndim != 2 or points.shape[1] < COVERTYPE_FEATURES or labels.shape != points.shape[:1]:
        raise ValueError(
            f"'{file}' does not hold CoverType: expected X (n, {COVERTYPE_FEATURES} or more) and y (n,), "
            f"got {points.shape} and {labels.shape}"
        )
    return _standardised(points[:, :COVERTYPE_FEATURES]), labels.astype(np.int64)


def _covertype_npz(file: Path) -> Batch:
    arrays = _read_npz(file, "X", "y")
    return arrays["X"], arrays["y"]


def _covertype_csv(file: Path) -> Batch:
    columns = (*range(COVERTYPE_FEATURES), 54)
    try:
        table = np.loadtxt(file, np.int32, delimiter=",", usecols=columns, ndmin=2)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"'{file}' is not UCI's table of 55 whole numbers per line: {error}") from error
    return table[:, :-1], table[:, -1]


def _standardised(points: NDArray[Any]) -> NDArray[np.float64]:
    centred = points - points.mean(axis=0)
    deviation = centred.std(axis=0)
    scaled: NDArray[np.float64] = centred / np.where(deviation > 0, deviation, 1.0)
    return scaled


def read_newsgroups(counts: Pathish, labels: Pathish, n_words: int = 1000, seed: Seed = 0) -> Batch:
    """Read 20 Newsgroups as in the paper: counts of the most frequent words, articles in random order.

    Parameters
    ----------
    counts : path
        Matrix articles x words, saved by `scipy.sparse.save_npz`.
    labels : path
        An ``.npz`` whose y is the group of each article.
    n_words : int, default=1000
        Number of words to keep, the most frequent first. Articles with none of them have a row of zeros.
    seed : int, numpy Generator or None
        Seed of the shuffle; the data set is sorted by group.

    Returns
    -------
    X : ndarray of shape (n_articles, n_words), int32
    y : ndarray of shape (n_articles,)
    """
    matrix = _read_sparse(_existing(counts, "an .npz made by scipy.sparse.save_npz"))
    group = _read_npz(_existing(labels, "an .npz with y"), "y")["y"]
    if group.shape != (matrix.shape[0],):
        raise ValueError(f"{matrix.shape[0]} articles need as many labels, got y of shape {group.shape}")
    if not 1 <= n_words <= matrix.shape[1]:
        raise ValueError(f"n_words must be in [1, {matrix.shape[1]}], got {n_words}")
    totals = np.asarray(matrix.sum(axis=0)).ravel()
    words = np.argsort(-totals, kind="stable")[:n_words]
    order = np.random.default_rng(seed).permutation(len(group))
    dense = matrix[:, words].toarray().astype(np.int32)
    return dense[order], group[order].astype(np.int64)


def _existing(path: Pathish, what: str) -> Path:
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(f"Cannot read '{file}': no such file. It should be {what}.")
    return file


def _read_npz(file: Path, *names: str) -> dict[str, NDArray[Any]]:
    _check_zip(file)
    try:
        with np.load(file, allow_pickle=False) as archive:
            missing = set(names) - set(archive.files)
            if missing:
                raise ValueError(f"it lacks {sorted(missing)} and holds {archive.files}")
            return {name: archive[name] for name in names}
    except (ValueError, OSError, zipfile.BadZipFile) as error:
        raise ValueError(f"Cannot use '{file}': {error}") from error


def _check_zip(file: Path) -> None:
    # For any other file numpy's error suggests unpickling, which is unsafe.
    if not zipfile.is_zipfile(file):
        raise ValueError(f"Cannot use '{file}': it is not an .npz file")


def _read_sparse(file: Path) -> sparse.csr_matrix:
    _check_zip(file)
    try:
        return sparse.csr_matrix(sparse.load_npz(file))
    except (ValueError, OSError, KeyError, zipfile.BadZipFile) as error:
        raise ValueError(f"Cannot use '{file}': not a matrix of scipy.sparse.save_npz ({error})") from error
