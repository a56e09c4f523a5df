"""Objects of a live source in a recording, whose frames have other numbers, and which remembers longer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from scstream_app.objects import MarkedObject, ObjectEdit
from scstream_app.session.run_summary import RunSummary

Objects = tuple[MarkedObject, ...]
Edits = tuple[ObjectEdit, ...]


class RecordedObjects:
    """Translates the edits of objects from frames of a live source to those of its recording.

    The live source forgets old frames, and replaces older edits by the segments that objects have then; the recording
    keeps all edits.

    Parameters
    ----------
    position_of : callable
        Returns, for a frame of the source, the number of the first recorded frame at or after it, and the source's
        index of that one, or None if it is not recorded yet; see `LiveRecorder.position_of`.

    Attributes
    ----------
    final : bool
        Whether all edits returned last are final; otherwise `translate` must be called again after the next frame.
    """

    def __init__(self, position_of: Callable[[int], tuple[int, int | None]]) -> None:
        self._position_of = position_of
        self.final = False
        # All objects translated so far: they may come back by an undo.
        self._seen: dict[Objects, None] = {}
        # The first frame that the source remembers; for an object's name and edits at that frame, those of earlier
        # frames in the recording.
        self._first = -1
        self._earlier: dict[tuple[str, Edits], Edits] = {}

    def translate(self, objects: Objects, summary: RunSummary) -> Objects:
        """The objects as they are in the recording."""
        self._seen[objects] = None
        self.final = True
        begun = self._since_recording(objects, summary)
        return tuple(object_.with_edits(self._edits(object_, object_.edits, summary)) for object_ in begun)

    def forget_before(self, index: int, summary: RunSummary) -> None:
        """Keep the edits of frames that the source is about to forget."""
        first = self._position_of(0)[1]
        seen = {objects: summary.objects_at(objects, index) for objects in self._seen}
        if first is not None and first <= index:
            self._earlier = {
                (old.name, _until(new, index)): self._edits(old, _until(old, index), summary)
                for before, after in seen.items()
                for old, new in zip(self._since_recording(before, summary), after, strict=True)
                if old.frame <= index
            }
            self._first = index
        self._seen = dict.fromkeys(seen.values())

    def _since_recording(self, objects: Objects, summary: RunSummary) -> Objects:
        """The objects with the edits before the recording replaced by the segments that they have at its beginning."""
        first = self._position_of(0)[1]
        return objects if first is None or first > _last(summary) else summary.objects_at(objects, first)

    def _edits(self, object_: MarkedObject, edits: Edits, summary: RunSummary) -> Edits:
        """Edits of an object in the recording, including those that the source has forgotten."""
        past = _until(object_, self._first)
        earlier = self._earlier.get((object_.name, past)) or self._earlier_of_another_name(past)
        if earlier:
            return *earlier, *(self._translated(edit, summary) for edit in edits[len(past) :])
        return tuple(self._translated(edit, summary) for edit in edits)

    def _earlier_of_another_name(self, past: Edits) -> Edits:
        """Earlier edits of an object that was renamed since: no other one has the same segments."""
        found = (edits for (_, known), edits in self._earlier.items() if known == past and past[0].ids)
        return next(found, ()) if past else ()

    def _translated(self, edit: ObjectEdit, summary: RunSummary) -> ObjectEdit:
        place, index = self._position_of(edit.frame)
        stop = None if edit.stop is None else max(self._position_of(edit.stop)[0], place + 1)
        if index is None or index > _last(summary):
            self.final = False
            return replace(edit, frame=place, stop=stop)
        if edit.stop is not None and self._position_of(edit.stop)[1] is None:
            self.final = False
        if index == edit.frame:
            return replace(edit, frame=place, stop=stop)
        # The frame was not recorded: its mask fits no other frame.
        kind = "made" if edit.kind == "painted" else edit.kind
        return ObjectEdit(kind, place, summary.followed(edit.ids, edit.frame, index), stop=stop)


def _last(summary: RunSummary) -> int:
    return summary.frames[-1] if len(summary) else -1


def _until(object_: MarkedObject, index: int) -> Edits:
    """Edits of an object up to and including a frame."""
    return tuple(edit for edit in object_.edits if edit.frame <= index)
