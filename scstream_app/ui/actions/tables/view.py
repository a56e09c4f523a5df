"""Actions of the View menu."""

from __future__ import annotations

from collections.abc import Iterator

from scstream_app.render import views
from scstream_app.ui.actions.action_spec import ActionSpec, separator

_DIGITS = "1234567890"
#: The wipe, which only the window has, is the eighth view; new views of the table are behind it.
_WIPE_PLACE = 7
_SMALL_WORDS = frozenset({"and", "at", "by", "in", "of", "on", "or", "the", "to", "with"})


def _views() -> Iterator[ActionSpec]:
    """Yield the actions of the views, in the order of `views.VIEWS`; the first ten have the digits as keys."""
    titles = [(f"view_{name}", view.title) for name, view in views.VIEWS.items() if view.in_window]
    titles.insert(_WIPE_PLACE, ("view_wipe", "Wipe"))
    for place, (id, title) in enumerate(titles):
        keys = tuple(_DIGITS[place : place + 1])
        yield ActionSpec(id, "View", _headline(title), keys, "open document", checkable=True, group="view")


def _headline(title: str) -> str:
    """Write a title as menus do.

    >>> _headline("Side by side")
    'Side by Side'
    """
    return " ".join(word if word in _SMALL_WORDS else word[:1].upper() + word[1:] for word in title.split())


def _theme(id: str, title: str) -> ActionSpec:
    return ActionSpec(id, "View", title, checkable=True, group="theme")


def _panel(title: str) -> ActionSpec:
    tip = f"Show or hide the panel {title}"
    return ActionSpec(f"panel_{title.lower()}", "View", title, tip=tip, checkable=True)


VIEW: tuple[ActionSpec, ...] = (
    *_views(),
    separator("View"),
    ActionSpec(
        "show_objects",
        "View",
        "Show Objects",
        ("J",),
        "open document",
        "Tint and outline objects in their colours in all views but the matte",
        checkable=True,
    ),
    ActionSpec("fit", "View", "Fit to Window", ("F",), "open document"),
    ActionSpec("actual_size", "View", "Actual Size", ("Ctrl+0",), "open document"),
    ActionSpec("zoom_in", "View", "Zoom In", ("Ctrl++", "Ctrl+="), "open document"),
    ActionSpec("zoom_out", "View", "Zoom Out", ("Ctrl+-",), "open document"),
    ActionSpec("full_screen", "View", "Full Screen", ("F11",), tip="Fill the screen; hides the panels", checkable=True),
    ActionSpec("reset_layout", "View", "Reset Layout", tip="Put all panels back in their original places"),
    separator("View"),
    _theme("theme_system", "System Theme"),
    _theme("theme_light", "Light Theme"),
    _theme("theme_dark", "Dark Theme"),
    separator("View"),
    *(_panel(title) for title in ("Segments", "Objects", "Controls", "Statistics")),
)
