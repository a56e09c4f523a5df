"""Which edits a frame's masks depend on, as a short text: stored masks are valid while it stays the same."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache

from scstream_app.objects.marked_object import MarkedObject

#: Number of the method of tracking: masks of another one are computed again.
METHOD = 5


def fingerprint(objects: Sequence[MarkedObject], index: int) -> str:
    """Hash of all that the masks of a frame depend on: the edits up to that frame that have not ended.

    Names, colours and later edits do not matter.

    Examples
    --------
    >>> from scstream_app.objects import ObjectEdit
    >>> kite = MarkedObject.made("kite", (230, 160, 0), 3, {4})
    >>> later = kite.with_edits([*kite.edits, ObjectEdit("removed", 20, {4})])
    >>> fingerprint([kite], 19) == fingerprint([later], 19), fingerprint([kite], 20) == fingerprint([later], 20)
    (True, False)
    >>> ended = kite.with_edits([*kite.edits, ObjectEdit("removed", 5, {4}, stop=9)])
    >>> fingerprint([kite], 8) == fingerprint([ended], 8), fingerprint([kite], 9) == fingerprint([ended], 9)
    (False, True)
    """
    moments = {moment for one in objects for edit in one.edits for moment in (edit.frame, edit.stop or 0)}
    return _fingerprint(tuple(objects), max((moment for moment in moments if moment <= index), default=-1))


@lru_cache(maxsize=256)
def _fingerprint(objects: tuple[MarkedObject, ...], last: int) -> str:
    found = hashlib.sha256(str(METHOD).encode())
    for place, one in enumerate(objects):
        for edit in one.edits:
            # An edit that has ended is as if it had not been made.
            if edit.frame <= last and (edit.stop is None or last < edit.stop):
                found.update(f"{place} {edit.kind} {edit.frame} {sorted(edit.ids)}\n".encode())
                found.update(edit.mask or b"")
    return found.hexdigest()[:16]
