"""Export results to files. Each format is a module of `formats`; `Exporter` writes several formats at once."""

from scstream_app.errors import ExportError
from scstream_app.export.exporter import (
    Exporter,
    check_job,
    check_options,
    lists_files,
    needs_object,
    needs_picture,
    target_names,
    uses_picture,
)
from scstream_app.export.folder_lock import check_folder_free
from scstream_app.export.formats.registry import FORMATS
from scstream_app.export.job import Job
from scstream_app.export.movie import Movie
from scstream_app.export.options import ExportOptions
from scstream_app.export.preflight import check_space, check_writable
from scstream_app.export.writer import Writer
from scstream_app.option_values import DEFAULT_FORMATS

__all__ = [
    "DEFAULT_FORMATS",
    "FORMATS",
    "ExportError",
    "ExportOptions",
    "Exporter",
    "Job",
    "Movie",
    "Writer",
    "check_folder_free",
    "check_job",
    "check_options",
    "check_space",
    "check_writable",
    "lists_files",
    "needs_object",
    "needs_picture",
    "target_names",
    "uses_picture",
]
