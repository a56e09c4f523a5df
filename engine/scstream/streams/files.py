"""Public data sets, read from files on disk, and their division into batches."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from scstream.streams.common import Batch, Seed

Pathish: TypeAlias = str | PathLike[str]

COVERTYPE_FEATURES = 10


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
