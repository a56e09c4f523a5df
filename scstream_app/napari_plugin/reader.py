"""Reader of sessions, the folders NAME.scstream, for napari."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from scstream_app.napari_plugin.session_layers import session_layers
from scstream_app.napari_plugin.tracks import LayerData
from scstream_app.session import SUFFIX, Session

Paths = str | Sequence[str]


def get_reader(path: Paths) -> Callable[[Paths], list[LayerData]] | None:
    """Return the reader of these paths; None if one of them is not named like a session."""
    return read_sessions if all(Path(one).suffix == SUFFIX for one in _listed(path)) else None


def read_sessions(path: Paths) -> list[LayerData]:
    """Layers of the sessions at these paths; raises SessionError if one cannot be opened."""
    from napari.utils.notifications import show_warning

    return [layer for one in _listed(path) for layer in session_layers(Session.open(one), show_warning)]


def _listed(path: Paths) -> list[str]:
    return [path] if isinstance(path, str) else list(path)
