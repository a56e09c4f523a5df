"""Connects what shows objects: the list, the lanes below the timeline, and messages over the picture."""

from __future__ import annotations

from scstream_app.ui.panels.objects import ObjectsPanel
from scstream_app.ui.timeline.lanes.object_lanes import ObjectLanes
from scstream_app.ui.viewer.viewer import Viewer


def connect_objects(objects: ObjectsPanel, lanes: ObjectLanes, viewer: Viewer) -> None:
    """Highlight the same object in the list and the lanes."""
    lanes.highlighted.connect(objects.highlight)
    lanes.menu_requested.connect(objects.show_menu_of)
    lanes.message.connect(viewer.show_toast)
    objects.current_changed.connect(lanes.rows.set_highlight)
