"""Moves that change the number of clusters: splits, merges and removals are proposed, accepted and applied."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from scstream.components.base import Array, Component, log_rising
from scstream.sampler.genealogy import Genealogy
from scstream.sampler.naming import Naming
from scstream.sampler.parameters import Parameters
from scstream.sampler.sweep import State, sum_subclusters

#: `Mover._entering` skips records in which a cluster has fewer points than this.
_MIN_POINTS = 20.0


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
        total = state.total
        counts = total[:, :, 0]
        smaller = np.minimum(counts[:, 0], counts[:, 1])
        burned_in = state.subcluster_age >= config.burn_in
        ready = burned_in & (state.age >= config.burn_in) & (smaller >= 1.0) & state.unlocked
        # A sub-cluster without points cannot attract any.
        empty = burned_in & (smaller < 1.0) & (counts[:, 0] + counts[:, 1] >= 2.0)
        candidates = ready.nonzero()[0]
        ratios = split_log_hastings(self.component, total[candidates], config.log_alpha)
        accepted = np.log(self.rng.random(len(candidates))) < ratios
        restarted = empty.nonzero()[0]
        if config.restart is not None:
            overdue = state.subcluster_age[candidates] >= config.burn_in + config.restart
            restarted = np.concatenate([restarted, candidates[~accepted & overdue]])
        if accepted.any():
            children: list[int] = []
            length = border_length()
            for k, ratio in zip(candidates[accepted].tolist(), ratios[accepted].tolist(), strict=True):
                entering = self._entering(k, length[2 * k : 2 * k + 2])
                children += self._apply_split(k, ratio, counts[k], entering, hide=config.patience > 0)
            self._start_subclusters(children, principal=True)
        self._start_subclusters(restarted, principal=False)

    def _entering(self, k: int, border_length: Array) -> int | None:
        """Which sub-cluster of cluster k has entered the frame since the cluster's first record; None if neither.

        When the camera pans, new content is first labelled as part of an existing cluster and later splits off. Such a
        sub-cluster was less than half as large in the first record, while the other was not, and touches the border.
        """
        records, now = self.state.history.records[:, k, :, 0], self.state.current[k, :, 0]
        known = np.flatnonzero(records.sum(axis=1) >= _MIN_POINTS)
        if not len(known):
            return None
        grown = records[known[0]] < 0.5 * now
        entering = grown & (border_length >= 0.5 * np.sqrt(now))
        return int(np.argmax(entering)) if entering.any() and not grown.all() else None

    def _apply_split(
        self, k: int, ratio: float, counts: Array, entering: int | None = None, hide: bool = False
    ) -> tuple[int, int]:
        """Split cluster k: the larger sub-cluster keeps index and id, the smaller one becomes a new cluster.

        Returns the indices of both, whose sub-clusters are to be initialised next.

        A sub-cluster that is ``entering`` the frame is recorded as born, not as a child, and the other one keeps the
        id whatever its size. With ``hide`` nothing is recorded yet.
        """
        state = self.state
        small = int(np.argmin(counts))
        new = self._new_cluster()
        for layer in (state.history.records, state.current[None]):
            whole = layer[:, k].copy()
            layer[:, new, 0] = whole[:, small]
            layer[:, new, 1] = 0.0
            layer[:, k, 0] = whole[:, 1 - small]
            layer[:, k, 1] = 0.0
        state.history.refresh([k, new])
        state.age[[k, new]] = 0
        self._moved[[k, new]] = True
        self.name_split(k, new, small, counts, ratio, entering, hide)
        return k, new

    def cut_out(self, k: int, statistics: Array) -> int:
        """Make a new cluster from the points of cluster k that the user has outlined; returns its id.

        Parameters
        ----------
        k : int
        statistics : array (P,)
            Statistics of these points, all from the newest batch.
        """
        state = self.state
        new = self._new_cluster()
        for layer in (state.history.records[-1], state.current):
            whole = layer[k].sum(axis=0)
            layer[new] = statistics, np.zeros_like(statistics)
            layer[k] = whole - statistics, np.zeros_like(statistics)
        self._start_subclusters([k, new], principal=True)
        return int(state.ids[new])

    def _new_cluster(self) -> int:
        state = self.state
        new = state.history.grow()
        state.current = np.concatenate([state.current, np.zeros_like(state.current[:1])])
        state.ids = np.append(state.ids, self.genealogy.new_id())
        state.age = np.append(state.age, 0)
        state.subcluster_age = np.append(state.subcluster_age, 0)
        state.born = np.append(state.born, state.batch)
        state.owner = np.append(state.owner, state.ids[-1])
        state.newcomer = np.append(state.newcomer, False)
        self._moved = np.append(self._moved, True)
        return new

    def _start_subclusters(self, clusters: Sequence[int] | npt.NDArray[np.intp], principal: bool) -> None:
        """Initialise the sub-clusters of some clusters: cut the current batch and every record along the same axis."""
        if not len(clusters):
            return
        state, which = self.state, np.asarray(clusters)
        records = state.history.records
        total = sum_subclusters(state.history.past[which] + state.current[which])
        whole = sum_subclusters(np.concatenate([records[:, which], state.current[None, which]]))
        half = self.component.cut(total, np.ascontiguousarray(whole), self.rng, principal)
        parts = np.stack([half, whole - half], axis=2)
        records[:, which], state.current[which] = parts[:-1], parts[-1]
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
        S = sum_subclusters(state.total)
        eligible = (state.age >= config.burn_in) & ~self._moved & (S[:, 0] >= 1.0) & state.unlocked
        if np.count_nonzero(eligible) < 2:
            return
        L = self.component.log_marginal(S)
        pairs, ratios = self._accepted_merges(S, L, eligible)
        absorbed = []
        for n in np.argsort(-ratios, kind="stable"):
            a, b = pairs[n].tolist()
            if not (self._moved[a] or self._moved[b]):
                absorbed.append(self._apply_merge(a, b, float(ratios[n])))
        for k in sorted(absorbed, reverse=True):
            self._drop(k)

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

    def _apply_merge(self, a: int, b: int, ratio: float, adopt: bool = False) -> int:
        """Merge two clusters: each becomes a sub-cluster of the larger one; returns the index of the absorbed one.

        For ``adopt`` see `name_merged`.
        """
        state = self.state
        counts = state.total[:, :, 0].sum(axis=1)
        large, small = (a, b) if counts[a] >= counts[b] else (b, a)
        for layer in (state.history.records, state.current[None]):
            layer[:, large, 0] = layer[:, large].sum(axis=1)
            layer[:, large, 1] = layer[:, small].sum(axis=1)
        state.history.refresh([large])
        state.age[large] = state.subcluster_age[large] = 0
        self._moved[[a, b]] = True
        self.name_merged(large, small, counts, ratio, adopt)
        return small

    def _drop(self, k: int) -> None:
        """Remove cluster k; the last cluster takes its index."""
        state = self.state
        state.history.drop(k)
        for name in ("current", "ids", "age", "subcluster_age", "born", "owner", "newcomer"):
            array = getattr(state, name)
            array[k] = array[-1]
            setattr(state, name, array[:-1].copy())
        self._moved[k] = self._moved[-1]
        self._moved = self._moved[:-1]

    # --- manual moves

    def force_split(self, k: int) -> int:
        """Split cluster k into its two sub-clusters whatever the Hastings ratio; returns the new id."""
        counts = self.state.total[k, :, 0]
        if counts.min() < 1.0:
            raise ValueError(f"segment {self.state.ids[k]} cannot be split: one of its sub-clusters is empty")
        ratio = split_log_hastings(self.component, self.state.total[[k]], self.config.log_alpha)[0]
        self._start_subclusters(self._apply_split(k, float(ratio), counts), principal=True)
        return int(self.state.ids[-1])

    def force_merge(self, a: int, b: int) -> int:
        """Merge announced clusters a and b whatever the Hastings ratio, and all hidden ones go to the survivor.

        Returns the id that survives: that of the larger one together with its hidden clusters.
        """
        S = sum_subclusters(self.state.total)
        L = self.component.log_marginal(S)
        pair = np.array([[a, b]])
        ratio = merge_log_hastings(self.component, S, L, pair, self.config.log_alpha, self.config.merge)[0]
        absorbed = self._apply_merge(a, b, float(ratio), adopt=True)
        survivor = int(self.state.ids[b if absorbed == a else a])
        self._drop(absorbed)
        return survivor

    # --- deaths

    def remove_dead(self, used: npt.NDArray[np.bool_]) -> None:
        """Remove the clusters with a weighted count under 1 that own no point of the batch.

        Parameters
        ----------
        used : array (2 K,)
            See `Batch.used`.
        """
        state = self.state
        counts = sum_subclusters(state.total)[:, 0]
        faded = (counts < 1.0).nonzero()[0]
        if not len(faded):
            return
        owners = set(self.id_of[used].tolist())
        for k in [k for k in faded[::-1] if int(state.ids[k]) not in owners]:
            self.name_dead(int(k), float(counts[k]))
            self._drop(int(k))


def split_log_hastings(component: Component, total: Array, log_alpha: float) -> Array:
    """Log Hastings ratios (M,) of splitting clusters with sub-cluster statistics (M, 2, P).

    With counts n, n_1, n_2 and marginal likelihoods f of a cluster and its sub-clusters:

    H = alpha * Gamma(n_1) f_1 * Gamma(n_2) f_2 / (Gamma(n) f)
    """
    M, _, P = total.shape
    cluster = sum_subclusters(total)
    L = component.log_marginal(np.concatenate([cluster, total.reshape(2 * M, P)]))
    L_sub = L[M:].reshape(M, 2)
    counts = total[:, :, 0]
    out: Array = log_alpha + (gammaln(counts) + L_sub).sum(axis=1) - gammaln(cluster[:, 0]) - L[:M]
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
    a, b = pairs[:, 0], pairs[:, 1]
    n_a, n_b = S[a, 0], S[b, 0]
    union = component.log_marginal_pairs(S, pairs)
    ratios: Array = gammaln(n_a + n_b) - gammaln(n_a) - gammaln(n_b) + union - L[a] - L[b] - log_alpha
    if kind == "original":
        half = log_alpha - np.log(2.0)
        ratios += log_rising(half, n_a) + log_rising(half, n_b) - log_rising(log_alpha, n_a + n_b)
    return ratios
