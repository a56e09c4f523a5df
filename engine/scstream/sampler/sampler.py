"""The streaming sampler: batches go in one after another, clusters with lasting ids come out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from scstream.components.base import Component
from scstream.sampler.genealogy import Event, Genealogy, Kind
from scstream.sampler.history import History
from scstream.sampler.moves import Mover
from scstream.sampler.sweep import Batch, Settings, State, counter_rng, log_posterior, relabel

#: Sweeps without a split before sub-clusters start afresh, in the first batch: there is nothing yet to disturb.
_FIRST_PATIENCE = 5


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the first batch has come."""

    sweep: int
    n_clusters: int
    log_posterior: float
    converged: bool


@dataclass(slots=True)
class Sampler:
    """State of a stream and the ways to move it on.

    ``id_of`` maps the labels that the batch last got to ids; ``events`` are those of the last batch, ``pending`` those
    of moves made by hand since, which belong to the next.
    """

    settings: Settings
    component: Component
    state: State
    genealogy: Genealogy
    time: float
    id_of: npt.NDArray[np.int64]
    events: list[Event] = field(default_factory=list)
    log_posterior: float = float("nan")
    pending: list[Event] = field(default_factory=list)

    @classmethod
    def begin(cls, settings: Settings, component: Component, batch: Batch, time: float, number: int = 0) -> Sampler:
        """One cluster that holds the whole of a first batch, the stream's ``number``-th batch."""
        P = component.n_statistics
        state = State(
            history=History(1, P),
            current=np.zeros((1, 2, P)),
            ids=np.zeros(1, np.int64),
            age=np.zeros(1, np.int64),
            rest=np.zeros(1, np.int64),
            born=np.full(1, number, np.int64),
            batch=number,
        )
        sampler = cls(settings, component, state, Genealogy(), time, np.zeros(2, np.int64))
        rng = counter_rng(settings.seed, number, 0)
        relabel(settings, component, state, batch, False, rng)
        sampler.baptise(Genealogy())
        Mover(settings, component, state, sampler.genealogy, time, rng).restart(0, principal=True)
        return sampler

    def baptise(self, genealogy: Genealogy) -> None:
        """Enter every live cluster as born now, the largest first; whoever lives in that genealogy dies.

        How a first batch was divided on the way is no history. The genealogy may be that of an earlier stream: then
        ids go on from there.
        """
        state = self.state
        counts = state.total[:, :, 0].sum(axis=1)
        order = np.argsort(-counts, kind="stable")
        ids = np.empty(len(order), np.int64)
        self.events = [
            Event(Kind.DEATH, self.time, state.batch, (id,), float("nan"), (0.0,)) for id in genealogy.live_ids
        ]
        for k in order:
            ids[k] = genealogy.new_id()
            self.events.append(
                Event(Kind.BIRTH, self.time, state.batch, (int(ids[k]),), float("nan"), (float(counts[k]),))
            )
        index_of = {int(i): k for k, i in enumerate(state.ids)}
        self.id_of = np.array([ids[index_of[int(i)]] if int(i) in index_of else -1 for i in self.id_of])
        state.ids = ids
        state.born[:] = state.batch
        genealogy.extend(self.events)
        self.genealogy = genealogy

    def sweep(self, batch: Batch, settings: Settings, sampling: bool, splitting: bool = True) -> None:
        """One sweep over the batch with its moves."""
        state = self.state
        state.sweep += 1
        rng = counter_rng(settings.seed, state.batch, state.sweep)
        relabel(settings, self.component, state, batch, sampling, rng)
        mover = Mover(settings, self.component, state, self.genealogy, self.time, rng)
        if splitting:
            mover.split(batch.at_edge())
        mover.merge()
        mover.bury(batch.used)
        if settings.follow != "nothing":
            state.history.follow(self.component, state.current, halves=settings.follow == "halves")
        state.age += 1
        state.rest += 1
        self.id_of = mover.id_of
        self.events += mover.events

    def converge(self, batch: Batch, max_sweeps: int) -> Iterator[Progress]:
        """Sweep over the first batch until it has settled."""
        settings = replace(self.settings, patience=_FIRST_PATIENCE)
        trace: list[tuple[int, float]] = []
        for n in range(1, max_sweeps + 1):
            # As in later batches, a deterministic sweep follows a stochastic one: its clear-cut sub-clusters show
            # splits that drawn labels blur.
            self.sweep(batch, settings, sampling=n % 2 == 1)
            K = len(self.state.ids)
            self.log_posterior = log_posterior(self.component, self.state.total, settings.log_alpha)
            trace.append((K, self.log_posterior))
            done = settled(trace)
            yield Progress(n, K, self.log_posterior, done)
            if done:
                return

    def finish(self, batch: Batch) -> None:
        """The deterministic sweep that ends a batch, and the batch's entry into history."""
        self.sweep(batch, self.settings, sampling=False, splitting=self.settings.split_last)
        state = self.state
        self.log_posterior = log_posterior(self.component, state.total, self.settings.log_alpha)
        state.history.append(self.time, state.current)

    def update(self, batch: Batch, time: float) -> None:
        """A later batch: history is weighed as of now, then a few sweeps."""
        state = self.state
        state.history.advance(time, self.settings.kernel, self.settings.epsilon)
        state.current = np.zeros_like(state.history.past)
        state.batch += 1
        state.sweep = 0
        self.time = time
        self.events, self.pending = self.pending, []
        for _ in range(self.settings.sweeps):
            self.sweep(batch, self.settings, sampling=True)
        self.finish(batch)

    def split_by_hand(self, id: int) -> int:
        """Split a cluster between two batches; returns the new id."""
        mover = self._mover_by_hand()
        new = mover.split_by_hand(self.index(id))
        self.pending += mover.events
        return new

    def merge_by_hand(self, id: int, other: int) -> int:
        """Merge two clusters between two batches; returns the id that lives on."""
        if id == other:
            raise ValueError(f"a merge takes two segments, got {id} twice")
        mover = self._mover_by_hand()
        survivor = mover.merge_by_hand(self.index(id), self.index(other))
        self.pending += mover.events
        return survivor

    def _mover_by_hand(self) -> Mover:
        # The counter is one that no sweep has: several moves before a batch draw different numbers.
        rng = counter_rng(self.settings.seed, self.state.batch, 2**32 + len(self.pending))
        return Mover(self.settings, self.component, self.state, self.genealogy, self.time, rng)

    def index(self, id: int) -> int:
        """The cluster with this id; a KeyError if none is alive."""
        found = np.flatnonzero(self.state.ids == id)
        if not len(found):
            raise KeyError(f"segment {id} is not alive")
        return int(found[0])


def settled(trace: list[tuple[int, float]], window: int = 60) -> bool:
    """Whether the number of clusters and the log posterior stood still over the last ``window`` sweeps.

    The window leaves each cluster time for several fresh starts of its sub-clusters.
    """
    if len(trace) < 2 * window:
        return False
    recent, before = trace[-window:], trace[-2 * window : -window]
    spread = max(k for k, _ in recent) - min(k for k, _ in recent)
    gain = np.mean([v for _, v in recent]) - np.mean([v for _, v in before])
    scale = np.std([v for _, v in recent]) + 1e-9
    return bool(spread <= 0.02 * recent[-1][0] and gain <= scale)
