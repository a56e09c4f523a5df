"""Complete jobs without a window: segment a source, resume a session, export a session."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scstream_app.headless.export_job import export, raise_failures
    from scstream_app.headless.job_setup import make_job, stored_options
    from scstream_app.headless.object_prompts import read_corrections, read_prompts
    from scstream_app.headless.run_progress import RunCallbacks, RunProgress, expected_frames
    from scstream_app.headless.segment_job import Run, prepare, resume, segment
    from scstream_app.headless.session_names import find_session, resume_command, session_name, sessions_in
    from scstream_app.headless.session_sources import open_local_source
    from scstream_app.headless.stored_objects import objects_with, objects_without, replace_objects, session_objects
    from scstream_app.objects.mask_files import read_masks
    from scstream_app.objects.prompt import Prompt

__all__ = [
    "Prompt",
    "Run",
    "RunCallbacks",
    "RunProgress",
    "expected_frames",
    "export",
    "find_session",
    "make_job",
    "objects_with",
    "objects_without",
    "open_local_source",
    "prepare",
    "raise_failures",
    "read_corrections",
    "read_masks",
    "read_prompts",
    "replace_objects",
    "resume",
    "resume_command",
    "segment",
    "session_name",
    "session_objects",
    "sessions_in",
    "stored_options",
]

# Names are imported on first use: the modules take seconds to import, for which the help texts of commands should not
# wait.
_HOME = {
    **dict.fromkeys(("export", "raise_failures"), "headless.export_job"),
    **dict.fromkeys(("make_job", "stored_options"), "headless.job_setup"),
    **dict.fromkeys(("read_corrections", "read_prompts"), "headless.object_prompts"),
    **dict.fromkeys(("RunCallbacks", "RunProgress", "expected_frames"), "headless.run_progress"),
    **dict.fromkeys(("Run", "prepare", "resume", "segment"), "headless.segment_job"),
    **dict.fromkeys(("find_session", "resume_command", "session_name", "sessions_in"), "headless.session_names"),
    **dict.fromkeys(
        ("objects_with", "objects_without", "replace_objects", "session_objects"), "headless.stored_objects"
    ),
    "open_local_source": "headless.session_sources",
    "read_masks": "objects.mask_files",
    "Prompt": "objects.prompt",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = getattr(import_module(f"scstream_app.{_HOME[name]}"), name)
    globals()[name] = value
    return value
