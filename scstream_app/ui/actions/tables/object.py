"""Actions of the Object menu and the Objects panel."""

from __future__ import annotations

from scstream_app.ui.actions.action_spec import ActionSpec, Needs, separator


def _tool(id: str, title: str, key: str, tip: str) -> ActionSpec:
    needs: Needs = "open document" if id == "tool_select" else "drawing"
    return ActionSpec(id, "Object", title, (key,), needs, tip, checkable=True, group="tool")


#: Tools of the viewer.
_TOOLS = (
    _tool("tool_select", "Select", "V", "Click segments or drag over them to select them"),
    _tool("tool_brush", "Brush", "B", "Paint the object on this frame; it is tracked from there"),
    _tool("tool_eraser", "Eraser", "E", "Erase from the object on this frame; it is tracked from there"),
    _tool("tool_lasso", "Lasso", "Q", "Draw around an area to add it to the object; with Ctrl, remove it"),
    _tool("tool_box", "Box", "X", "Draw a box around a thing to make it the object"),
)

OBJECT: tuple[ActionSpec, ...] = (
    ActionSpec(
        "group",
        "Object",
        "Add to Object…",
        ("G",),
        "segments",
        "Add the selected segments to a new or an existing object; objects can be cut out and exported",
    ),
    ActionSpec(
        "ungroup",
        "Object",
        "Remove from Object",
        ("Del",),
        "segments",
        "Remove the selected segments from the highlighted object, or else from all objects; "
        "'Edits hold' in the Objects panel says on which frames",
    ),
    separator("Object"),
    *_TOOLS,
    ActionSpec(
        "tool_snap",
        "Object",
        "Snap to Segments",
        ("S",),
        "drawing",
        "Take whole segments: those that a stroke mostly covers, and those that the brush's centre touches",
        checkable=True,
    ),
    ActionSpec("brush_smaller", "Object", "Smaller Brush", ("Shift+[",), "drawing"),
    ActionSpec("brush_larger", "Object", "Larger Brush", ("Shift+]",), "drawing"),
    separator("Object"),
    ActionSpec(
        "carry_back",
        "Object",
        "Carry Back from Here",
        ("Shift+B",),
        "objects",
        "Track the highlighted object from this frame back to its edit before, or to the first frame of the scene; "
        "this frame and later ones stay as they are",
    ),
    ActionSpec(
        "load_mask",
        "Object",
        "Load Mask as Object…",
        ("Ctrl+M",),
        "drawing",
        "Make an object of a mask of this frame; a mask of several colours makes several objects",
    ),
    separator("Object"),
    ActionSpec(
        "next_low",
        "Object",
        "Next Frame of Low Confidence",
        ("Shift+N",),
        "tracked objects",
        "Go to the next frame at which the highlighted object, or else any object, is tracked badly",
    ),
    ActionSpec("previous_low", "Object", "Previous Frame of Low Confidence", ("Shift+P",), "tracked objects"),
    separator("Object"),
    ActionSpec(
        "select_object",
        "Object",
        "Select Its Segments",
        needs="object",
        tip="Select the segments of which the highlighted object has at least half on this frame",
    ),
    ActionSpec("rename_object", "", "Rename…", needs="object", tip="Rename the highlighted object", keys_of="rename"),
    ActionSpec(
        "recolour_object", "Object", "Colour…", needs="object", tip="Choose a colour for the highlighted object"
    ),
    ActionSpec(
        "delete_object", "Object", "Delete", needs="object", tip="Delete the highlighted object; its segments stay"
    ),
)
