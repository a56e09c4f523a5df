"""manifest.json: source, settings and state of a session."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from scstream_app import __version__
from scstream_app.addresses import public_address, split_reading
from scstream_app.errors import SettingsError
from scstream_app.session.storage import checks, files, statistics
from scstream_app.session.storage.files import InvalidData
from scstream_app.session.storage.statistics import Units
from scstream_app.settings import Settings
from scstream_app.sources import Source

SCHEMA = "scstream-session"
VERSION = 1

# A source may be a list of thousands of images, and JSON may need six bytes per character of their names.
_LIMIT = 1 << 22
_ADDRESS_LENGTH = 1 << 19
_READING_LENGTH = 1 << 12
_FORMAT = re.compile(r"[a-z0-9][a-z0-9_.:-]{0,31}")
_CHECKSUM = (1 << 32) - 1
# Sessions from before these settings existed were segmented without them.
_ABSENT_SETTINGS: Mapping[str, Any] = MappingProxyType({"smoothing": 0.0, "steadiness": 0.0})


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """Properties of the source: enough to open it again and to detect a different one.

    ``reading`` says how images are read, so that a resumed run and an export see the same pictures; see
    `Source.reading`.
    """

    address: str
    name: str
    width: int
    height: int
    rate: float
    length: int | None
    live: bool
    reading: str = ""

    @classmethod
    def of(cls, source: Source) -> Self:
        """Properties of an open source, without the secrets in its address."""
        return cls(
            public_address(source.address),
            source.name,
            source.width,
            source.height,
            float(source.rate),
            source.length,
            source.live,
            source.reading,
        )

    def as_dict(self) -> dict[str, Any]:
        """Values for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Inverse of `as_dict`; checks all values."""
        height, width = checks.size(values)
        rate = checks.number(values, "rate")
        if rate <= 0.0:
            raise InvalidData(f"'rate' must be above 0, got {rate}")
        # Sessions of earlier versions have no such entry.
        reading = checks.text(values, "reading", _READING_LENGTH) if "reading" in values else ""
        if split_reading(f"a{reading}") != ("a", reading):
            raise InvalidData(f"'reading' is invalid, got '{reading[:60]}'")
        return cls(
            checks.text(values, "address", _ADDRESS_LENGTH),
            checks.text(values, "name"),
            width,
            height,
            rate,
            checks.optional(values, "length"),
            checks.switch(values, "live"),
            reading,
        )


@dataclass(frozen=True, slots=True)
class FrameChecksum:
    """Index of a frame and the CRC-32 checksum of its RGB bytes."""

    index: int
    checksum: int

    def as_dict(self) -> dict[str, Any]:
        """Values for JSON."""
        return {"index": self.index, "crc32": self.checksum}


@dataclass(frozen=True, slots=True)
class Manifest:
    """Description of a session.

    Parameters
    ----------
    source : SourceFacts
    settings : Settings
    start, stop : int
        The range of frames to segment: start, ..., stop - 1; up to the end of the source if stop is None.
    formats : tuple of str
        Formats to export when the run is complete.
    export : mapping
        Options of the export: any of ``pattern``, ``scale``, ``view`` (None for the default of each format),
        ``palette``, ``opacity`` and ``soft_edges``.
    snapshot_every : int
        Number of frames between two snapshots of the model.
    created, program : str
        Date of creation and version of the program.
    first_frame : FrameChecksum, optional
        None until the first frame is written.
    last_frame : FrameChecksum, optional
        The frame of the newest snapshot. None if there is none, and in sessions of earlier versions.
    complete : bool
        Whether the last frame has been reached, so that there is nothing to resume.
    units : Units
        Units of the covariances in statistics.bin.
    """

    source: SourceFacts
    settings: Settings
    start: int = 0
    stop: int | None = None
    formats: tuple[str, ...] = ()
    snapshot_every: int = 50
    created: str = ""
    program: str = __version__
    first_frame: FrameChecksum | None = None
    complete: bool = False
    export: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    units: Units = Units.PIXELS
    last_frame: FrameChecksum | None = None

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
        """Manifest of a new session."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        facts = source if isinstance(source, SourceFacts) else SourceFacts.of(source)
        made = cls(facts, settings, start, stop, tuple(formats), every, now, export=dict(export))
        # The round trip checks the values: a manifest that cannot be read back must not be written.
        return cls.from_dict(made.as_dict())

    def as_dict(self) -> dict[str, Any]:
        """Values for JSON."""
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
            "first_frame": None if self.first_frame is None else self.first_frame.as_dict(),
            "last_frame": None if self.last_frame is None else self.last_frame.as_dict(),
            "statistics": statistics.description(self.units),
        }

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        """Inverse of `as_dict`; checks all values."""
        _check_schema(values)
        start = checks.integer(values, "start")
        formats = checks.listing(values, "formats", 100)
        if not all(isinstance(name, str) and _FORMAT.fullmatch(name) for name in formats):
            raise InvalidData("'formats' contains an invalid name")
        units = statistics.described_units(values.get("statistics"))
        try:
            settings = Settings.from_dict({**_ABSENT_SETTINGS, **checks.section(values, "settings")})
        except SettingsError as error:
            raise InvalidData(f"its settings are invalid: {error}") from error
        return cls(
            SourceFacts.from_dict(checks.section(values, "source")),
            settings,
            start,
            checks.optional(values, "stop", low=start + 1),
            tuple(formats),
            checks.integer(values, "snapshot_every", 1, 100_000),
            checks.text(values, "created", 100),
            checks.text(values, "program", 100),
            _frame_checksum(values, "first_frame", start),
            checks.switch(values, "complete"),
            _export(values),
            units,
            _frame_checksum(values, "last_frame", start),
        )

    @property
    def pixel(self) -> tuple[float, float]:
        """Height and width of a pixel in the units of statistics.bin."""
        return self.units.pixel(self.source.height, self.source.width)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read and check the file."""
        check_session_folder(path.parent)
        return cls.from_dict(files.parse(files.read(path, _LIMIT), path.name))

    def write(self, path: Path) -> None:
        """Replace the file atomically."""
        files.replace(path, files.dump(self.as_dict()), durable=True)


def check_session_folder(folder: Path) -> None:
    """Raise InvalidData if a path is not the folder of a session, or if the session has lost its manifest."""
    if not _exists(folder):
        raise InvalidData("there is no such folder")
    if not any(_exists(folder / name) for name in ("manifest.json", "frames.jsonl")):
        raise InvalidData("it is not a session. A session is a folder NAME.scstream, which contains manifest.json")
    files.check_file(folder / "manifest.json")


def _exists(path: Path) -> bool:
    """Whether a path exists; raises PermissionError if that cannot be told, where `os.path.lexists` returns False."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _check_schema(values: Any) -> None:
    if not isinstance(values, dict) or values.get("schema") != SCHEMA:
        raise InvalidData("it is not a ScStream session")
    version = checks.integer(values, "version", 1)
    if version != VERSION:
        raise InvalidData(f"it has format version {version}, but this program reads version {VERSION}")


def _export(values: dict[str, Any]) -> dict[str, Any]:
    # Sessions of earlier versions have no such entry.
    if "export" not in values:
        return {}
    export = checks.section(values, "export")
    unknown = sorted(export.keys() - {"pattern", "scale", "view", "palette", "opacity", "soft_edges"})
    if unknown:
        raise InvalidData(f"'export' has the unknown entry '{unknown[0][:60]}'")
    for name in export:
        if name in ("scale", "opacity"):
            checks.number(export, name)
        elif name == "soft_edges":
            checks.switch(export, name)
        elif name != "view" or export[name] is not None:
            checks.text(export, name, 200)
    return export


def _frame_checksum(values: dict[str, Any], name: str, start: int) -> FrameChecksum | None:
    if values.get(name) is None:
        return None
    frame = checks.section(values, name)
    return FrameChecksum(checks.integer(frame, "index", low=start), checks.integer(frame, "crc32", high=_CHECKSUM))
