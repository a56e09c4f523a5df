"""Split, merge and death: the moves that change the number of clusters, scored in vectorised calls."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from scstream.components.base import Array, Component
from scstream.sampler.genealogy import Event, Genealogy, Kind
from scstream.sampler.sweep import Settings, State, both_halves

#: Records in which a cluster has fewer points, weighted, are skipped when asking how large its halves were.
_FEWEST_POINTS = 20.0


class Mover:
    """Applies accepted moves to a state, and keeps track of where each label of the batch went.

    ``id_of`` maps a label 2 k + j that the sweep gave to the id that owns it after the moves.
    """

    def __init__(
        self,
        settings: Settings,
        component: Component,
        state: State,
        genealogy: Genealogy,
        time: float,
        rng: np.random.Generator,
    ) -> None:
        self.settings = settings
        self.component = component
        self.state = state
        self.genealogy = genealogy
        self.time = time
        self.rng = rng
        self.events: list[Event] = []
        self.id_of = np.repeat(state.ids, 2)
        self._moved = np.zeros(len(state.ids), bool)

    def _record(self, kind: Kind, ids: tuple[int, ...], counts: tuple[float, ...], log_hastings: float) -> None:
        event = Event(kind, self.time, self.state.batch, ids, log_hastings, counts)
        self.genealogy.record(event)
        self.events.append(event)

    # --- splits

    def split(self, at_edge: Array) -> None:
        """Propose to split every settled cluster into its two sub-clusters; ``at_edge`` as `Batch.at_edge` has it."""
        state, settings = self.state, self.settings
        total = state.total
        counts = total[:, :, 0]
        smaller = np.minimum(counts[:, 0], counts[:, 1])
        rested = state.rest >= settings.burn_in
        ready = rested & (state.age >= settings.burn_in) & (smaller >= 1.0) & state.free
        # A sub-cluster that lost all its points can never find anything: start both afresh.
        barren = rested & (smaller < 1.0) & (counts[:, 0] + counts[:, 1] >= 2.0)
        candidates = ready.nonzero()[0]
        ratios = split_log_hastings(self.component, total[candidates], settings.log_alpha)
        accepted = np.log(self.rng.random(len(candidates))) < ratios
        for k, ratio in zip(candidates[accepted], ratios[accepted], strict=True):
            self._apply_split(int(k), float(ratio), counts[k], self._newcomer(int(k), at_edge[2 * k : 2 * k + 2]))
        for k in barren.nonzero()[0]:
            self.restart(int(k))
        if settings.patience is not None:
            for k in candidates[~accepted & (state.rest[candidates] >= settings.burn_in + settings.patience)]:
                self.restart(int(k))

    def _newcomer(self, k: int, at_edge: Array) -> int | None:
        """Which half of cluster k has come into view since the cluster was first remembered, if one has.

        What a camera turns to falls to a cluster that was there before, and in time breaks free of it. It is no part of
        what that cluster was: it was less than half as large then, the other half was not, and it lies along the edge.
        """
        records, now = self.state.history.records[:, k, :, 0], self.state.current[k, :, 0]
        known = np.flatnonzero(records.sum(axis=1) >= _FEWEST_POINTS)
        if not len(known):
            return None
        grown = records[known[0]] < 0.5 * now
        entering = grown & (at_edge >= 0.5 * np.sqrt(now))
        return int(np.argmax(entering)) if entering.any() and not grown.all() else None

    def _apply_split(self, k: int, ratio: float, counts: Array, newcomer: int | None = None) -> None:
        """The larger half keeps index and id, the smaller one becomes a new cluster, its child.

        A newcomer, whatever its size, is nobody's child: the other half keeps the id.
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
        for child in (k, new):
            state.history.refresh(child)
            self._start_subclusters(child, principal=True)
            state.age[child] = 0
            self._moved[child] = True
        if newcomer == 1 - small:
            # Indices stay as they are: draws go by them, and who is called what must not change the labels.
            for names in (state.ids, state.born):
                names[[k, new]] = names[[new, k]]
        self.id_of[2 * k + small], self.id_of[2 * k + 1 - small] = state.ids[new], state.ids[k]
        if newcomer is not None:
            born = new if newcomer == small else k
            self._record(Kind.BIRTH, (int(state.ids[born]),), (float(counts[newcomer]),), float("nan"))
            return
        self._record(
            Kind.SPLIT,
            (int(state.ids[k]), int(state.ids[new])),
            (float(counts[1 - small]), float(counts[small])),
            ratio,
        )

    def take_out(self, k: int, statistics: Array) -> int:
        """Make the part of the newest batch with these statistics (P,), all owned by cluster k, a cluster of its own.

        For a part that a person has drawn: no ratio is asked. Returns the new cluster's id.
        """
        state = self.state
        new = self._new_cluster()
        for layer in (state.history.records[-1], state.current):
            whole = layer[k].sum(axis=0)
            layer[new] = statistics, np.zeros_like(statistics)
            layer[k] = whole - statistics, np.zeros_like(statistics)
        for part in (k, new):
            self._start_subclusters(part, principal=True)
        return int(state.ids[new])

    def _new_cluster(self) -> int:
        state = self.state
        new = state.history.grow()
        state.current = np.concatenate([state.current, np.zeros_like(state.current[:1])])
        state.ids = np.append(state.ids, self.genealogy.new_id())
        state.age = np.append(state.age, 0)
        state.rest = np.append(state.rest, 0)
        state.born = np.append(state.born, state.batch)
        self._moved = np.append(self._moved, True)
        return new

    def _start_subclusters(self, k: int, principal: bool) -> None:
        """Cut cluster k in two along an axis, in the batch at hand and in every record alike."""
        state = self.state
        records = state.history.records
        axis = self.component.axis(both_halves(state.history.past[k] + state.current[k]), self.rng, principal)
        whole = np.concatenate([both_halves(records[:, k]), both_halves(state.current[k])[None]])
        half = self.component.halve(whole, axis)
        rest = whole - half
        records[:, k, 0], records[:, k, 1] = half[:-1], rest[:-1]
        state.current[k, 0], state.current[k, 1] = half[-1], rest[-1]
        state.history.refresh(k)
        state.rest[k] = 0

    def restart(self, k: int, principal: bool = False) -> None:
        """Give the sub-clusters of a cluster that found no split another start."""
        self._start_subclusters(k, principal)

    # --- merges

    def merge(self) -> None:
        """Propose to merge every pair of settled clusters, the likeliest merge first."""
        state, settings = self.state, self.settings
        S = both_halves(state.total)
        eligible = (state.age >= settings.burn_in) & ~self._moved & (S[:, 0] >= 1.0) & state.free
        if np.count_nonzero(eligible) < 2:
            return
        L = self.component.log_marginal(S)
        pairs = self.component.mergeable(S, L, eligible, settings.log_alpha)
        if not len(pairs):
            return
        ratios = merge_log_hastings(self.component, S, L, pairs, settings.log_alpha, settings.merge)
        a, b = pairs[:, 0], pairs[:, 1]
        accepted = (np.log(self.rng.random(len(pairs))) < ratios).nonzero()[0]
        absorbed = []
        for n in accepted[np.argsort(-ratios[accepted], kind="stable")]:
            if not (self._moved[a[n]] or self._moved[b[n]]):
                absorbed.append(self._apply_merge(int(a[n]), int(b[n]), float(ratios[n])))
        for k in sorted(absorbed, reverse=True):
            self._drop(k)

    def _apply_merge(self, a: int, b: int, ratio: float) -> int:
        """The larger cluster takes the smaller one in, both as its sub-clusters; returns the absorbed index."""
        state = self.state
        counts = state.total[:, :, 0].sum(axis=1)
        large, small = (a, b) if counts[a] >= counts[b] else (b, a)
        for layer in (state.history.records, state.current[None]):
            layer[:, large, 0] = layer[:, large].sum(axis=1)
            layer[:, large, 1] = layer[:, small].sum(axis=1)
        state.history.refresh(large)
        state.age[large] = state.rest[large] = 0
        self._moved[[a, b]] = True
        self.id_of[self.id_of == state.ids[small]] = state.ids[large]
        self._record(
            Kind.MERGE,
            (int(state.ids[large]), int(state.ids[small])),
            (float(counts[large]), float(counts[small])),
            ratio,
        )
        return small

    def _drop(self, k: int) -> None:
        """Remove cluster k; the last cluster takes its index."""
        state = self.state
        state.history.drop(k)
        for name in ("current", "ids", "age", "rest", "born"):
            array = getattr(state, name)
            array[k] = array[-1]
            setattr(state, name, array[:-1].copy())
        self._moved[k] = self._moved[-1]
        self._moved = self._moved[:-1]

    # --- by hand

    def split_by_hand(self, k: int) -> int:
        """Split cluster k into its two sub-clusters, however unlikely that is; returns the new id."""
        counts = self.state.total[k, :, 0]
        if counts.min() < 1.0:
            raise ValueError(f"segment {self.state.ids[k]} has no second half to split off")
        ratio = split_log_hastings(self.component, self.state.total[[k]], self.settings.log_alpha)[0]
        self._apply_split(k, float(ratio), counts)
        return int(self.state.ids[-1])

    def merge_by_hand(self, a: int, b: int) -> int:
        """Merge clusters a and b, however unlikely that is; returns the id of the larger one, which lives on."""
        S = both_halves(self.state.total)
        L = self.component.log_marginal(S)
        pair = np.array([[a, b]])
        ratio = merge_log_hastings(self.component, S, L, pair, self.settings.log_alpha, self.settings.merge)[0]
        absorbed = self._apply_merge(a, b, float(ratio))
        survivor = int(self.state.ids[b if absorbed == a else a])
        self._drop(absorbed)
        return survivor

    # --- deaths

    def bury(self, used: npt.NDArray[np.bool_]) -> None:
        """Drop the clusters whose weighted count fell under 1 and that own no point of the batch."""
        state = self.state
        counts = both_halves(state.total)[:, 0]
        faded = (counts < 1.0).nonzero()[0]
        if not len(faded):
            return
        owning = set(self.id_of[used].tolist())
        for k in [k for k in faded[::-1] if int(state.ids[k]) not in owning]:
            self._record(Kind.DEATH, (int(state.ids[k]),), (float(counts[k]),), float("nan"))
            self._drop(int(k))


