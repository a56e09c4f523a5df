"""What the actions of the timeline do."""

from __future__ import annotations

from collections.abc import Callable

from scstream_app.ui.document.document import Document
from scstream_app.ui.timeline.timeline import Timeline


def timeline_handlers(
    timeline: Timeline, document: Document, message: Callable[[str], None]
) -> dict[str, Callable[[], object]]:
    """Return what the actions do that concern the timeline; ``message`` shows a text to the user."""

    def filter_events() -> None:
        events, chosen = document.event_filter, document.display.selection
        if events.by_segments:
            events.set_segments(None)
        elif chosen:
            events.set_segments(chosen)
        else:
            message("Select segments to see only their events")

    return {
        "filter_events": filter_events,
        "timeline_in": timeline.zoom_in,
        "timeline_out": timeline.zoom_out,
        "timeline_fit": timeline.fit,
    }
