"""Actions of the Playback menu."""

from __future__ import annotations

from scstream_app.ui.actions.action_spec import ActionSpec, separator

PLAYBACK: tuple[ActionSpec, ...] = (
    ActionSpec("play", "Playback", "Play or Pause", ("Space",), "play"),
    ActionSpec("next", "Playback", "Next Frame", ("Right", "."), "steps"),
    ActionSpec("previous", "Playback", "Previous Frame", ("Left", ","), "steps"),
    ActionSpec("forward", "Playback", "Forward 10 Frames", ("Shift+Right",), "steps"),
    ActionSpec("back", "Playback", "Back 10 Frames", ("Shift+Left",), "steps"),
    ActionSpec("start", "Playback", "Go to Start", ("Home",), "steps"),
    ActionSpec("end", "Playback", "Go to End", ("End",), "steps"),
    ActionSpec(
        "next_event",
        "Playback",
        "Next Event",
        ("N",),
        "playback",
        "Go to the next frame with a birth, split, merge or death that the timeline shows",
    ),
    ActionSpec("previous_event", "Playback", "Previous Event", ("P",), "playback"),
    ActionSpec(
        "filter_events",
        "Playback",
        "Only Events of Selection",
        ("Shift+S",),
        "playback",
        "Show only the events of the selected segments, or all events again",
    ),
    ActionSpec(
        "next_uncertain",
        "Playback",
        "Next Uncertain Frame",
        ("U",),
        "playback",
        "Go to the next of the frames with the highest uncertainty",
    ),
    ActionSpec("previous_uncertain", "Playback", "Previous Uncertain Frame", ("Shift+U",), "playback"),
    ActionSpec("slower", "Playback", "Slower", ("[",), "playback"),
    ActionSpec("faster", "Playback", "Faster", ("]",), "playback"),
    ActionSpec("normal_speed", "Playback", "Normal Speed", ("Backspace",), "playback"),
    ActionSpec("loop", "Playback", "Loop", ("L",), "playback", checkable=True),
    ActionSpec("set_in", "Playback", "Set In Point", ("I",), "playback"),
    ActionSpec("set_out", "Playback", "Set Out Point", ("O",), "playback"),
    ActionSpec("clear_range", "Playback", "Clear In and Out", needs="playback"),
    separator("Playback"),
    ActionSpec("timeline_in", "Playback", "Zoom Timeline In", ("Alt+=", "Alt++"), "open document"),
    ActionSpec("timeline_out", "Playback", "Zoom Timeline Out", ("Alt+-",), "open document"),
    ActionSpec("timeline_fit", "Playback", "Fit Timeline", ("Alt+0",), "open document", "Show the whole clip"),
)
