"""Actions of the Segmentation menu."""

from __future__ import annotations

from scstream_app.ui.actions.action_spec import ActionSpec

SEGMENTATION: tuple[ActionSpec, ...] = (
    ActionSpec("pause_segmenting", "Segmentation", "Pause Segmentation", ("Shift+Space",), "run", checkable=True),
    ActionSpec(
        "segment_one",
        "Segmentation",
        "Segment One Frame",
        ("Ctrl+.",),
        "paused run",
        "Segment the next frame and pause again",
    ),
    ActionSpec("record", "Segmentation", "Record", ("Ctrl+R", "R"), "live run", checkable=True),
    ActionSpec(
        "restart",
        "Segmentation",
        "Segment Again",
        needs="idle document",
        tip="Segment the clip again with the current settings, from the in point to the out point if they are set",
    ),
    ActionSpec(
        "restart_here",
        "Segmentation",
        "Segment Again from This Frame",
        needs="rerun",
        tip="Segment this frame and all later ones again; earlier frames, objects and names stay",
    ),
    ActionSpec(
        "segment_rest",
        "Segmentation",
        "Segment the Rest",
        needs="rest",
        tip="Go on after the out point at which the segmentation ended",
    ),
    ActionSpec(
        "compare_runs",
        "Segmentation",
        "Compare with Another Run…",
        needs="session",
        tip="Compare the segments with those of another run of this clip, and keep one of the two",
    ),
)
