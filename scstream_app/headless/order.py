"""Which files are to be made, and how."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from scstream_app.errors import ExportError
from scstream_app.export import ExportObject, Job, needs_object
from scstream_app.export.files import Overwrite
from scstream_app.session import Manifest, Names, SourceFacts

#: What `scstream segment` writes when it is not told.
DEFAULT_FORMATS = ("ids", "csv", "mp4")


@dataclass(frozen=True, slots=True)
class Order:
    """Which files an export makes, and how; see `export.Job`."""

    formats: tuple[str, ...] = DEFAULT_FORMATS
    scale: float = 1.0
    pattern: str = "{frame:05d}"
    overwrite: Overwrite = "replace"
    view: str | None = None
    palette: str = "vivid"
    opacity: float = 0.5

    def check(self) -> None:
        """Raise the ExportError that says what is wrong with the order itself, whatever it is made of."""
        facts = SourceFacts("", "", 1, 1, 1.0, None, False)
        job = self.job(facts, Names(), (ExportObject("object", frozenset()),), whole=True)
        for name in self.formats:
            # Refuses formats and views that there are none of.
            needs_object(name)
            replace(job, view=name.partition(":")[2] or self.view)

    def job(self, facts: SourceFacts, names: Names, objects: tuple[ExportObject, ...], whole: bool) -> Job:
        """The order, for a source and what is known of its segments."""
        return Job(
            facts.width,
            facts.height,
            facts.rate,
            scale=self.scale,
            pattern=self.pattern,
            overwrite=self.overwrite,
            whole=whole,
            view=self.view,
            palette=self.palette,
            opacity=self.opacity,
            names=names.names,
            colours=names.colours,
            hidden=names.hidden,
            objects=objects,
        )

    def as_dict(self) -> dict[str, Any]:
        """What a session keeps besides the formats, as plain values."""
        names = ("pattern", "scale", "view", "palette", "opacity")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def of(cls, manifest: Manifest) -> Order:
        """The order that a session was begun with."""
        return cls(manifest.formats, **manifest.export)


def check_formats(formats: tuple[str, ...], objects: bool, remedy: str) -> None:
    """Say what is wrong with a list of formats before hours of work depend on it, and what to do about it."""
    for name in formats:
        if needs_object(name) and not objects:
            raise ExportError(f"The format '{name}' needs an object: {remedy}.")
