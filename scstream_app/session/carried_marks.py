"""Carry names, colours and objects over to a run that continues another one with other segments."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scstream_app.objects import Colour, MarkedObject, ObjectEdit
from scstream_app.objects.edits import mask_from_png
from scstream_app.render.image_types import IdMap
from scstream_app.session.run_summary import Life
from scstream_app.session.storage.branch_point import WaitingMarks
from scstream_app.session.storage.marks import Names

#: A segment belongs to a region if more than this share of its pixels lies in the region.
_INSIDE = 0.5
#: Smallest intersection over union with which two segments count as the same.
_LEAST_OVERLAP = 0.2

Objects = tuple[MarkedObject, ...]
Region = npt.NDArray[np.bool_]


def divided_marks(
    names: Names, objects: Objects, lives: Mapping[int, Life], frame: int, last: int
) -> tuple[Names, Objects, WaitingMarks]:
    """Divide the marks of a run into those that hold before ``frame``, and those that wait for the new run.

    A segment that lives before the frame has the same id in both runs. A later one is looked for on the frame in the
    middle of its life; ``last`` is the last frame of the run.
    """
    known = {id for id, life in lives.items() if life.born < frame}
    marked = {*names.names, *names.colours, *names.hidden}
    later = {id: lives[id] for id in marked - known if id in lives}
    frames = {id: (life.born + (last if life.died is None else life.died - 1)) // 2 for id, life in later.items()}
    kept = tuple(_with_edits_where(one, lambda edit: edit.frame < frame) for one in objects)
    waits = tuple(_with_edits_where(one, lambda edit: edit.frame >= frame) for one in objects)
    waiting = WaitingMarks(
        _names_of(names, later.keys()),
        frames,
        tuple(one for one in waits if one is not None),
        tuple(one.name for one in objects),
    )
    return _names_of(names, marked - later.keys()), tuple(one for one in kept if one is not None), waiting


def _with_edits_where(object_: MarkedObject, wanted: Callable[[ObjectEdit], bool]) -> MarkedObject | None:
    edits = tuple(edit for edit in object_.edits if wanted(edit))
    return object_.with_edits(edits) if edits else None


def _names_of(names: Names, ids: Collection[int]) -> Names:
    return Names(
        {id: name for id, name in names.names.items() if id in ids},
        {id: colour for id, colour in names.colours.items() if id in ids},
        frozenset(names.hidden & set(ids)),
    )


@dataclass(frozen=True, slots=True)
class MatchedMarks:
    """Marks whose segments were found in the new run.

    Parameters
    ----------
    names : Names
        By the ids of the new run.
    edits : tuple of (str, tuple of int, ObjectEdit)
        Name and colour of an object, and one of its edits.
    rest : WaitingMarks
        Marks that still wait for their frames.
    lost : tuple of str
        Descriptions of the marks whose segments the new run does not have.
    """

    names: Names
    edits: tuple[tuple[str, Colour, ObjectEdit], ...]
    rest: WaitingMarks
    lost: tuple[str, ...]


def match_marks(
    waiting: WaitingMarks,
    stop: int,
    old_ids: Callable[[int], IdMap | None],
    new_ids: Callable[[int], IdMap | None],
) -> MatchedMarks:
    """Find the segments of marks that wait for frames before ``stop`` by their overlap in both runs.

    ``old_ids`` and ``new_ids`` return the ids of a frame: None if the old run is gone, or the new one lacks the frame.
    """
    names, lost = _matched_names(waiting, stop, old_ids, new_ids)
    edits: list[tuple[str, Colour, ObjectEdit]] = []
    for one in waiting.objects:
        for edit in one.edits:
            if edit.frame < stop:
                found = _matched_edit(edit, old_ids, new_ids)
                if found is None:
                    lost.append(f"an edit of object '{one.name}' on frame {edit.frame}")
                else:
                    edits.append((one.name, one.colour, found))
    later = [_with_edits_where(one, lambda edit: edit.frame >= stop) for one in waiting.objects]
    frames = {id: frame for id, frame in waiting.frames.items() if frame >= stop}
    rest = WaitingMarks(
        _names_of(waiting.names, frames.keys()), frames, tuple(one for one in later if one is not None), waiting.order
    )
    return MatchedMarks(names, tuple(edits), rest, tuple(lost))


def _matched_names(
    waiting: WaitingMarks,
    stop: int,
    old_ids: Callable[[int], IdMap | None],
    new_ids: Callable[[int], IdMap | None],
) -> tuple[Names, list[str]]:
    names: dict[int, str] = {}
    colours: dict[int, Colour] = {}
    hidden: set[int] = set()
    lost: list[str] = []
    for id, frame in waiting.frames.items():
        if frame >= stop:
            continue
        old, new = old_ids(frame), new_ids(frame)
        region = None if old is None else old == id
        best = None if region is None or new is None else most_alike(region, new)
        if best is None or region is None or new is None:
            title = waiting.names.names.get(id)
            lost.append(f"the marks of segment {id}" + (f" ('{title}')" if title else ""))
            continue
        if id in waiting.names.names:
            names.setdefault(best, waiting.names.names[id])
        for part in segments_inside(region, new) | {best}:
            if id in waiting.names.colours:
                colours.setdefault(part, waiting.names.colours[id])
            if id in waiting.names.hidden:
                hidden.add(part)
    return Names(names, colours, frozenset(hidden)), lost


def _matched_edit(
    edit: ObjectEdit, old_ids: Callable[[int], IdMap | None], new_ids: Callable[[int], IdMap | None]
) -> ObjectEdit | None:
    new = new_ids(edit.frame)
    if new is None:
        return None
    if edit.mask is not None:
        return edit.with_ids(segments_inside(mask_from_png(edit.mask, new.shape), new))
    old = old_ids(edit.frame)
    if old is None:
        return None
    region = np.isin(old, sorted(edit.ids))
    best = most_alike(region, new)
    found = segments_inside(region, new) or (frozenset() if best is None else frozenset({best}))
    return edit.with_ids(found) if found or not edit.ids else None


def segments_inside(region: Region, ids: IdMap) -> frozenset[int]:
    """Ids of the segments with more than half of their pixels in a region.

    >>> sorted(segments_inside(np.array([True, True, True, False]), np.array([4, 4, 7, 7], np.int32)))
    [4]
    """
    found, inside = np.unique(ids[region], return_counts=True)
    sizes = _sizes(ids, found)
    return frozenset(found[inside > _INSIDE * sizes].tolist())


def most_alike(region: Region, ids: IdMap) -> int | None:
    """Id of the segment with the largest intersection over union with a region; None if all are small.

    >>> most_alike(np.array([True, True, True, False]), np.array([4, 4, 7, 7], np.int32))
    4
    """
    found, inside = np.unique(ids[region], return_counts=True)
    if not len(found):
        return None
    overlap = inside / (np.count_nonzero(region) + _sizes(ids, found) - inside)
    place = int(np.argmax(overlap))
    return int(found[place]) if overlap[place] >= _LEAST_OVERLAP and found[place] >= 0 else None


def _sizes(ids: IdMap, wanted: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    every, counts = np.unique(ids, return_counts=True)
    return np.asarray(counts[np.searchsorted(every, wanted)], np.int64)


def with_matches(names: Names, objects: Objects, matched: MatchedMarks) -> tuple[Names, Objects]:
    """Add matched marks to those of the new run; what the user has changed there meanwhile wins."""
    merged = Names(
        {**matched.names.names, **names.names},
        {**matched.names.colours, **names.colours},
        names.hidden | matched.names.hidden,
    )
    found = {one.name: one for one in objects}
    for name, colour, edit in matched.edits:
        one = found.get(name)
        if one is None:
            found[name] = MarkedObject(name, colour, (edit,))
        elif edit not in one.edits:
            found[name] = one.with_edits((*one.edits, edit))
    return merged, _ordered(found.values(), matched.rest.order)


def _ordered(objects: Iterable[MarkedObject], order: Collection[str]) -> Objects:
    """Objects in the order of the run before, followed by new ones."""
    place = {name: n for n, name in enumerate(order)}
    return tuple(sorted(objects, key=lambda one: place.get(one.name, len(place))))
