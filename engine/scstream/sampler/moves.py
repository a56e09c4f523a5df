"""Moves that change the number of clusters: splits, merges and removals are proposed, accepted and applied."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from scstream import kernels
from scstream.components.base import Array, Component, log_rising
from scstream.sampler.genealogy import Genealogy
from scstream.sampler.naming import Naming
from scstream.sampler.parameters import Parameters
from scstream.sampler.sweep import State, sum_subclusters

#: `Mover._entering` skips records in which a cluster has fewer points than this.
_MIN_POINTS = 20.0
_LOG_2 = np.log(2.0)


class Mover(Naming):
    """Applies moves to a state and tracks which id owns each label of the batch.

    Parameters
    ----------
    config : Parameters
    component : Component
    state : State
        Changed in place.
    genealogy : Genealogy
        Records the events.
    time : float
        Time of the batch.
    rng : Generator

    Attributes
    ----------
    events : list of Event
        Moves made so far.
    id_of : array (2 K,)
        Id that owns each label 2 k + j of the last sweep, after the moves.
    """

    def __init__(
        self,
        config: Parameters,
        component: Component,
        state: State,
        genealogy: Genealogy,
        time: float,
        rng: np.random.Generator,
    ) -> None:
        super().__init__(state, genealogy, time)
        self.config = config
        self.component = component
        self.rng = rng
        self._moved = np.zeros(len(state.ids), bool)

    # --- splits

    def propose_splits(self, border_length: Callable[[], Array]) -> None:
        """Propose to split every cluster past its burn-in into its two sub-clusters.

        A split is accepted with probability min(1, H); see `split_log_hastings`. Sub-clusters that lost all their
        points, or found no split for `Parameters.restart` sweeps, are initialised again.

        Parameters
        ----------
        border_length : callable
            See `Batch.border_length`; called if there is a split.
        """
        state, config = self.state, self.config
        candidates, empty, S = kernels.split_candidates(
            state.history.past, state.current, state.age, state.subcluster_age, state.unlocked, config.burn_in
        )
        if len(candidates):
            ratios = _split_ratios(self.component, S, config.log_alpha)
            accepted = np.log(self.rng.random(len(candidates))) < ratios
            if config.restart is not None:
                overdue = state.subcluster_age[candidates] >= config.burn_in + config.restart
                empty = np.concatenate([empty, candidates[~accepted & overdue]])
            if accepted.any():
                which = accepted.nonzero()[0]
                counts = S[len(candidates) :, 0].reshape(-1, 2)[which]
                self._split(candidates[which].tolist(), ratios[which].tolist(), counts, border_length())
        # A sub-cluster without points cannot attract any.
        self._start_subclusters(empty, principal=False)

    def _split(self, clusters: list[int], ratios: list[float], counts: Array, border_length: Array) -> None:
        """Split clusters, given their ratios, their sub-clusters' counts (n, 2) and the border of all labels."""
        entering = [self._entering(k, border_length[2 * k : 2 * k + 2]) for k in clusters]
        new = self._apply_splits(clusters, counts)
        hide = self.config.patience > 0
        for move in zip(clusters, new, counts, ratios, entering, strict=True):
            self.name_split(*move, hide)
        self._start_subclusters(np.column_stack([clusters, new]).ravel(), principal=True)

    def _entering(self, k: int, border_length: Array) -> int | None:
        """Which sub-cluster of cluster k has entered the frame since the cluster's first record; None if neither.

        When the camera pans, new content is first labelled as part of an existing cluster and later splits off. Such a
        sub-cluster was less than half as large in the first record, while the other was not, and touches the border.
        """
        now = self.state.current[k, :, 0]
        touching = border_length >= 0.5 * np.sqrt(now)
        if not touching.any():
            return None
        records = self.state.history.records[:, k, :, 0]
        known = np.flatnonzero(records.sum(axis=1) >= _MIN_POINTS)
        if not len(known):
            return None
        grown = records[known[0]] < 0.5 * now
        entering = grown & touching
        return int(np.argmax(entering)) if entering.any() and not grown.all() else None

    def _apply_splits(self, clusters: list[int], counts: Array) -> list[int]:
        """Split clusters, each at most once, given the counts (n, 2) of their sub-clusters.

        The larger sub-cluster keeps the index, the smaller one becomes a new cluster. Returns the indices of the new
        ones. Names are still to be given, and sub-clusters to be initialised.
        """
        state, each = self.state, np.arange(len(clusters))
        small = counts.argmin(axis=1)
        new = self._new_clusters(len(clusters))
        state.owner[new] = state.owner[clusters]
        for layer in (state.history.records, state.current[None]):
            whole = layer[:, clusters]
            layer[:, new, 0], layer[:, clusters, 0] = whole[:, each, small], whole[:, each, 1 - small]
            layer[:, clusters, 1] = 0.0
        state.history.refresh([*clusters, *new])
        state.age[clusters] = 0
        self._moved[clusters] = True
        return new

    def cut_out(self, k: int, statistics: Array) -> int:
        """Make a new cluster from the points of cluster k that the user has outlined; returns its id.

        Parameters
        ----------
        k : int
        statistics : array (P,)
            Statistics of these points, all from the newest batch.
        """
        state = self.state
        (new,) = self._new_clusters(1)
        for layer in (state.history.records[-1], state.current):
            whole = layer[k].sum(axis=0)
            layer[new] = statistics, np.zeros_like(statistics)
            layer[k] = whole - statistics, np.zeros_like(statistics)
        self._start_subclusters([k, new], principal=True)
        return int(state.ids[new])

    def _new_clusters(self, n: int) -> list[int]:
        """Add clusters without points; returns their indices."""
        state = self.state
        new, ids, zeros = state.history.grow(n), [self.genealogy.new_id() for _ in range(n)], np.zeros(n, np.int64)
        state.current = np.concatenate([state.current, np.zeros((n, *state.current.shape[1:]))])
        state.ids, state.owner = np.append(state.ids, ids), np.append(state.owner, ids)
        state.age, state.subcluster_age = np.append(state.age, zeros), np.append(state.subcluster_age, zeros)
        state.born = np.append(state.born, zeros + state.batch)
        state.newcomer = np.append(state.newcomer, zeros > 0)
        self._moved = np.append(self._moved, zeros == 0)
        return new

    def _start_subclusters(self, clusters: Sequence[int] | npt.NDArray[np.intp], principal: bool) -> None:
        """Initialise the sub-clusters of some clusters: cut the current batch and every record along the same axis."""
        if not len(clusters):
            return
        state, which = self.state, np.asarray(clusters, np.int64)
        records = state.history.records_with_room
        total, rows = kernels.join_halves(state.history.past, records, state.current, which)
        kernels.store_halves(rows, self.component.cut(total, rows, self.rng, principal), which, records, state.current)
        state.history.refresh(which)
        state.subcluster_age[which] = 0

    def restart(self, clusters: Sequence[int], principal: bool = False) -> None:
        """Initialise the sub-clusters of some clusters again, along random axes or the principal ones."""
        self._start_subclusters(clusters, principal)

    # --- merges

    def propose_merges(self) -> None:
        """Propose to merge every pair of clusters past their burn-in, the most likely merge first.

        A merge is accepted with probability min(1, H); see `merge_log_hastings`.
        """
        state, config = self.state, self.config
        S, eligible, n_eligible = kernels.merge_candidates(
            state.history.past, state.current, state.age, self._moved, state.unlocked, config.burn_in
        )
        if n_eligible < 2:
            return
        pairs, ratios = self._accepted_merges(S, self.component.log_marginal(S), eligible)
        if not len(pairs):
            return
        chosen = []
        for n in np.argsort(-ratios, kind="stable"):
            if not self._moved[pairs[n]].any():
                self._moved[pairs[n]] = True
                chosen.append(n)
        self._merge(pairs[chosen], ratios[chosen].tolist())

    def _accepted_merges(
        self, S: Array, L: Array, eligible: npt.NDArray[np.bool_]
    ) -> tuple[npt.NDArray[np.int64], Array]:
        """Pairs (n, 2) of clusters that merge and their log Hastings ratios (n,).

        Parameters
        ----------
        S, L : arrays (K, P) and (K,)
            Statistics and log marginals of the clusters.
        eligible : array (K,)
            Clusters that may merge.
        """
        component, log_alpha, kind = self.component, self.config.log_alpha, self.config.merge
        likely = component.likely_merges(S, L, eligible, log_alpha) if kind == "original" else None
        if likely is None:
            pairs = component.mergeable(S, L, eligible, log_alpha)
            places, total = np.arange(len(pairs)), len(pairs)
        else:
            pairs, places, total = likely
        if not len(pairs):
            return pairs, np.empty(0)
        ratios = merge_log_hastings(component, S, L, pairs, log_alpha, kind)
        # Each mergeable pair has a random number, whether or not its merge is likely.
        accepted = np.log(self.rng.random(total)[places]) < ratios
        return pairs[accepted], ratios[accepted]

    def _merge(self, pairs: npt.NDArray[np.int64], ratios: Sequence[float], adopt: bool = False) -> None:
        """Merge pairs (n, 2) of clusters, each cluster at most once: both become sub-clusters of the larger one.

        For ``adopt`` see `name_merged`.
        """
        state, counts = self.state, self.state.counts
        ordered = counts[pairs[:, 0]] >= counts[pairs[:, 1]]
        large, small = np.where(ordered, pairs.T, pairs.T[::-1])
        for layer in (state.history.records, state.current[None]):
            whole, absorbed = layer[:, large], layer[:, small]
            layer[:, large, 0] = whole[:, :, 0] + whole[:, :, 1]
            layer[:, large, 1] = absorbed[:, :, 0] + absorbed[:, :, 1]
        state.history.refresh(large)
        state.age[large] = state.subcluster_age[large] = 0
        for a, b, ratio in zip(large.tolist(), small.tolist(), ratios, strict=True):
            self.name_merged(a, b, counts, ratio, adopt)
            counts[a] += counts[b]
        self._drop(small.tolist())

    def _drop(self, clusters: Sequence[int]) -> None:
        """Remove clusters; the last ones take their indices."""
        if not clusters:
            return
        state = self.state
        stay = list(range(len(state.ids)))
        for k in sorted(clusters, reverse=True):
            stay[k] = stay[-1]
            stay.pop()
        state.history.keep(stay)
        for name in ("current", "ids", "age", "subcluster_age", "born", "owner", "newcomer"):
            setattr(state, name, getattr(state, name)[stay])
        self._moved = self._moved[stay]

    # --- manual moves

    def force_split(self, k: int) -> int:
        """Split cluster k into its two sub-clusters whatever the Hastings ratio; returns the new id."""
        counts = self.state.total[k, :, 0]
        if counts.min() < 1.0:
            raise ValueError(f"segment {self.state.ids[k]} cannot be split: one of its sub-clusters is empty")
        ratio = split_log_hastings(self.component, self.state.total[[k]], self.config.log_alpha)[0]
        (new,) = self._apply_splits([k], counts[None])
        self.name_split(k, new, counts, float(ratio), entering=None, hide=False)
        self._start_subclusters([k, new], principal=True)
        return int(self.state.ids[new])

    def force_merge(self, a: int, b: int) -> int:
        """Merge announced clusters a and b whatever the Hastings ratio, and all hidden ones go to the survivor.

        Returns the id that survives: that of the larger one together with its hidden clusters.
        """
        S = sum_subclusters(self.state.total)
        L = self.component.log_marginal(S)
        pair = np.array([[a, b]])
        ratio = merge_log_hastings(self.component, S, L, pair, self.config.log_alpha, self.config.merge)[0]
        first, second = self.state.ids[pair[0]].tolist()
        self._merge(pair, [float(ratio)], adopt=True)
        return int(first if first in self.state.ids else second)

    # --- deaths

    def remove_dead(self, used: npt.NDArray[np.bool_]) -> None:
        """Remove the clusters with a weighted count under 1 that own no point of the batch.

        Parameters
        ----------
        used : array (2 K,)
            See `Batch.used`.
        """
        state = self.state
        counts = state.counts
        faded = (counts < 1.0).nonzero()[0]
        if not len(faded):
            return
        owners = set(self.id_of[used].tolist())
        dead = [k for k in faded[::-1].tolist() if int(state.ids[k]) not in owners]
        for k in dead:
            self.name_dead(k, float(counts[k]))
        self._drop(dead)


