"""Names of clusters: which id each has, whether it is announced yet, and the events that tell of ids."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scstream.components.base import Array
from scstream.sampler.genealogy import Event, Genealogy, Kind
from scstream.sampler.sweep import State

#: Id and owner of a cluster that has been absorbed or has died, until it is removed.
_NOBODY = -1
#: The log Hastings ratio of an event that no move has made.
_NO_RATIO = float("nan")


class Naming:
    """Names the clusters of a state and records events. It changes no statistics and draws no random numbers.

    Parameters
    ----------
    state : State
        Changed in place.
    genealogy : Genealogy
        Records the events.
    time : float
        Time of the batch.
    id_of : array (2 K,), optional
        Id of the cluster that has each label 2 k + j of the last sweep. Default: no move has been made since.

    Attributes
    ----------
    events : list of Event
        Events recorded so far.
    id_of : array (2 K,)
        The same after the moves.
    """

    def __init__(
        self, state: State, genealogy: Genealogy, time: float, id_of: npt.NDArray[np.int64] | None = None
    ) -> None:
        self.state = state
        self.genealogy = genealogy
        self.time = time
        self.events: list[Event] = []
        self.id_of = np.repeat(state.ids, 2) if id_of is None else id_of.copy()

    def record(self, kind: Kind, ids: tuple[int, ...], counts: tuple[float, ...], log_hastings: float) -> None:
        """Record an event of the batch."""
        event = Event(kind, self.time, self.state.batch, ids, log_hastings, counts)
        self.genealogy.record(event)
        self.events.append(event)

    # --- announcing hidden clusters

    def announce_lasting(self, used: npt.NDArray[np.bool_], patience: int) -> None:
        """Announce the hidden clusters that split off ``patience`` batches ago or earlier, the earliest id first.

        A cluster without a point in the batch waits until it has one, and until the rest of its owner has one: a
        segment that is out of sight is not divided. Nor is a locked one.

        Parameters
        ----------
        used : array (2 K,)
            See `Batch.used`.
        patience : int
        """
        state = self.state
        due = (state.hidden & (state.born <= state.batch - patience) & state.unlocked).nonzero()[0]
        if not len(due):
            return
        visible = np.isin(state.ids, self.id_of[used])
        for k in due[np.argsort(state.ids[due])].tolist():
            if visible[k] and (state.newcomer[k] or (visible & _rest(state, k)).any()):
                self.announce(k)

    def announce(self, k: int) -> int:
        """Announce hidden cluster k; returns the new id.

        A newcomer is born. Otherwise its owner is split: the larger part keeps the owner's id.
        """
        state = self.state
        if state.newcomer[k]:
            self._announce_part(k, (0.0, float(state.counts[k])), _NO_RATIO)
            return int(state.ids[k])
        part = smaller_part(state, k)
        counts, whole = state.counts, state.owner == state.owner[k]
        own = k
        if not part[k]:
            own = int(np.flatnonzero(state.ids == state.owner[k])[0])
            self._exchange(k, own)
        self._announce_part(own, (float(counts[whole & ~part].sum()), float(counts[part].sum())), _NO_RATIO)
        state.owner[part] = state.ids[own]
        return int(state.ids[own])

    def _announce_part(self, k: int, counts: tuple[float, float], ratio: float) -> None:
        """Give hidden cluster k an id of its own; ``counts`` are those of the rest of its owner and of this part."""
        state = self.state
        if state.ids[k] < state.owner[k]:
            # It has changed its owner. Children have larger ids than their parents.
            self._rename(k, self.genealogy.new_id())
        owner, id = int(state.owner[k]), int(state.ids[k])
        if state.newcomer[k]:
            self.record(Kind.BIRTH, (id,), counts[1:], _NO_RATIO)
        else:
            self.record(Kind.SPLIT, (owner, id), counts, ratio)
        state.owner[k], state.newcomer[k], state.born[k] = id, False, state.batch

    # --- naming after a move

    def name_split(self, k: int, new: int, counts: Array, ratio: float, entering: int | None, hide: bool) -> None:
        """Name the two parts of what was cluster k; ``new`` is the index of the smaller one, with the same owner.

        Parameters
        ----------
        k, new : int
        counts : array (2,)
            Counts of the sub-clusters.
        ratio : float
        entering : int or None
            Sub-cluster that is a newcomer. The other one then keeps the id whatever its size.
        hide : bool
            Whether to leave it to `announce_lasting` to announce the new id.
        """
        state = self.state
        state.newcomer[new] = state.newcomer[k]
        small = int(np.argmin(counts))
        part, child = (small, new) if entering is None else (entering, new if entering == small else k)
        if child == k:
            # Only the names are exchanged: random draws go by index, and names must not change the labels.
            self._exchange(k, new)
        self.id_of[2 * k + small], self.id_of[2 * k + 1 - small] = state.ids[new], state.ids[k]
        if entering is not None:
            state.newcomer[child] = True
        if hide:
            return
        others = state.owner == state.owner[k]
        others[[k, new]] = False
        rest = float(state.counts[others].sum()) if others.any() else 0.0
        self._announce_part(child, (float(counts[1 - part]) + rest, float(counts[part])), ratio)

    def name_merged(self, large: int, small: int, counts: Array, ratio: float, adopt: bool = False) -> None:
        """Give the cluster at ``large``, which absorbs the one at ``small``, the id that survives.

        An announced id survives a hidden one. Of two of a kind, that of the larger cluster survives.

        Parameters
        ----------
        large, small : int
        counts : array (K,)
            Counts of all clusters.
        ratio : float
        adopt : bool
            Whether whole segments are merged: hidden clusters of the absorbed owner go to the survivor. Otherwise the
            largest of them takes over the absorbed id.
        """
        state = self.state
        if state.hidden[large] and not state.hidden[small]:
            self._exchange(large, small)
        survivor, absorbed = int(state.owner[large]), int(state.owner[small])
        sizes = float(counts[state.owner == survivor].sum()), float(counts[state.owner == absorbed].sum())
        if adopt:
            if sizes[0] < sizes[1]:
                self._exchange(large, small)
                survivor, absorbed, sizes = absorbed, survivor, sizes[::-1]
            self._adopt(survivor, absorbed)
        self.id_of[self.id_of == state.ids[small]] = state.ids[large]
        if self._give_up(small):
            self.record(Kind.MERGE, (survivor, absorbed), sizes, ratio)

    def name_dead(self, k: int, count: float) -> None:
        """Take the name from cluster k, which is about to be removed, and record its death."""
        id = int(self.state.ids[k])
        if self._give_up(k):
            self.record(Kind.DEATH, (id,), (count,), _NO_RATIO)

    def inherit(self, id: int, born: int) -> bool:
        """Let the largest hidden cluster of an owner that is gone take over its id; returns whether there is one."""
        state = self.state
        heirs = np.flatnonzero(state.owner == id)
        if not len(heirs):
            return False
        heir = int(heirs[np.argmax(state.counts[heirs])])
        self._rename(heir, id)
        state.born[heir], state.newcomer[heir] = born, False
        return True

    def discard(self, id: int) -> None:
        """Forget the id of a hidden cluster."""
        self.genealogy.discard(id)
        self.state.locked -= {id}

    def _give_up(self, k: int) -> bool:
        """Take the name from cluster k; returns whether its id ends, rather than was hidden or lives on in an heir."""
        state = self.state
        id, is_hidden = int(state.ids[k]), bool(state.hidden[k])
        state.ids[k] = state.owner[k] = _NOBODY
        if is_hidden:
            self.discard(id)
            return False
        return not self.inherit(id, int(state.born[k]))

    def _adopt(self, survivor: int, absorbed: int) -> None:
        """Give the hidden clusters of one owner to another."""
        state = self.state
        children = state.hidden & (state.owner == absorbed)
        state.owner[children] = survivor
        ids = frozenset(state.ids[children].tolist())
        state.locked = state.locked | ids if survivor in state.locked else state.locked - ids

    def _rename(self, k: int, id: int) -> None:
        """Give hidden cluster k another id."""
        state = self.state
        before = int(state.ids[k])
        state.ids[k] = id
        self.id_of[self.id_of == before] = id
        if before in state.locked:
            state.locked |= {id}
        self.discard(before)

    def _exchange(self, a: int, b: int) -> None:
        """Exchange the names of two clusters."""
        state = self.state
        first, second = self.id_of == state.ids[a], self.id_of == state.ids[b]
        self.id_of[first], self.id_of[second] = state.ids[b], state.ids[a]
        for names in (state.ids, state.owner, state.newcomer, state.born):
            names[[a, b]] = names[[b, a]]


def largest_hidden(state: State, id: int) -> int | None:
    """Index of the largest hidden cluster of an owner; None if it has none."""
    found = np.flatnonzero(state.hidden & (state.owner == id))
    return int(found[np.argmax(state.counts[found])]) if len(found) else None


def smaller_part(state: State, k: int) -> npt.NDArray[np.bool_]:
    """Which clusters (K,) get the new id if hidden cluster k is split from its owner: k, or the rest if smaller."""
    counts, rest = state.counts, _rest(state, k)
    if counts[k] > counts[rest].sum():
        return rest
    part = np.zeros(len(rest), bool)
    part[k] = True
    return part


def _rest(state: State, k: int) -> npt.NDArray[np.bool_]:
    """The other clusters (K,) of the owner of cluster k."""
    rest: npt.NDArray[np.bool_] = state.owner == state.owner[k]
    rest[k] = False
    return rest
