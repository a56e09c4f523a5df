"""Actions of the File menu."""

from __future__ import annotations

from scstream_app.ui.actions.action_spec import ActionSpec, separator

FILE: tuple[ActionSpec, ...] = (
    ActionSpec("open", "File", "Open Video…", ("Ctrl+O",)),
    ActionSpec(
        "open_images",
        "File",
        "Open Image Sequence…",
        ("Ctrl+Shift+O",),
        tip="Choose any image of a folder; all that belong to its sequence are opened",
    ),
    ActionSpec("open_folder", "File", "Open Folder of Images…"),
    ActionSpec("open_camera", "File", "Open Camera…"),
    ActionSpec(
        "open_clip_as_camera",
        "File",
        "Play a Clip as a Camera…",
        tip="Play a video at its own rate, again and again, as if it came from a camera",
    ),
    ActionSpec("open_url", "File", "Open URL…"),
    ActionSpec("open_session", "File", "Open Session…"),
    separator("File"),
    ActionSpec(
        "save",
        "File",
        "Save Session",
        ("Ctrl+S",),
        "session",
        "Choose a folder for the session; its frames are on the disk already",
    ),
    ActionSpec("save_as", "File", "Save Session As…", ("Ctrl+Shift+S",), "session"),
    ActionSpec("export", "File", "Export…", ("Ctrl+E",), "session", "Write masks, mattes, movies, tables or volumes"),
    separator("File"),
    ActionSpec(
        "save_model",
        "File",
        "Save Model…",
        needs="session",
        tip="Write the model of the segments to a small file, to segment other clips with it",
    ),
    ActionSpec(
        "use_model",
        "File",
        "Segment Another Clip with This Model…",
        needs="session",
        tip="Start another clip with this clip's segments: segments that look alike get the same ids",
    ),
    ActionSpec(
        "open_model",
        "File",
        "Open Video with Model…",
        tip="Start a clip with the segments of a saved model",
    ),
    separator("File"),
    ActionSpec("close", "File", "Close", ("Ctrl+W",), "something open or opening"),
    ActionSpec("quit", "File", "Quit", ("Ctrl+Q",)),
)
