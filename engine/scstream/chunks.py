"""Batches that arrive in chunks: lists of arrays, and dask arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def is_dask_array(X: Any) -> bool:
    """Whether X is a dask array; does not import dask."""
    return type(X).__module__ == "dask.array.core" and hasattr(X, "dask")


def join_chunks(X: Any, ndim: int) -> Any:
    """Join a list of arrays with ``ndim`` dimensions along their rows; return anything else as it is.

    The result is a dask array if one of the chunks is one.
    """
    if not isinstance(X, list | tuple) or not X or any(getattr(chunk, "ndim", None) != ndim for chunk in X):
        return X
    shapes = {chunk.shape[1:] for chunk in X}
    if len(shapes) > 1:
        raise ValueError(f"the chunks of a batch must have the same number of features, got {sorted(shapes)}")
    if any(map(is_dask_array, X)):
        import dask.array as da

        return da.concatenate(X)
    return sp.vstack(X, "csr") if any(map(sp.issparse, X)) else np.concatenate(X)
