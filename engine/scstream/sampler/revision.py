"""Revision of the clusters: look for better ones than those that the stream has led to.

Splits and merges change one or two clusters at a time. As clusters drift, cross and overlap, the sampler can end in a
place that no such move leads out of, although a start on a few batches alone would find a better one. A revision is
such a start: the present clusters and about as many seeds are fitted softly to recent points and merged. If that raises
the evidence clearly, the clusters that have changed are replaced, and keep their ids as far as they keep their points.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from scstream.components.base import Array
from scstream.sampler.genealogy import Kind
from scstream.sampler.moves import Mover
from scstream.sampler.points import choose_clusters
from scstream.sampler.recent import RecentPoints
from scstream.sampler.soft_clustering import SoftClustering
from scstream.sampler.sweep import mode_densities, sum_subclusters

#: Iterations between two rounds of merges.
_ITERATIONS = 3
#: Fewest seeds beside the present clusters.
_FEWEST_SEEDS = 16
#: Seeds that are chosen together.
_SEEDS_AT_A_TIME = 4
#: Points for each cluster that a revision needs: on fewer, too few clusters seem to be best.
_POINTS_PER_CLUSTER = 24
#: Most points of a revision, whose table of scores has a column for each cluster and each seed.
_MOST_POINTS = 2**14
#: Nats by which the evidence must rise.
_MARGIN = 5.0
#: Nats that each cluster counts besides, and that a merge must gain: later moves merge what is too much more easily
#: than they divide what is too little.
_NATS_PER_CLUSTER = 3.0
_NATS_PER_MERGE = 0.5
#: Clusters that share at least this much of the union of their points are the same.
_SAME = 0.8
#: Clusters are much the same as the present ones if at least this share of the points stays where it is.
_UNCHANGED = 0.99
#: The log Hastings ratio of a change that no move has made.
_NO_RATIO = float("nan")


def points_needed(n_clusters: int) -> int:
    """Number of points that a revision of this many clusters needs, at most `_MOST_POINTS`."""
    return min(_POINTS_PER_CLUSTER * n_clusters, _MOST_POINTS)


class Outcome(Enum):
    """What a revision has found."""

    BETTER = "better clusters, which replace the earlier ones"
    SAME = "much the same clusters again"
    OTHER = "other clusters that are not better, or too few points"


def revise(mover: Mover, recent: RecentPoints, size: float) -> Outcome:
    """Replace clusters by better ones that the last few batches show, if there are any.

    Parameters
    ----------
    mover : Mover
        Of the state whose clusters are to be replaced, between two sweeps over a batch.
    recent : RecentPoints
        With points of this batch.
    size : float
        Weight of this batch.
    """
    config, component, state, rng = mover.config, mover.component, mover.state, mover.rng
    if size == 0.0:
        return Outcome.OTHER
    total = sum_subclusters(state.total)
    known = total[:, 0] >= 1.0
    if not known.any() or recent.n_points < _POINTS_PER_CLUSTER * known.sum():
        return Outcome.OTHER
    X, weight = recent.together()
    soft = SoftClustering(component, X, weight, config.log_alpha)
    present = soft.fit(total[known], _ITERATIONS)
    evidence, labels = soft.evidence(present), soft.share(present).labels
    seeds = soft.seed(max(len(present), _FEWEST_SEEDS), rng, present, _SEEDS_AT_A_TIME)
    found = soft.merge_down(np.concatenate([present, seeds]), _ITERATIONS, _NATS_PER_MERGE)
    shares = soft.share(found)
    gain = soft.evidence(found) - evidence + _NATS_PER_CLUSTER * (len(found) - len(present))
    if gain < _MARGIN:
        unchanged = _most_common(_overlap(labels, shares.labels, weight, (len(present), len(found))))
        return Outcome.SAME if unchanged >= _UNCHANGED * weight.sum() else Outcome.OTHER
    densities = mode_densities(component, state.total, float(config.alpha))
    scores = component.scores(densities.parameters, densities.log_weight, soft.points)
    before = choose_clusters(scores, np.uint32(0), sampling=False)
    overlap = _overlap(before, shares.labels, weight, (len(total), len(found)))
    _replace(mover, found * (size / soft.weight.sum()), overlap)
    return Outcome.BETTER


def _overlap(before: npt.NDArray[Any], now: npt.NDArray[Any], weight: Array, shape: tuple[int, int]) -> Array:
    """Weight of the points that each earlier cluster shares with each new one, by the labels of both."""
    pairs = np.bincount(before * np.intp(shape[1]) + now, weight, shape[0] * shape[1])
    return np.asarray(pairs.reshape(shape), np.float64)


def _most_common(overlap: Array) -> float:
    """Weight of the points that stay in their clusters, each earlier one continued by at most one new one."""
    return float(overlap[linear_sum_assignment(overlap, maximize=True)].sum())


def _replace(mover: Mover, statistics: Array, overlap: Array) -> None:
    """Replace the clusters of a state.

    Parameters
    ----------
    mover : Mover
    statistics : array (K, P)
        Statistics of the new clusters in the batch.
    overlap : array (K before, K)
        Number of points that each earlier cluster shares with each new one.
    """
    state = mover.state
    earlier = _matches(overlap)
    union = overlap.sum(axis=1)[earlier] + overlap.sum(axis=0)
    common = overlap[earlier, np.arange(len(earlier))]
    same = (earlier >= 0) & (common >= _SAME * (union - common))
    half = mover.component.cut(statistics, statistics[None], mover.rng, principal=True)[0]
    fresh = np.stack([half, statistics - half], axis=1)
    state.history.regroup(np.where(same, earlier, -1), fresh)
    state.current = np.where(same[:, None, None], state.current[earlier], fresh)
    state.age = np.where(same, state.age[earlier], 0)
    state.subcluster_age = np.where(same, state.subcluster_age[earlier], 0)
    _rename(mover, earlier, overlap)


def _matches(overlap: Array) -> npt.NDArray[np.intp]:
    """The earlier cluster (K,) that each new one continues, or -1: one to one, with the most points in common."""
    matches = np.full(overlap.shape[1], -1)
    before, now = linear_sum_assignment(overlap, maximize=True)
    shared = overlap[before, now] > 0.0
    matches[now[shared]] = before[shared]
    return matches


def _rename(mover: Mover, earlier: npt.NDArray[np.intp], overlap: Array) -> None:
    """Give the new clusters ids, and record what became of the earlier ones as splits, merges, births and deaths.

    A new cluster is split from the earlier one that had most of its points; an earlier one that no new one continues
    is merged into the one that has most of its points. The counts of an event are those of the larger cluster, and of
    what passed from one to the other.
    """
    state = mover.state
    ids, owner, born = state.ids, state.owner, state.born
    before, now = overlap.sum(axis=1), overlap.sum(axis=0)
    continues = earlier >= 0
    parent = np.where(continues, earlier, overlap.argmax(axis=0))
    state.ids, state.owner, state.newcomer = ids[parent], owner[parent], state.newcomer[parent]
    state.born = np.where(continues, born[earlier], state.batch)
    for j in np.flatnonzero(~continues):
        shared = float(overlap[parent[j], j])
        new = state.ids[j] = mover.genealogy.new_id()
        if shared > 0.0 and mover.config.patience > 0:
            continue
        if shared > 0.0 and not state.newcomer[j]:
            mover.record(Kind.SPLIT, (int(state.owner[j]), int(new)), (float(before[parent[j]]), shared), _NO_RATIO)
        else:
            mover.record(Kind.BIRTH, (int(new),), (float(now[j]),), _NO_RATIO)
        state.owner[j], state.newcomer[j] = new, False
    for k in np.setdiff1d(np.arange(len(overlap)), earlier):
        if owner[k] != ids[k]:
            mover.discard(int(ids[k]))
        elif not mover.inherit(int(ids[k]), int(born[k])):
            _record_end(mover, int(ids[k]), overlap[k], now)


def _record_end(mover: Mover, id: int, overlap: Array, now: Array) -> None:
    """Record the merge of an earlier cluster into the new one that has most of its points, or its death."""
    heir = int(overlap.argmax())
    if overlap[heir] > 0.0:
        counts = (float(now[heir]), float(overlap[heir]))
        mover.record(Kind.MERGE, (int(mover.state.owner[heir]), id), counts, _NO_RATIO)
    else:
        mover.record(Kind.DEATH, (id,), (0.0,), _NO_RATIO)
