"""When actions on segments are available: one rule for menus, buttons and shortcuts."""

from __future__ import annotations

from scstream_app.ui.actions.actions import BY_ID
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State

#: Actions of the model: they need a next frame before which the model can change.
_MODEL_ACTIONS = {"merge": "merged", "split": "split", "lock": "locked"}
#: What to do if the selection does not fit an action.
_SELECTION_HINTS = {
    "hide": "Select segments to hide them",
    "isolate": "Select segments to see them alone",
    "recolour": "Select segments to give them a colour",
    "rename": "Select one segment to rename it",
    "merge": "Select two segments or more to merge them (Ctrl+click adds one)",
    "split": "Select one segment to split it",
    "lock": "Select segments to lock them",
    "group": "Select segments to add them to an object",
    "ungroup": "Select segments to remove them from their object",
}
#: The reason while the session is being moved.
SAVING = "Wait until the session is saved"


def why_unavailable(document: Document, action: str) -> str:
    """Return why an action on the selected segments is not available; an empty string if it is.

    Parameters
    ----------
    document : Document
    action : str
        One of "hide", "isolate", "recolour", "rename", "merge", "split", "lock", "group", "ungroup".
    """
    # Isolating writes nothing to the session.
    if document.saving and action != "isolate":
        return SAVING
    if action in _MODEL_ACTIONS and not can_edit(document):
        only = f"Segments can be {_MODEL_ACTIONS[action]} only while frames are being segmented"
        return only + _hint_to_restart(document, action)
    if action == "isolate" and document.display.isolated:
        return ""
    if not _selection_fits(len(document.display.selection), action):
        return _SELECTION_HINTS[action]
    if action == "group" and not can_group(document):
        return "Wait until this frame has settled: its segments are not final yet"
    if action == "ungroup" and not document.objects:
        return "There is no object yet"
    return ""


def _selection_fits(count: int, action: str) -> bool:
    if action == "merge":
        return count >= 2
    return count == 1 if action == "rename" else count >= 1


def _hint_to_restart(document: Document, action: str) -> str:
    """Return what to do if all frames are segmented."""
    if document.session is None or document.state not in (State.DONE, State.STOPPED):
        return ""
    first = "add them to an object, or " if action == "merge" else ""
    return f": {first}choose {BY_ID['restart'].menu_path} and pause it"


def can_edit(document: Document) -> bool:
    """Return whether there is a next frame before which the model can change."""
    return document.state in (State.SETTLING, State.SEGMENTING, State.PAUSED)


def can_group(document: Document) -> bool:
    """Return whether the selection can become an object; ids are not final while a first frame settles."""
    index = document.display.index
    selected = bool(document.display.selection)
    return selected and index is not None and document.summary.place(index) is not None
