"""Mouse gestures by part of the window, for the F1 sheet."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

Gestures = tuple[tuple[str, str], ...]

#: Gestures and what they do, by part of the window.
MOUSE: Mapping[str, Gestures] = MappingProxyType(
    {
        "Picture": (
            ("Click", "Select the segment; outside the picture: clear the selection"),
            ("Ctrl+click", "Add the segment to the selection, or remove it"),
            ("Drag over segments", "Select all segments that the mouse passes; Ctrl adds them, Alt removes them"),
            ("Double click", "Isolate; double-click again to show all"),
            ("Right click", "Select the segment and show its menu"),
            ("Middle or right drag", "Move the picture; also Space+drag, or a drag that begins beside the picture"),
            ("Drag the divider", "Wipe: show more of the original or of the overlay"),
            ("Wheel, pinch", "Zoom at the cursor"),
            ("Hover", "Show the segment's id, size, colour and certainty"),
            ("Esc", "Clear the selection"),
            ("Drop a file or folder", "Open it"),
        ),
        "Drawing tools": (
            ("Drag", "Brush, eraser: paint the object or erase from it; lasso, box: draw around it"),
            ("Alt+drag, Ctrl+drag", "Lasso: remove the area from the object"),
            ("Shift+wheel", "Change the size of the brush"),
            ("Esc", "Give up the stroke; once more: back to Select"),
        ),
        "Timeline": (
            ("Click", "Go to the frame"),
            ("Click a mark", "Go to the event and select its segments"),
            ("Click a lane's name", "Hide its events, or show them again"),
            ("Drag", "Scrub through the frames, also those that are not segmented yet"),
            ("Wheel", "Zoom at the cursor"),
            ("Shift+wheel, sideways wheel", "Scroll"),
            ("Double click", "Show the whole clip"),
            ("Right click", "Go to the frame and show a menu: events, in and out points"),
            ("Hover", "Show the frame's number of segments, event or scene cut"),
        ),
        "Objects over time": (
            ("Click a key", "Go to the frame of the edit and highlight its object"),
            ("Drag a key", "Move the edit to another frame; Esc cancels"),
            ("Right click a key", "Change on which frames the edit holds, or delete it"),
            ("Click, drag elsewhere", "Go to the frame, scrub"),
            ("Arrow keys, Enter, Del", "With the keyboard focus: choose an edit, go to its frame, delete it"),
            ("Hover", "Show the edit, or area and confidence of the object"),
        ),
        "Segments": (
            ("Click", "Select the segment"),
            ("Ctrl+click, Shift+click", "Add the segment, or all up to it, to the selection"),
            ("Click the box", "Hide or show the segment"),
            ("Double click", "On the swatch: choose a colour; on the name: rename; elsewhere: isolate"),
            ("Right click", "Show the segment's menu; on the header: choose columns"),
        ),
        "Objects": (
            ("Click", "Highlight the object; tools and the Object menu act on it"),
            ("Double click", "Rename the object"),
            ("Right click", "Show the object's menu"),
        ),
        "Over time": (
            ("Click", "Go to the frame"),
            ("Wheel", "Zoom"),
            ("Drag", "Move along the run"),
            ("Click the A in a corner", "Show the whole run again"),
        ),
        "Lifetimes": (
            ("Click", "Select the segment"),
            ("Wheel, drag", "Zoom, move"),
        ),
        "Events": (("Click", "Go to the frame and select the event's segments"),),
        "Colours": (
            ("Click a disc", "Select the segment"),
            ("Ctrl+click", "Add the segment to the selection, or remove it"),
            ("Wheel, drag", "Zoom, move"),
        ),
    }
)
