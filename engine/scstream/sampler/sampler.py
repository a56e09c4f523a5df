"""The streaming sampler: takes one batch after another and finds clusters with persistent ids."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from scstream.components.base import Array, Component
from scstream.phases import phase
from scstream.sampler.forgetting import kernel_weights
from scstream.sampler.genealogy import Event, Genealogy, Kind
from scstream.sampler.history import History
from scstream.sampler.moves import Mover
from scstream.sampler.naming import Naming, largest_hidden
from scstream.sampler.parameters import Parameters
from scstream.sampler.points import Points, Rows
from scstream.sampler.recent import RecentPoints
from scstream.sampler.revision import Outcome, points_needed, revise
from scstream.sampler.sweep import Batch, State, counter_rng, fit_of, log_posterior, relabel

#: `Parameters.restart` during the first batch: no established cluster can be disturbed yet.
_FIRST_RESTART = 5

#: The past has faded if no cluster has this weighted count left, which hardly tells where it is and how large, and the
#: last batch has less than this weight.
_FADED_COUNT = 10.0
_FADED_WEIGHT = 1 / 16

#: A batch this many times larger than the largest kept one tells more than all of them.
LARGE = 4.0

#: A batch is unlike those before if it fits the clusters worse by this many nats for each point and coordinate.
_UNLIKE = 0.25
#: Points with fewer coordinates, or with none, count as if they had this many.
_FEWEST_COORDINATES = 4

#: Most times ``revise`` batches between two revisions. Each that finds the same clusters doubles the wait.
LONGEST_WAIT = 4

#: Sweeps of the manual moves' random generators count from here: no sweep over a batch has such a number.
_MANUAL_SWEEPS = 2**32
#: So do those of revisions.
_REVISION_SWEEP = 2**34


@dataclass(frozen=True, slots=True)
class Progress:
    """State of the sampler after a sweep over the first batch.

    Parameters
    ----------
    sweep : int
        Number of the sweep, from 1.
    n_clusters : int
    log_posterior : float
    converged : bool
        Whether this was the last sweep because the sampler has converged.
    """

    sweep: int
    n_clusters: int
    log_posterior: float
    converged: bool


@dataclass(slots=True)
class Sampler:
    """Clusters of a stream, and the methods that update them.

    Parameters
    ----------
    config : Parameters
    component : Component
        With all hyperparameters set.
    state : State
    genealogy : Genealogy
    time : float
        Time of the last batch.
    id_of : array (2 K,)
        Id of the cluster with each label 2 k + j that the last batch's points have, hidden or not.
    events : list of Event
        Events of the last batch.
    _log_posterior : float
        See `log_posterior`.
    pending : list of Event
        Events of manual moves since the last batch. They are reported with the next one.
    recent : RecentPoints
        Points of the last few batches, for revisions.
    since_revision : int
        Number of batches since the last revision.
    revision_wait : int
        How many times longer than ``revise`` batches the next revision waits.
    """

    config: Parameters
    component: Component
    state: State
    genealogy: Genealogy
    time: float
    id_of: npt.NDArray[np.int64]
    events: list[Event] = field(default_factory=list)
    _log_posterior: float = float("nan")
    pending: list[Event] = field(default_factory=list)
    recent: RecentPoints = field(default_factory=RecentPoints)
    since_revision: int = 0
    revision_wait: int = 1
    # What the results of the last batch are computed from when they are asked for.
    _names: tuple[npt.NDArray[np.int64], ...] = field(init=False, repr=False)
    _scored: tuple[Component, Array, float] | None = field(default=None, repr=False)
    _weighed: tuple[float, Component, Component] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self._end_batch()

    def _end_batch(self) -> None:
        """Keep the names for `announced_of`."""
        self._names = self.id_of, self.state.ids.copy(), self.state.owner.copy()

    @property
    def announced_of(self) -> npt.NDArray[np.int64]:
        """Announced id (2 K,) of each label at the end of the last batch. Moves after it do not change this."""
        id_of, ids, owner = self._names
        if np.array_equal(owner, ids):
            return id_of
        order = np.argsort(ids)
        place = order[np.searchsorted(ids, id_of, sorter=order).clip(max=len(order) - 1)]
        return np.where(ids[place] == id_of, owner[place], id_of)

    @property
    def log_posterior(self) -> float:
        """Log of p(labels, points) after the last batch, up to a constant. Moves after it do not change this."""
        if self._scored is not None:
            self._log_posterior, self._scored = log_posterior(*self._scored), None
        return self._log_posterior

    @property
    def posterior_component(self) -> Component:
        """Component with the prior's present weight: `Parameters.weigh_prior` lets it grow with the remembered past."""
        if not self.config.weigh_prior:
            return self.component
        mass = 1.0 + self.state.history.mass
        if self._weighed is None or self._weighed[0] != mass or self._weighed[1] is not self.component:
            self._weighed = mass, self.component, self.component.reweighted(mass)
        return self._weighed[2]

    # --- the first batch

    @classmethod
    def begin(cls, config: Parameters, component: Component, batch: Batch, time: float, number: int = 0) -> Sampler:
        """Return a sampler with one cluster that holds a whole first batch, the stream's ``number``-th."""
        P = component.n_statistics
        state = State(
            history=History(1, P),
            current=np.zeros((1, 2, P)),
            ids=np.zeros(1, np.int64),
            age=np.zeros(1, np.int64),
            subcluster_age=np.zeros(1, np.int64),
            born=np.full(1, number, np.int64),
            batch=number,
        )
        sampler = cls(config, component, state, Genealogy(), time, np.zeros(2, np.int64))
        rng = counter_rng(config.seed, number, 0)
        relabel(config, component, state, batch, False, rng)
        sampler.register_births()
        sampler._mover(rng).restart([0], principal=True)
        return sampler

    @classmethod
    def begin_with(
        cls, config: Parameters, component: Component, statistics: Array, time: float, number: int = 0
    ) -> Sampler:
        """Return a sampler with clusters of these statistics (K, P), as if the first batch had them."""
        K, P = statistics.shape
        genealogy = Genealogy()
        state = State(
            history=History(K, P),
            current=np.stack([statistics, np.zeros_like(statistics)], axis=1),
            ids=np.array([genealogy.new_id() for _ in range(K)]),
            age=np.zeros(K, np.int64),
            subcluster_age=np.zeros(K, np.int64),
            born=np.full(K, number, np.int64),
            batch=number,
        )
        sampler = cls(config, component, state, genealogy, time, np.repeat(state.ids, 2))
        sampler.register_births()
        mover = sampler._mover(counter_rng(config.seed, number, 0))
        mover.restart(range(K), principal=True)
        return sampler

    def converge(self, batch: Batch, max_sweeps: int) -> Iterator[Progress]:
        """Sweep over the first batch until the sampler converges, or ``max_sweeps`` times."""
        config = replace(self.config, restart=_FIRST_RESTART)
        trace: list[tuple[int, float]] = []
        for n in range(1, max_sweeps + 1):
            # As in later batches, a deterministic sweep follows a stochastic one: its clear-cut sub-clusters show
            # splits that drawn labels blur.
            self.sweep(batch, config, sampling=n % 2 == 1)
            K = len(self.state.ids)
            self._scored = self.component, self.state.total, config.log_alpha
            trace.append((K, self.log_posterior))
            converged = has_converged(trace)
            yield Progress(n, K, self.log_posterior, converged)
            if converged:
                return

    def register_births(self, earlier: Sampler | None = None) -> None:
        """Give every live cluster a new id and record its birth, the largest cluster first.

        The splits and merges of a first batch are not part of the genealogy. After an ``earlier`` sampler of the same
        stream, ids and genealogy continue: its clusters die, and its pending events come first.
        """
        genealogy = Genealogy()
        if earlier is not None:
            genealogy = earlier.genealogy
            for id in earlier.state.ids[earlier.state.hidden].tolist():
                genealogy.discard(id)
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
        state.announce_all()
        state.born[:] = state.batch
        self._end_batch()
        genealogy.extend(self.events)
        self.genealogy = genealogy
        if earlier is not None:
            self.events[:0] = earlier.pending

    # --- every batch

    def sweep(self, batch: Batch, config: Parameters, sampling: bool, splitting: bool = True) -> None:
        """Make one sweep over the batch, with its moves."""
        state = self.state
        state.sweep += 1
        rng = counter_rng(config.seed, state.batch, state.sweep)
        component = self.posterior_component
        relabel(config, component, state, batch, sampling, rng)
        mover = Mover(config, component, state, self.genealogy, self.time, rng)
        if splitting:
            with phase("splits"):
                mover.propose_splits(batch.border_length)
        with phase("merges"):
            mover.propose_merges()
            mover.remove_dead(batch.used)
        if config.follow != "nothing":
            with phase("following"):
                state.history.recentre(component, state.current, per_subcluster=config.follow == "halves")
        state.age += 1
        state.subcluster_age += 1
        self.id_of = mover.id_of
        self.events += mover.events

    def finish(self, batch: Batch) -> None:
        """Make the deterministic sweep that ends a batch, announce clusters, and append the batch to the history."""
        self.sweep(batch, self.config, sampling=False, splitting=self.config.split_last)
        state = self.state
        self._scored = self.posterior_component, state.total, self.config.log_alpha
        naming = Naming(state, self.genealogy, self.time, self.id_of)
        naming.announce_lasting(batch.used, self.config.patience)
        self.id_of = naming.id_of
        self.events += naming.events
        self._end_batch()
        state.history.append(self.time, state.current)

    def update(self, batch: Batch, time: float) -> None:
        """Take in a later batch: weight the history by its age at ``time``, then sweep."""
        state = self.state
        rows = batch.rows if self.config.revise is not None and isinstance(batch, Points) else None
        fit = math.nan if rows is None else self._fit()
        state.history.advance(time, self.config.forgetting_kernel, self.config.epsilon)
        state.current = np.zeros(state.history.past.shape)
        state.batch += 1
        state.sweep = 0
        self.time = time
        self.events, self.pending = self.pending, []
        for _ in range(self.config.sweeps):
            self.sweep(batch, self.config, sampling=True)
        if rows is not None:
            self._revise(rows, self.config.revise or 1, fit)
        self.finish(batch)

    def _fit(self) -> float:
        """How well the clusters fit the points of the past and of the batch: nats for each point."""
        return fit_of(self.posterior_component, self.state.total, self.config.log_alpha)

    def _revise(self, rows: Rows, every: int, fit: float) -> None:
        """Look for better clusters in the last few batches.

        That is done after ``every`` batches, or up to `LONGEST_WAIT` times as many if the last revisions have found the
        same clusters, in a batch that is much larger than those before, and in one that the clusters fit much worse
        than those before: their fit was ``fit``.
        """
        state, size = self.state, rows.total
        self.since_revision += 1
        left = max(0, self.revision_wait * every - self.since_revision)
        is_first_large = size > LARGE * state.history.largest_count
        needed = points_needed(len(state.ids))
        # What the past loses by the batch is the batch's loss.
        loss = (fit - self._fit()) * float(state.counts.sum()) / max(size, 1.0)
        is_unlike = loss > _UNLIKE * max(self.component.n_coordinates, _FEWEST_COORDINATES) and len(rows) >= needed
        is_needed = left == 0 or is_first_large or is_unlike
        if left >= RecentPoints.N_BATCHES and not is_needed:
            return
        mover = self._mover(counter_rng(self.config.seed, state.batch, _REVISION_SWEEP))
        if is_unlike:
            # Earlier points show clusters that are no longer there.
            self.recent = RecentPoints()
        self.recent.add(rows, needed if is_first_large or is_unlike else needed // RecentPoints.N_BATCHES, mover.rng)
        if is_needed:
            outcome = revise(mover, self.recent, size)
            self.since_revision = 0
            self.revision_wait = min(2 * self.revision_wait, LONGEST_WAIT) if outcome is Outcome.SAME else 1
            self.events += mover.events

    def remembers_fewer_than(self, count: float, time: float) -> bool:
        """Whether the past has fewer points at ``time``, time-weighted, and no single batch of it has as many."""
        history, config = self.state.history, self.config
        if history.largest_count >= count:
            return False
        return bool(history.counts_at(time, config.forgetting_kernel, config.epsilon).sum() < count)

    def has_faded(self, time: float) -> bool:
        """Whether the past says next to nothing any more at ``time``.

        That is so if forgetting, rather than small batches, has left no cluster enough points.
        """
        history, kernel = self.state.history, self.config.forgetting_kernel
        counts = history.counts_at(time, kernel, self.config.epsilon)
        newest = kernel_weights(kernel, np.array([time - history.times[-1]]))[0]
        return bool(counts.max() < _FADED_COUNT and newest < _FADED_WEIGHT)

    # --- between two batches

    def split(self, id: int) -> int:
        """Split a cluster; returns the new id.

        If it has hidden clusters, the largest of them is announced; otherwise its sub-clusters become clusters.
        """
        own, k = self.members(id)[0], largest_hidden(self.state, id)
        if k is None:
            mover = self._manual_mover()
            new = mover.force_split(own)
            self.pending += mover.events
            return new
        self.state.newcomer[k] = False
        naming = Naming(self.state, self.genealogy, self.time, self.id_of)
        new = naming.announce(k)
        self.id_of = naming.id_of
        self.pending += naming.events
        return new

    def merge(self, id: int, other: int) -> int:
        """Merge two clusters; returns the id of the larger one, which survives."""
        if id == other:
            raise ValueError(f"a merge takes two different segments, got {id} twice")
        mover = self._manual_mover()
        survivor = mover.force_merge(self.members(id)[0], self.members(other)[0])
        self.pending += mover.events
        return survivor

    def cut_out(self, id: int, statistics: npt.NDArray[np.float64]) -> int:
        """Make a new cluster from points of the last batch with statistics (P,), all of cluster ``id``.

        Returns its id. No event is recorded: for use before `register_births`.
        """
        k = int(np.flatnonzero(self.state.ids == id)[0])
        return self._mover(counter_rng(0, 0, 0)).cut_out(k, statistics)

    def reweigh_history(self) -> None:
        """Weight the history by its age at the last batch, after a change of how fast it is forgotten."""
        history = self.state.history
        self.state.history = History.restore(history.times, history.records.copy(), self.config.forgetting_kernel)

    def rescale(self, factor: float) -> None:
        """Multiply all statistics by a factor, as if every point had been seen ``factor`` times."""
        self.state.history.rescale(factor)
        self.state.current = self.state.current * factor

    def shift_time(self, offset: float) -> None:
        """Add an offset to all times, as if the stream had started so much later."""
        self.time += offset
        self.state.history.shift_time(offset)
        self.genealogy.shift_time(offset)
        self.events = [replace(event, time=event.time + offset) for event in self.events]
        self.pending = [replace(event, time=event.time + offset) for event in self.pending]

    def members(self, id: int) -> list[int]:
        """Indices of the cluster with this announced id and of its hidden ones; raises KeyError if there is none."""
        state = self.state
        found = np.flatnonzero(state.owner == id)
        if not len(found):
            raise KeyError(f"segment {id} is not alive")
        return sorted(found.tolist(), key=lambda k: bool(state.ids[k] != id))

    def _manual_mover(self) -> Mover:
        # Several moves before one batch draw different numbers.
        return self._mover(counter_rng(self.config.seed, self.state.batch, _MANUAL_SWEEPS + len(self.pending)))

    def _mover(self, rng: np.random.Generator) -> Mover:
        return Mover(self.config, self.posterior_component, self.state, self.genealogy, self.time, rng)


def has_converged(trace: list[tuple[int, float]], window: int = 60) -> bool:
    """Whether the number of clusters and the log posterior were stable over the last ``window`` sweeps.

    The window gives each cluster time for several initialisations of its sub-clusters.

    Parameters
    ----------
    trace : list of (int, float)
        Number of clusters and log posterior after each sweep.
    """
    if len(trace) < 2 * window:
        return False
    recent, before = trace[-window:], trace[-2 * window : -window]
    spread = max(k for k, _ in recent) - min(k for k, _ in recent)
    gain = np.mean([v for _, v in recent]) - np.mean([v for _, v in before])
    scale = np.std([v for _, v in recent]) + 1e-9
    return bool(spread <= 0.02 * recent[-1][0] and gain <= scale)
