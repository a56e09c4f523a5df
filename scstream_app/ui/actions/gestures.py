"""What the mouse does, and where, as data: the F1 sheet reads it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

Gestures = tuple[tuple[str, str], ...]

#: Places of the window, with gestures and what comes of them.
MOUSE: Mapping[str, Gestures] = MappingProxyType(
    {
        "Picture": (
            ("Click", "Select the segment; beside the picture: none"),
            ("Ctrl+click", "Add the segment to the selection, or take it out"),
            ("Double click", "Dim everything else; once more: nothing at all"),
            ("Right click", "Select the segment, unless it is; what can be done to it"),
            ("Drag", "Move the picture, with the left or the middle button"),
            ("Drag the divider", "Wipe: more of the original, or of the overlay"),
            ("Wheel, pinch", "Zoom at the cursor"),
            ("Rest", "Say which segment it is, its size, colour and certainty"),
            ("Drop a file or folder", "Open it"),
        ),
        "Timeline": (
            ("Click", "Go to the frame"),
            ("Click a mark", "Go to the event, and select its segments"),
            ("Drag", "Go through the frames"),
            ("Right click", "Go to the frame; where to go from there, in and out"),
            ("Rest", "Say what is or happened there"),
        ),
        "Segments": (
            ("Click", "Select the segment"),
            ("Ctrl+click, Shift+click", "Add it to the selection; all up to it"),
            ("Click the box", "Hide or show the segment"),
            ("Double click", "Its swatch: another colour; its name: rename; else: dim all others"),
            ("Right click", "What can be done to it; on the header: choose columns"),
        ),
        "Objects": (
            ("Click", "Select the object's segments"),
            ("Double click", "Rename it"),
            ("Right click", "What can be done to it"),
        ),
        "Over time": (
            ("Click", "Go to the frame"),
            ("Wheel", "Closer, or further away"),
            ("Drag", "Move along the run"),
            ("Click the A in a corner", "See the whole run again"),
        ),
        "Lives": (
            ("Click", "Select the segment"),
            ("Wheel, drag", "Closer or further away; move"),
        ),
        "Events": (("Click", "Go to the frame, and select the segments concerned"),),
        "Colours": (
            ("Click a disc", "Select the segment"),
            ("Ctrl+click", "Add it to the selection, or take it out"),
            ("Wheel, drag", "Closer or further away; move"),
        ),
    }
)
