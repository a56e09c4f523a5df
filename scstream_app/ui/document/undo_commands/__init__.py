"""Undo commands: everything that the user does to segments and objects; `Document.undo` is their stack."""

from scstream_app.ui.document.undo_commands.marks import has_user_work, isolate, recolour, rename, set_hidden
from scstream_app.ui.document.undo_commands.model_edits import keep_split, merge, note_failed, set_locked, split
from scstream_app.ui.document.undo_commands.objects import (
    add_to_object,
    delete_edit,
    delete_object,
    last_object,
    make_object,
    members_within,
    move_edit,
    recolour_object,
    remove_from_objects,
    rename_object,
    set_reach,
)
from scstream_app.ui.document.undo_commands.text import segments_text, sentence

__all__ = [
    "add_to_object",
    "delete_edit",
    "delete_object",
    "has_user_work",
    "isolate",
    "keep_split",
    "last_object",
    "make_object",
    "members_within",
    "merge",
    "move_edit",
    "note_failed",
    "recolour",
    "recolour_object",
    "remove_from_objects",
    "rename",
    "rename_object",
    "segments_text",
    "sentence",
    "set_hidden",
    "set_locked",
    "set_reach",
    "split",
]
