"""Several clips, each into a folder of its own: one after another, or side by side on Dask."""

from scstream_app.headless.many_clips.clip_run import ClipProgress, ClipResult, ClipUpdate, run_clip, run_in_turn
from scstream_app.headless.many_clips.clips import Clip, are_several_clips, clip_addresses, folder_names

__all__ = [
    "Clip",
    "ClipProgress",
    "ClipResult",
    "ClipUpdate",
    "are_several_clips",
    "clip_addresses",
    "folder_names",
    "run_clip",
    "run_in_turn",
]
