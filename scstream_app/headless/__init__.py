"""Complete jobs without a window: segment a source, resume a session, export a session."""

from scstream_app.headless.export_job import export, raise_failures
from scstream_app.headless.job_setup import make_job, stored_options
from scstream_app.headless.object_prompts import Prompt, read_corrections, read_prompts
from scstream_app.headless.run_progress import RunCallbacks, RunProgress, expected_frames
from scstream_app.headless.segment_job import Run, prepare, resume, segment
from scstream_app.headless.session_names import find_session, resume_command, session_name, sessions_in
from scstream_app.headless.session_objects import add_prompts, session_objects
from scstream_app.headless.session_sources import local_source
from scstream_app.objects.mask_files import read_masks

__all__ = [
    "Prompt",
    "Run",
    "RunCallbacks",
    "RunProgress",
    "add_prompts",
    "expected_frames",
    "export",
    "find_session",
    "local_source",
    "make_job",
    "prepare",
    "raise_failures",
    "read_corrections",
    "read_masks",
    "read_prompts",
    "resume",
    "resume_command",
    "segment",
    "session_name",
    "session_objects",
    "sessions_in",
    "stored_options",
]
