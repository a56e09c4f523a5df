"""Actions of the Help menu."""

from __future__ import annotations

from scstream_app.ui.actions.action_spec import ActionSpec

HELP: tuple[ActionSpec, ...] = (
    ActionSpec("guide", "Help", "Guide"),
    ActionSpec("shortcuts", "Help", "Keys and Mouse", ("F1",)),
    ActionSpec("about", "Help", "About ScStream Studio"),
)
