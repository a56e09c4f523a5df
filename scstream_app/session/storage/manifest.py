"""manifest.json: what a session is of, and how it was made."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from scstream_app import __version__
from scstream_app.errors import SettingsError
from scstream_app.session.storage import checks, files, statistics
from scstream_app.session.storage.files import Invalid
from scstream_app.settings import Settings
from scstream_app.sources import Source
from scstream_app.sources.addresses import without_password

SCHEMA = "scstream-session"
VERSION = 1

# A source may be a list of thousands of images, of which every character can take six bytes.
_LIMIT = 1 << 22
_ADDRESS_LENGTH = 1 << 19
_FORMAT = re.compile(r"[a-z0-9][a-z0-9_.:-]{0,31}")
_CHECKSUM = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """What is known of the source: enough to open it again, and to notice that it is another one."""

    address: str
    name: str
    width: int
    height: int
    rate: float
    length: int | None
    live: bool

    @classmethod
    def of(cls, source: Source) -> Self:
        """The facts of an open source, without the password that its address may hold."""
        return cls(
            without_password(source.address, keep_user=True) if "://" in source.address else source.address,
            source.name,
            source.width,
            source.height,
            float(source.rate),
            source.length,
            source.live,
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain values that JSON can hold."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Undo `as_dict`."""
        height, width = checks.size(values)
        rate = checks.number(values, "rate")
        if rate <= 0.0:
            raise Invalid(f"'rate' is {rate}, not above 0")
        return cls(
            checks.text(values, "address", _ADDRESS_LENGTH),
            checks.text(values, "name"),
            width,
            height,
            rate,
            checks.optional(values, "length"),
            checks.switch(values, "live"),
        )


@dataclass(frozen=True, slots=True)
class FirstFrame:
    """The first frame's place, and the checksum (CRC-32) of its RGB bytes."""

    index: int
    checksum: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """A session's description.

    Parameters
    ----------
    source, settings
        What is segmented, and how.
    start, stop : int
        The frames to be segmented: start, ..., stop - 1; to the source's end if stop is None.
    formats : tuple of str
        What is to be exported in the end.
    export : mapping
        How: ``pattern``, ``scale``, ``view`` (None for each format's own), ``palette`` and ``opacity``, as far as they
        are given.
    snapshot_every : int
        Frames from one snapshot of the model to the next.
    created, program : str
        When, by which version.
    first_frame : FirstFrame, optional
        Known as soon as there is one.
    complete : bool
        Whether the last frame has been reached, so that there is nothing to resume.
    """

    source: SourceFacts
    settings: Settings
    start: int = 0
    stop: int | None = None
    formats: tuple[str, ...] = ()
    snapshot_every: int = 50
    created: str = ""
    program: str = __version__
    first_frame: FirstFrame | None = None
    complete: bool = False
    export: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def new(
        cls,
        source: Source | SourceFacts,
        settings: Settings,
        start: int,
        stop: int | None,
        formats: Iterable[str],
        every: int,
        export: Mapping[str, Any],
    ) -> Self:
        """The manifest of a session that is about to begin."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        facts = source if isinstance(source, SourceFacts) else SourceFacts.of(source)
        made = cls(facts, settings, start, stop, tuple(formats), every, now, export=dict(export))
        # What could not be read back is not worth writing.
        return cls.from_dict(made.as_dict())

    def as_dict(self) -> dict[str, Any]:
        """Plain values that JSON can hold."""
        first = self.first_frame
        return {
            "schema": SCHEMA,
            "version": VERSION,
            "program": self.program,
            "created": self.created,
            "complete": self.complete,
            "source": self.source.as_dict(),
            "settings": self.settings.portable(),
            "start": self.start,
            "stop": self.stop,
            "formats": list(self.formats),
            "export": dict(self.export),
            "snapshot_every": self.snapshot_every,
            "first_frame": None if first is None else {"index": first.index, "crc32": first.checksum},
            "statistics": statistics.description(),
        }

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        """Undo `as_dict`, checking everything."""
        _check_schema(values)
        start = checks.integer(values, "start")
        formats = checks.listing(values, "formats", 100)
        if not all(isinstance(name, str) and _FORMAT.fullmatch(name) for name in formats):
            raise Invalid("'formats' are not all names of formats")
        if values.get("statistics") != statistics.description():
            raise Invalid("the statistics are laid out in a way that this program does not know")
        try:
            settings = Settings.from_dict(checks.section(values, "settings"))
        except SettingsError as error:
            raise Invalid(f"in its settings, {error}") from error
        return cls(
            SourceFacts.from_dict(checks.section(values, "source")),
            settings,
            start,
            checks.optional(values, "stop", low=start + 1),
            tuple(formats),
            checks.integer(values, "snapshot_every", 1, 100_000),
            checks.text(values, "created", 100),
            checks.text(values, "program", 100),
            _first_frame(values, start),
            checks.switch(values, "complete"),
            _export(values),
        )

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read and check the file."""
        return cls.from_dict(files.parse(files.read(path, _LIMIT), path.name))

    def write(self, path: Path) -> None:
        """Replace the file in one step."""
        files.replace(path, files.dump(self.as_dict()), durable=True)


def _check_schema(values: Any) -> None:
    if not isinstance(values, dict) or values.get("schema") != SCHEMA:
        raise Invalid("it is no ScStream session")
    version = checks.integer(values, "version", 1)
    if version != VERSION:
        raise Invalid(f"it was written as version {version}, this program reads version {VERSION}")


def _export(values: dict[str, Any]) -> dict[str, Any]:
    # Sessions of earlier versions say nothing about it.
    if "export" not in values:
        return {}
    export = checks.section(values, "export")
    unknown = sorted(export.keys() - {"pattern", "scale", "view", "palette", "opacity"})
    if unknown:
        raise Invalid(f"'export' has the entry '{unknown[0][:60]}', which this program does not know")
    for name in export:
        if name in ("scale", "opacity"):
            checks.number(export, name)
        elif name != "view" or export[name] is not None:
            checks.text(export, name, 200)
    return export


def _first_frame(values: dict[str, Any], start: int) -> FirstFrame | None:
    if values.get("first_frame") is None:
        return None
    first = checks.section(values, "first_frame")
    return FirstFrame(checks.integer(first, "index", low=start), checks.integer(first, "crc32", high=_CHECKSUM))
