"""Make the export job of a clip, and read the export options that a session stores."""

from __future__ import annotations

from collections.abc import Sequence

from scstream_app.errors import ExportError
from scstream_app.export import ExportOptions, Job, needs_object
from scstream_app.objects import MarkedObject
from scstream_app.session import Manifest, Names, SourceFacts


def stored_options(manifest: Manifest) -> ExportOptions:
    """The export options with which a session was started."""
    return ExportOptions(manifest.formats, **manifest.export)


def make_job(
    options: ExportOptions,
    facts: SourceFacts,
    names: Names,
    objects: tuple[MarkedObject, ...],
    remove_stale: bool,
    file_names: Sequence[str] = (),
) -> Job:
    """The job that exports a source with these options, segment names, objects and file names."""
    return Job(
        facts.width,
        facts.height,
        facts.rate,
        options,
        remove_stale,
        names=names.names,
        colours=names.colours,
        hidden=names.hidden,
        objects=objects,
        file_names=file_names,
    )


def check_formats(formats: tuple[str, ...], objects: bool, remedy: str) -> None:
    """Raise an ExportError with a remedy if a format needs an object and there is none."""
    for name in formats:
        if needs_object(name) and not objects:
            raise ExportError(f"The format '{name}' needs an object: {remedy}.")
