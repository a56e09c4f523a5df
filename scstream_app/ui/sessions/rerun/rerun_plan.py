"""What to segment again, from which frame on, and with which edits of the model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from scstream_app.errors import SettingsError
from scstream_app.pipeline.edits import Edit
from scstream_app.session.run_summary import RunSummary
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State
from scstream_app.ui.document.undo_commands.text import segments_text

#: Edits that the model may reverse soon, so that their segments are locked.
_REVERSIBLE = ("merge", "split")


@dataclass(frozen=True, slots=True)
class RerunPlan:
    """Frames to segment again.

    Parameters
    ----------
    frame : int
        The first of them.
    edits : tuple of Edit
        Edits of the model before that frame.
    title : str
        Describes the change, for messages and the undo menu.
    """

    frame: int
    edits: tuple[Edit, ...]
    title: str

    @property
    def split(self) -> tuple[int, ...]:
        """Ids of the segments that are split."""
        return tuple(id for edit in self.edits if edit.kind == "split" for id in edit.ids)


def plan_again(frame: int) -> RerunPlan:
    """Plan to segment again without an edit."""
    return RerunPlan(frame, (), f"Segment again from frame {frame} on")


def plan_settings(document: Document, frame: int, edit: Edit) -> RerunPlan:
    """Plan to segment again with other settings."""
    session = document.session
    if session is not None and frame == session.manifest.start:
        # There are no segments yet which could start anew.
        edit = replace(edit, kind="change")
    return RerunPlan(frame, (edit,), f"Change settings from frame {frame} on")


def plan_edit(document: Document, frame: int, kind: str, ids: Iterable[int]) -> RerunPlan:
    """Plan an edit of segments on a frame; raises SettingsError if it is impossible there.

    A segment that begins on the frame is unknown to the model before it. The edit is then made before the next frame.
    """
    chosen = tuple(sorted(ids))
    check_alive(document.summary, chosen, frame)
    first = max(frame, *(document.summary.lives[id].born + 1 for id in chosen))
    if first > document.summary.frames[-1] and document.state is State.DONE:
        raise SettingsError(f"No frame follows the one on which {segments_text(chosen)} begin: choose an earlier frame")
    title = f"{kind.capitalize()} {segments_text(chosen)} from frame {first} on"
    session = document.session
    if session is not None and session.relabelling.holds(frame):
        # The model does not know of merges in the result.
        chosen = session.stored_ids_of(frame, chosen)
    locks = (Edit("lock", chosen),) if kind in _REVERSIBLE else ()
    return RerunPlan(first, (*locks, _edit(kind, chosen)), title)


def _edit(kind: str, ids: tuple[int, ...]) -> Edit:
    return Edit.from_dict({"kind": kind, "ids": ids, "values": {}})


def check_alive(summary: RunSummary, ids: Iterable[int], frame: int) -> None:
    """Raise SettingsError if one of the segments is not on the frame."""
    for id in ids:
        life = summary.lives.get(id)
        if life is None or life.born > frame or (life.died is not None and life.died <= frame):
            raise SettingsError(f"Segment {id} is not on this frame: go to a frame that has all selected segments")
