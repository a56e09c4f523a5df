"""Whole jobs without a window: a source into a session and files, a session resumed, a session exported."""

from scstream_app.headless.export_job import export, raise_failures
from scstream_app.headless.export_options import make_job, stored_options
from scstream_app.headless.object_masks import objects_of, read_masks
from scstream_app.headless.segment_job import Run, begin, resume, segment
from scstream_app.headless.session_names import find_session, resume_command, session_name, sessions_in
from scstream_app.headless.tally import Listener, Tally

__all__ = [
    "Listener",
    "Run",
    "Tally",
    "begin",
    "export",
    "find_session",
    "make_job",
    "objects_of",
    "raise_failures",
    "read_masks",
    "resume",
    "resume_command",
    "segment",
    "session_name",
    "sessions_in",
    "stored_options",
]
