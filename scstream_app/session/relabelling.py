"""Apply merges in the result: ids, statistics and events as if the merged segments had been one."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from scstream import Event
from scstream.sampler.genealogy import Kind
from scstream_app.render.image_types import IdMap
from scstream_app.session.storage.result_merges import ResultMerge

Sizes = Mapping[int, int]
Rows = npt.NDArray[np.void]
_CHANNELS = ("red", "green", "blue", "row", "column")


class Relabelling:
    """The merges of a session, in the order in which the user made them; it never changes.

    Examples
    --------
    >>> both = Relabelling([ResultMerge(frozenset({2, 5}), 2, frame=10), ResultMerge(frozenset({2, 7}), 2, frame=20)])
    >>> [sorted(both.labels(index, {2, 5, 7})) for index in (9, 10, 20)]
    [[2, 5, 7], [2, 7], [2]]
    >>> sorted(both.sources(20, {2}, {2, 5, 7, 8}))
    [2, 5, 7]
    """

    def __init__(self, merges: Iterable[ResultMerge] = ()) -> None:
        self.merges = tuple(merges)

    def holds(self, index: int) -> bool:
        """Whether any merge holds on a frame."""
        return any(merge.holds(index) for merge in self.merges)

    def label(self, index: int, id: int) -> int:
        """Id that a segment has on a frame after all merges."""
        for merge in self.merges:
            if merge.holds(index) and id in merge.ids:
                id = merge.into
        return id

    def labels(self, index: int, ids: Iterable[int]) -> frozenset[int]:
        """Ids that segments have on a frame after all merges."""
        return frozenset(self.label(index, id) for id in ids)

    def sizes(self, index: int, sizes: Sizes) -> dict[int, int]:
        """Pixels of each label on a frame, from those of the segments of the run."""
        found: dict[int, int] = {}
        for id, pixels in sizes.items():
            label = self.label(index, id)
            found[label] = found.get(label, 0) + pixels
        return found

    def sources(self, index: int, labels: Collection[int], ids: Iterable[int]) -> frozenset[int]:
        """Those of the segments ``ids`` of the run that have one of the ``labels`` on a frame."""
        return frozenset(id for id in ids if self.label(index, id) in labels)

    def token(self, index: int) -> str:
        """Short text that changes if the merges up to a frame do; empty without merges."""
        found = [(merge.frame, merge.into, sorted(merge.ids)) for merge in self.merges if merge.holds(index)]
        return hashlib.sha256(str(found).encode()).hexdigest()[:16] if found else ""

    # --- the parts of a result

    def ids(self, index: int, ids: IdMap) -> IdMap:
        """Ids of the pixels of a frame."""
        for merge in self.merges:
            if merge.holds(index):
                ids = np.where(np.isin(ids, sorted(merge.ids)), np.int32(merge.into), ids)
        return ids

    def statistics(self, index: int, rows: Rows) -> Rows:
        """Statistics of a frame: one row per label, largest first."""
        if not self.holds(index):
            return rows
        labels = np.array([self.label(index, id) for id in rows["id"].tolist()], np.int64)
        if len(np.unique(labels)) == len(labels):
            changed = rows.copy()
            changed["id"] = labels
            return changed
        groups = [rows[labels == label] for label in dict.fromkeys(labels.tolist())]
        merged = np.concatenate([_one_row(self.label(index, int(group["id"][0])), group) for group in groups])
        return np.asarray(merged[np.argsort(-merged["pixels"], kind="stable")])

    def events(
        self,
        index: int,
        previous: int | None,
        events: Sequence[Event],
        before: Callable[[], Sizes],
        after: Callable[[], Sizes],
    ) -> tuple[Event, ...]:
        """Events of a frame.

        Parameters
        ----------
        index : int
            The frame.
        previous : int, optional
            The frame before it; None for the first one.
        events : sequence of Event
            The events of the run.
        before, after : callable
            Return the pixels of each live segment of the run on the frame before, and on this frame.
        """
        for n, merge in enumerate(self.merges):
            if not merge.holds(index):
                continue
            earlier = Relabelling(self.merges[:n])
            if merge.frame is not None and (previous is None or previous < merge.frame):
                events = (*events, *_merge_events(merge, index, events, earlier.sizes(index, after())))
            elif any(merge.ids & set(event.ids) for event in events):
                live = {} if previous is None else earlier.sizes(previous, before())
                events = tuple(_as_one(merge, events, live.keys()))
        return tuple(events)


def _one_row(label: int, rows: Rows) -> Rows:
    """Statistics of the union of some segments; the distances between their mean colours are those in RGB."""
    merged = rows[:1].copy()
    merged["id"] = label
    if len(rows) == 1:
        return merged
    weights = np.maximum(rows["share"].astype(np.float64), 1e-12)
    weights = weights / weights.sum()
    for name in ("pixels", "share"):
        merged[name] = rows[name].sum()
    merged["born"], merged["age"] = rows["born"].min(), rows["age"].max()
    means = np.stack([rows[name] for name in _CHANNELS], axis=1).astype(np.float64)
    centre = weights @ means
    for name, value in zip(_CHANNELS, centre, strict=True):
        merged[name] = value
    off = means - centre
    merged["covariance"] = np.einsum("n,nij->ij", weights, rows["covariance"] + off[:, :, None] * off[:, None, :])
    return merged


def _merge_events(merge: ResultMerge, index: int, events: Sequence[Event], live: Sizes) -> Iterator[Event]:
    """Yield the events of the merge itself, on its first frame."""
    batch = events[0].batch if events else index
    whole = float(live.get(merge.into, 0))
    for id in sorted((merge.ids & live.keys()) - {merge.into}):
        part = float(live[id])
        # An event states the larger count first, whichever id survives.
        counts = max(whole, part), min(whole, part)
        yield Event(Kind.MERGE, float(index), batch, (merge.into, id), math.nan, counts)
        whole += part


def _as_one(merge: ResultMerge, events: Iterable[Event], live: Collection[int]) -> Iterator[Event]:
    """Yield events with the segments of a merge as one: it lives as long as any of them."""
    alive = set(merge.ids & set(live))
    for event in events:
        lived = bool(alive)
        first, last = event.ids[0], event.ids[-1]
        if event.kind in (Kind.BIRTH, Kind.SPLIT) and last in merge.ids:
            alive.add(last)
            hidden = lived
        elif event.kind in (Kind.MERGE, Kind.DEATH) and last in merge.ids:
            alive.discard(last)
            hidden = bool(alive) or (event.kind is Kind.MERGE and first in merge.ids)
        else:
            hidden = False
        if not hidden and not (len(event.ids) == 2 and {first, last} <= merge.ids):
            yield replace(event, ids=tuple(merge.into if id in merge.ids else id for id in event.ids))
