"""Undo commands for names, colours and visibility of segments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from scstream_app.render.palette import RGB
from scstream_app.session import Names
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.undo_commands.swap import SwapCommand
from scstream_app.ui.document.undo_commands.text import segments_text


class IsolateCommand(SwapCommand):
    """Isolates other segments; nothing is written to the session."""


def rename(document: Document, id: int, name: str) -> None:
    """Name a segment; an empty name removes its name."""
    names = {other: text for other, text in document.names.names.items() if other != id}
    if name:
        names[id] = name
    _set_names(document, replace(document.names, names=names), f"Rename segment {id}")


def recolour(document: Document, ids: Iterable[int], colour: RGB | None) -> None:
    """Give segments a colour; None: the colour of the palette."""
    chosen = frozenset(ids)
    colours = {id: rgb for id, rgb in document.names.colours.items() if id not in chosen}
    if colour is not None:
        colours.update(dict.fromkeys(sorted(chosen), colour))
    _set_names(document, replace(document.names, colours=colours), f"Recolour {segments_text(chosen)}")


def set_hidden(document: Document, ids: Iterable[int], hidden: bool) -> None:
    """Hide segments (draw them without tint), or show them."""
    chosen, now = frozenset(ids), document.names.hidden
    names = replace(document.names, hidden=now | chosen if hidden else now - chosen)
    _set_names(document, names, f"{'Hide' if hidden else 'Show'} {segments_text(chosen)}")


def _set_names(document: Document, names: Names, text: str) -> None:
    if names != document.names:
        document.undo.push(SwapCommand(document, text, document.set_names, document.names, names))


def isolate(document: Document, ids: Iterable[int]) -> None:
    """Dim all segments but these; without ids, or with the isolated ones, show all."""
    chosen, now = frozenset(ids), document.display.isolated
    after = frozenset[int]() if chosen == now else chosen
    if after != now:
        text = f"Isolate {segments_text(after)}" if after else "Show all segments"
        document.undo.push(IsolateCommand(document, text, document.display.isolate, now, after))


def has_user_work(document: Document) -> bool:
    """Return whether a session has objects or names, or changes by the user since it was opened, even undone ones."""
    undo = document.undo
    changed = any(not isinstance(undo.command(place), IsolateCommand) for place in range(undo.count()))
    return changed or bool(document.objects) or document.names != Names()
