"""Complete jobs without a window: segment a source, resume a session, export a session."""

from scstream_app.headless.export_job import export, raise_failures
from scstream_app.headless.job_setup import make_job, stored_options
from scstream_app.headless.object_masks import read_masks, session_objects
from scstream_app.headless.run_progress import RunCallbacks, RunProgress
from scstream_app.headless.segment_job import Run, prepare, resume, segment
from scstream_app.headless.session_names import find_session, resume_command, session_name, sessions_in

__all__ = [
    "Run",
    "RunCallbacks",
    "RunProgress",
    "export",
    "find_session",
    "make_job",
    "prepare",
    "raise_failures",
    "read_masks",
    "resume",
    "resume_command",
    "segment",
    "session_name",
    "session_objects",
    "sessions_in",
    "stored_options",
]