def split_log_hastings(component: Component, total: Array, log_alpha: float) -> Array:
    """Log Hastings ratios (M,) of splitting clusters with sub-cluster statistics (M, 2, P)."""
    M, _, P = total.shape
    cluster = both_halves(total)
    L = component.log_marginal(np.concatenate([cluster, total.reshape(2 * M, P)]))
    L_sub = L[M:].reshape(M, 2)
    counts = total[:, :, 0]
    out: Array = log_alpha + (gammaln(counts) + L_sub).sum(axis=1) - gammaln(cluster[:, 0]) - L[:M]
    return out


def merge_log_hastings(
    component: Component, S: Array, L: Array, pairs: npt.NDArray[np.int64], log_alpha: float, kind: str
) -> Array:
    """Log Hastings ratios (n,) of merging pairs (n, 2) of clusters with statistics S (K, P), log marginals L (K,).

    "paper": one over the ratio of splitting the union. "original": Chang and Fisher's, which also asks how likely
    a cluster's two sub-clusters, drawn afresh, would have had these sizes. It leaves two clusters alone until their
    points are hard to tell apart.
    """
    a, b = pairs[:, 0], pairs[:, 1]
    n_a, n_b = S[a, 0], S[b, 0]
    union = component.log_marginal_pairs(S, pairs)
    ratios: Array = gammaln(n_a + n_b) - gammaln(n_a) - gammaln(n_b) + union - L[a] - L[b] - log_alpha
    if kind == "original":
        half = log_alpha - np.log(2.0)
        ratios += log_rising(half, n_a) + log_rising(half, n_b) - log_rising(log_alpha, n_a + n_b)
    return ratios


def log_rising(log_d: float, n: Array) -> Array:
    """log Gamma(d + n) - log Gamma(d), also for a d so large that the difference would drown."""
    d = np.exp(min(log_d, 700.0))
    if log_d > np.log(1e8):
        # Stirling's formula, with the large terms taken apart.
        large: Array = n * log_d - n + (d + n - 0.5) * np.log1p(n / d)
        return large
    small: Array = gammaln(d + n) - gammaln(d)
    return small
