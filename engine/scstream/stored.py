"""What a model file holds, put together again: nothing is taken from a file that does not make sense."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from scstream.checks import check_integer
from scstream.components import BY_NAME, Component
from scstream.sampler.forgetting import Kernel
from scstream.sampler.genealogy import Genealogy
from scstream.sampler.history import History
from scstream.sampler.sweep import State

#: Numbers of batches and ids in a file stay below this, so that counting on from them never overflows.
_MOST = 2**62


def stored_component(meta: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Component:
    """The component with the hyperparameters of a file."""
    component_class = BY_NAME[meta["component"]]
    prior = section(arrays, "prior.")
    missing = component_class().hyperparameters().keys() - prior.keys()
    if missing:
        raise ValueError(f"the prior lacks {sorted(missing)}")
    # A cluster's statistics are more than its features: what the file holds limits what is made of it.
    check_integer("n_features", meta["n_features"], 1, arrays["records"].shape[-1] - 1)
    open_component = component_class(**{k: v if v.ndim else float(v) for k, v in prior.items()})
    return open_component.bind(np.zeros((1, meta["n_features"])), np.ones(1))


def stored_state(
    meta: dict[str, Any], arrays: dict[str, npt.NDArray[Any]], component: Component, kernel: Kernel
) -> State:
    """The clusters of a file, all of whose arrays fit."""
    ids, age, rest, born = (_integers(arrays, name) for name in ("ids", "age", "rest", "born"))
    times, records = arrays["times"], arrays["records"].astype(np.float64)
    K = len(ids)
    if records.shape != (len(times), K, 2, component.n_statistics) or not np.isfinite(records).all():
        raise ValueError(f"records of shape {records.shape} do not fit {K} clusters")
    if K == 0 or any(counter.shape != (K,) for counter in (age, rest, born)):
        raise ValueError("clusters and their ages do not match")
    if times.ndim != 1 or not len(times) or not np.isfinite(times).all() or (np.diff(times) <= 0).any():
        raise ValueError("the times of the records do not increase")
    check_integer("batch", meta["batch"], 0, _MOST)
    return State(
        history=History.restore(times.astype(np.float64).tolist(), records, kernel),
        current=records[-1].copy(),
        ids=ids,
        age=age,
        rest=rest,
        born=born,
        batch=meta["batch"],
        locked=frozenset(int(id) for id in meta.get("locked", ())),
    )


def stored_genealogy(state: dict[str, npt.NDArray[Any]], live: npt.NDArray[np.int64]) -> Genealogy:
    """The family tree of a file, which has to be one, and that of the clusters that are alive."""
    ids, dead, pending = (_integers(state, name) for name in ("id", "dead", "pending"))
    next_id, capacity = (_integers(state, name, ndim=0) for name in ("next_id", "capacity"))
    links = [_integers(state, name, low=-1) for name in ("parent", "merged")]
    spans = [state["born"], state["died"]]
    if any(column.shape != ids.shape for column in (*links, *spans)) or state["now"].shape:
        raise ValueError("the genealogy's columns differ in length")
    for some in (ids, dead, pending, live):
        if len(np.unique(some)) != len(some) or (some >= next_id).any():
            raise ValueError("the genealogy has ids twice, or ids that were never handed out")
    if not np.array_equal(np.sort(live), np.setdiff1d(ids, dead)) or not np.isin(dead, ids).all():
        raise ValueError("the genealogy is not that of the clusters that are alive")
    if np.isin(pending, ids).any() or len(dead) > capacity:
        raise ValueError("the genealogy remembers ids that it should not")
    _check_links(ids, dead, *links)
    if not np.isfinite(spans[0]).all() or not np.array_equal(np.isfinite(spans[1]), np.isin(ids, dead)):
        raise ValueError("the genealogy's births and deaths make no sense")
    if np.isnan(state["now"]) or state["now"] == math.inf:
        raise ValueError("the genealogy's time makes no sense")
    return Genealogy.from_state(state)


def _check_links(
    ids: npt.NDArray[np.int64],
    dead: npt.NDArray[np.int64],
    parent: npt.NDArray[np.int64],
    merged: npt.NDArray[np.int64],
) -> None:
    """Parents come before their children, and whoever absorbs a cluster outlives it: no way leads round in circles."""
    end = {int(id): order for order, id in enumerate(dead.tolist())}
    known = set(ids.tolist())
    for id, above, into in zip(ids.tolist(), parent.tolist(), merged.tolist(), strict=True):
        orphan = above != -1 and (above not in known or above >= id)
        adrift = into != -1 and (into not in known or not end.get(id, len(end)) < end.get(into, len(end)))
        if orphan or adrift:
            raise ValueError(f"the genealogy's links of id {id} lead nowhere")


def _integers(arrays: dict[str, npt.NDArray[Any]], name: str, low: int = 0, ndim: int = 1) -> npt.NDArray[np.int64]:
    """A stored array of whole numbers from ``low`` on."""
    array = arrays[name]
    if (
        array.dtype.kind not in "iu"
        or array.ndim != ndim
        or (array.size and not low <= array.min() <= array.max() < _MOST)
    ):
        raise ValueError(f"'{name}' does not hold whole numbers >= {low}")
    return array.astype(np.int64)


def mapping(meta: dict[str, Any], name: str) -> dict[str, Any]:
    """An entry that has entries of its own."""
    value = meta[name]
    if not isinstance(value, dict):
        raise ValueError(f"'{name}' must be a mapping, got {value!r}")
    return value


def section(arrays: dict[str, npt.NDArray[Any]], prefix: str) -> dict[str, npt.NDArray[Any]]:
    """The arrays whose names begin so, without that."""
    return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}
