"""The rule that decides which actions are available: menus, buttons, context menus and keys all follow it."""

from __future__ import annotations

from scstream_app.ui.actions.actions import BY_ID
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.playback.frame_range import frames_left
from scstream_app.ui.document.state import State

_NOTHING_OPEN = "Open a video, images or a camera first"
#: The reason while the session is being moved.
SAVING = "Wait until the session is saved"
#: The reason while the open session cannot be written to.
READ_ONLY = f"This session is read-only: {BY_ID['save_as'].menu_path} makes a copy that can be changed"
#: Actions of the model, which changes before a frame that is segmented now or again.
_MODEL_ACTIONS = {"merge": "merged", "split": "split", "lock": "locked"}
#: What to do if the selection does not fit an action.
_SELECTION_HINTS = {
    "hide": "Select segments to hide them",
    "isolate": "Select segments to isolate them",
    "recolour": "Select segments to choose their colour",
    "rename": "Select one segment to rename it",
    "merge": "Select two segments or more to merge them (Ctrl+click adds one)",
    "split": "Select one segment to split it",
    "lock": "Select segments to lock them",
    "group": "Select segments to add them to an object",
    "ungroup": "Select segments to remove them from their object",
}
_HIGHLIGHT_HINTS = {
    "select_object": "Highlight an object in the list to select its segments",
    "rename_object": "Highlight an object in the list to rename it",
    "recolour_object": "Highlight an object in the list to choose its colour",
    "delete_object": "Highlight an object in the list to delete it",
}


def why_unavailable(document: Document, action: str, *, recording: bool = False, highlighted: str | None = None) -> str:
    """Return why an action is not available; empty if it is.

    Parameters
    ----------
    document : Document
    action : str
        Its id in the table of actions.
    recording : bool
        Whether a live source is being recorded.
    highlighted : str, optional
        Name of the object that is highlighted in the list of objects.
    """
    match BY_ID[action].needs:
        case "segments":
            return _why_not_on_segments(document, action)
        case "object" if highlighted is None:
            return _HIGHLIGHT_HINTS[action]
        case "object" if action == "select_object":
            # Selecting writes nothing.
            return SAVING if document.saving else ""
        case "object":
            return why_unchangeable(document)
        case "drawing":
            return _why_no_drawing(document)
        case "objects":
            return _why_no_drawing(document) or _why_no_objects(document)
        case "tracked objects":
            return _why_no_playback(document, action) or _why_no_objects(document)
        case "undo":
            return _why_no_undo(document, document.undo.canUndo(), "Nothing to undo")
        case "redo":
            return _why_no_undo(document, document.undo.canRedo(), "Nothing to redo")
        case "playback" | "play" | "steps":
            return _why_no_playback(document, action)
        case "run":
            return "" if can_edit(document) else "No segmentation is running"
        case "rest":
            return _why_no_rest(document)
        case "paused run":
            return _why_no_step(document)
        case "rerun":
            return why_no_rerun(document)
        case "live run":
            return _why_no_recording(document, recording)
    return _why_closed(document, action)


def why_disabled(document: Document, action: str, *, recording: bool = False, highlighted: str | None = None) -> str:
    """Return why an action's menu entry is disabled; empty if it is enabled. Parameters as in `why_unavailable`."""
    if BY_ID[action].needs in ("segments", "object") and not document.is_open:
        return _NOTHING_OPEN
    return why_unavailable(document, action, recording=recording, highlighted=highlighted)


def why_unchangeable(document: Document) -> str:
    """Return why the session cannot be changed now; empty if it can."""
    return SAVING if document.saving else READ_ONLY if document.read_only else ""


def _why_not_on_segments(document: Document, action: str) -> str:
    # Isolating writes nothing.
    if action != "isolate" and (reason := why_unchangeable(document)):
        return reason
    if action in _MODEL_ACTIONS and not can_edit(document) and (reason := _why_not_after_end(document, action)):
        return reason
    if action == "isolate" and document.display.isolated:
        return ""
    if action == "palette_colour":
        coloured = document.display.selection & document.names.colours.keys()
        return "" if coloured else "The selected segments have their palette colours"
    if not _selection_fits(len(document.display.selection), action):
        return _SELECTION_HINTS[action]
    if action == "group" and not can_group(document):
        return "Wait until this frame is segmented: its segments are not final yet"
    return _why_no_objects(document) if action == "ungroup" else ""