def split_log_hastings(component: Component, total: Array, log_alpha: float) -> Array:
    """Log Hastings ratios (M,) of splitting clusters with sub-cluster statistics (M, 2, P).

    With counts n, n_1, n_2 and marginal likelihoods f of a cluster and its sub-clusters:

    H = alpha * Gamma(n_1) f_1 * Gamma(n_2) f_2 / (Gamma(n) f)
    """
    return _split_ratios(component, np.concatenate([sum_subclusters(total), *total]), log_alpha)


def _split_ratios(component: Component, S: Array, log_alpha: float) -> Array:
    """As `split_log_hastings`, given the statistics S (3 M, P) of the clusters and then of the sub-clusters."""
    M = len(S) // 3
    L, G = component.log_marginal(S), gammaln(S[:, 0])
    sub = G[M:] + L[M:]
    out: Array = log_alpha + (sub[::2] + sub[1::2]) - G[:M] - L[:M]
    return out


def merge_log_hastings(
    component: Component, S: Array, L: Array, pairs: npt.NDArray[np.int64], log_alpha: float, kind: str
) -> Array:
    """Log Hastings ratios (n,) of merging pairs (n, 2) of clusters with statistics S (K, P), log marginals L (K,).

    With counts n_a, n_b and marginal likelihoods f_a, f_b of the clusters and f of their union:

    "paper" (one over the ratio of splitting the union)
        H = Gamma(n_a + n_b) f / (alpha * Gamma(n_a) f_a * Gamma(n_b) f_b)
    "original" (Chang and Fisher)
        H times Gamma(alpha) / Gamma(alpha + n_a + n_b) * prod over a, b of Gamma(alpha / 2 + n) / Gamma(alpha / 2),
        the probability that sub-clusters drawn for the union have these sizes. It keeps two clusters apart until
        their points are hard to tell apart.
    """
    pair = pairs.T
    n = S[pair, 0]
    both, own, single = n[0] + n[1], L[pair], gammaln(n)
    union = component.log_marginal_pairs(S, pairs)
    ratios: Array = gammaln(both) - single[0] - single[1] + union - own[0] - own[1] - log_alpha
    if kind == "original":
        rising = log_rising(log_alpha - _LOG_2, n)
        ratios += rising[0] + rising[1] - log_rising(log_alpha, both)
    return ratios
