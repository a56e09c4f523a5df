"""Texts about the reach of edits: names of the choices, and the frames at which an edit holds."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from scstream_app.objects import ObjectEdit
from scstream_app.objects.reach import Reach
from scstream_app.plural import counted
from scstream_app.ui.document.undo_commands.text import segments_text

#: Names of the reaches, in the order of menus.
REACHES: Mapping[Reach, str] = MappingProxyType(
    {
        Reach.ONWARD: "From here on",
        Reach.BEFORE: "Before",
        Reach.EVERYWHERE: "Everywhere",
        Reach.FRAME: "This frame only",
    }
)
#: What each reach means, for an edit of the frame shown.
REACH_TIPS: Mapping[Reach, str] = MappingProxyType(
    {
        Reach.ONWARD: "On this frame and all later ones; earlier frames stay as they are",
        Reach.BEFORE: "On the frames before this one, back to where the object begins; this frame and later ones stay",
        Reach.EVERYWHERE: "On all frames of the scene, back to where the object begins",
        Reach.FRAME: "On this frame; all others stay as they are",
    }
)


def reach_phrase(reach: Reach, frame: int, ended_by: ObjectEdit | None = None) -> str:
    """Say where an edit of a frame holds, as the end of a sentence; ``ended_by`` is the later edit that replaces it.

    >>> reach_phrase(Reach.BEFORE, 20), reach_phrase(Reach.ONWARD, 20)
    (' on the frames before frame 20', ' from frame 20 on')
    >>> reach_phrase(Reach.ONWARD, 20, ObjectEdit("made", 30, {4}))
    ' on frames 20 to 29 (on frame 30 it is made anew)'
    """
    match reach:
        case Reach.BEFORE:
            return f" on the frames before frame {frame}"
        case Reach.EVERYWHERE:
            return " on all frames"
        case Reach.FRAME:
            return f" on frame {frame} only"
    if ended_by is None:
        return f" from frame {frame} on"
    last = ended_by.frame - 1
    where = f"on frames {frame} to {last}" if last > frame else f"on frame {frame} only"
    return f" {where} (on frame {ended_by.frame} it is {'painted' if ended_by.mask else 'made anew'})"


def edit_text(edit: ObjectEdit) -> str:
    """Describe an edit with its frames.

    >>> edit_text(ObjectEdit("made", 0, {1, 2})), edit_text(ObjectEdit("removed", 20, {2}, stop=30))
    ('Frame 0: made of segments 1 and 2', 'Frames 20 to 29: segment 2 removed')
    """
    last = None if edit.stop is None else edit.stop - 1
    where = f"Frame {edit.frame}" if last in (None, edit.frame) else f"Frames {edit.frame} to {last}"
    if edit.kind == "painted":
        return f"{where}: painted"
    segments = segments_text(edit.ids) if edit.ids else "no segments"
    return f"{where}: made of {segments}" if edit.kind == "made" else f"{where}: {segments} {edit.kind}"


def key_text(edit: ObjectEdit) -> str:
    """Describe an edit in the tooltip of its key: kind, frame, reach and number of segments.

    >>> print(key_text(ObjectEdit("removed", 20, {2, 5})))
    Removed on frame 20
    Holds from frame 20 on
    2 segments
    """
    if edit.stop is None:
        holds = f"from frame {edit.frame} on"
    elif edit.stop == edit.frame + 1:
        holds = "on this frame only"
    else:
        holds = f"on frames {edit.frame} to {edit.stop - 1}"
    if edit.mask is not None:
        return f"Painted or erased on frame {edit.frame}\nHolds {holds}"
    return f"{edit.kind.capitalize()} on frame {edit.frame}\nHolds {holds}\n{counted(len(edit.ids), 'segment')}"