def _selection_fits(count: int, action: str) -> bool:
    if action == "merge":
        return count >= 2
    return count == 1 if action == "rename" else count >= 1


def _why_not_after_end(document: Document, action: str) -> str:
    """Return why an action of the model is not available while no frame is being segmented."""
    if document.session is None or document.state not in (State.DONE, State.STOPPED):
        return f"Segments can be {_MODEL_ACTIONS[action]} only while frames are being segmented"
    # Segments can be merged in the result as well.
    return "" if action == "merge" else why_no_rerun(document)


def why_no_rerun(document: Document) -> str:
    """Return why the clip cannot be segmented again from the frame shown on; empty if it can."""
    session = document.session
    if document.saving:
        return SAVING
    if not document.is_open:
        return _NOTHING_OPEN
    if session is None or session.manifest.source.live:
        return "Frames of a live source cannot be segmented again: its pictures are not stored"
    if session.recorded:
        return f"A recording can only be segmented again as a whole: choose {BY_ID['restart'].menu_path}"
    return "" if len(document.summary) else "Wait until the first frame is segmented"


def _why_closed(document: Document, action: str) -> str:
    match BY_ID[action].needs:
        case "something open or opening":
            return "Nothing is open" if document.state is State.EMPTY else ""
        case "open document":
            return "" if document.is_open else _NOTHING_OPEN
        case "idle document":
            return SAVING if document.saving else "" if document.is_open else _NOTHING_OPEN
        case "session" if document.saving:
            return SAVING
        case "session" if document.session is None:
            return "Record the live source first: it has no session" if document.live else _NOTHING_OPEN
    return ""


def _why_no_undo(document: Document, possible: bool, reason: str) -> str:
    return SAVING if document.saving else "" if possible else reason


def _why_no_playback(document: Document, action: str) -> str:
    """Of a live source only the last frames can be shown, and only while it is paused or has ended."""
    if not document.is_open:
        return _NOTHING_OPEN
    if not document.live:
        return ""
    match BY_ID[action].needs:
        case "play":
            return "The live source has ended" if document.state is State.STOPPED else ""
        case "steps":
            return "" if document.state in (State.PAUSED, State.STOPPED) else "Pause the live source first"
    return "Not available for a live source"


def _why_no_rest(document: Document) -> str:
    if document.session is None:
        return "Not available for a live source" if document.live else _NOTHING_OPEN
    if reason := why_unchangeable(document):
        return reason
    if document.state is not State.DONE:
        return "Frames are still being segmented" if can_edit(document) else "The segmentation has not ended"
    return "" if frames_left(document) else "All frames are segmented"


def _why_no_drawing(document: Document) -> str:
    if reason := why_unchangeable(document):
        return reason
    if not document.is_open:
        return _NOTHING_OPEN
    return "Record the live source and open the recording: its frames are not stored" if document.live else ""


def _why_no_objects(document: Document) -> str:
    return "" if document.objects else "There is no object yet"


def _why_no_step(document: Document) -> str:
    if not can_edit(document):
        return "No segmentation is running"
    if document.live:
        return "Not available for a live source"
    return "" if document.state is State.PAUSED else "Pause the segmentation first"


def _why_no_recording(document: Document, recording: bool) -> str:
    if not document.live:
        return "Open a camera or a stream to record it"
    return "" if recording or can_edit(document) else "The live source has ended"


def can_edit(document: Document) -> bool:
    """Return whether there is a next frame before which the model can change."""
    return document.state in (State.SETTLING, State.SEGMENTING, State.PAUSED)


def can_group(document: Document) -> bool:
    """Return whether the selection can become an object; ids are not final while a first frame settles."""
    index = document.display.index
    return bool(document.display.selection) and index is not None and document.summary.place(index) is not None
