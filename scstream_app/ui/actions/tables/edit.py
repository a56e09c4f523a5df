"""Actions of the Edit menu and the Segments panel."""

from __future__ import annotations

from scstream_app.ui.actions.action_spec import ActionSpec, separator

EDIT: tuple[ActionSpec, ...] = (
    ActionSpec("undo", "Edit", "Undo", ("Ctrl+Z",), "undo"),
    ActionSpec("redo", "Edit", "Redo", ("Ctrl+Shift+Z", "Ctrl+Y"), "redo"),
    separator("Edit"),
    ActionSpec(
        "hide", "Edit", "Hide or Show Segments", ("H",), "segments", "Hide or show the selected segments", word="Hide"
    ),
    ActionSpec(
        "isolate",
        "Edit",
        "Isolate or Show All",
        needs="segments",
        tip="Dim all but the selected segments, or show all again",
        word="Isolate",
    ),
    ActionSpec(
        "recolour", "", "Colour…", needs="segments", tip="Choose a colour for the selected segments in the overlay"
    ),
    ActionSpec(
        "rename", "Edit", "Rename…", ("F2",), "segments", "Rename the selected segment or object", word="Rename"
    ),
    ActionSpec(
        "merge",
        "Edit",
        "Merge Segments",
        ("M",),
        "segments",
        "Merge the selected segments from the next frame on, and lock the result",
        word="Merge",
    ),
    ActionSpec(
        "split",
        "Edit",
        "Split Segment",
        ("Alt+M",),
        "segments",
        "Split the selected segments into their sub-clusters from the next frame on, and lock the parts; "
        "the dashed line in the newest frame shows where",
        word="Split",
    ),
    ActionSpec(
        "lock",
        "Edit",
        "Lock or Unlock Segments",
        needs="segments",
        tip="Keep the model from splitting or merging the selected segments",
        word="Lock",
    ),
    ActionSpec(
        "palette_colour", "", "Palette Colour", needs="segments", tip="Give the selected segments their palette colours"
    ),
    separator("Edit"),
    ActionSpec("preferences", "Edit", "Preferences…", ("Ctrl+,",)),
)
