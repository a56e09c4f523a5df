"""Names of sessions, and how to find a session in a folder."""

from __future__ import annotations

import os
import shlex
import subprocess
from glob import has_magic
from pathlib import Path

from scstream_app.errors import SessionError
from scstream_app.session import SUFFIX
from scstream_app.session.library import file_stem
from scstream_app.sources import Camera, ImageSequence, Source
from scstream_app.sources.images import has_number


def session_name(source: Source) -> str:
    """The name of a source's session: the source's name as a valid file name."""
    return f"{file_stem(_plain_name(source))}{SUFFIX}"


def _plain_name(source: Source) -> str:
    """The name of a source without suffix; for a glob pattern, the name of the folder that it searches."""
    address = source.address
    if isinstance(source, ImageSequence) and not os.path.isfile(address):
        # Names of folders may contain dots and characters of glob patterns.
        if os.path.isdir(address) or "\n" in address or not (has_magic(address) or has_number(address)):
            return source.name
        if has_number(Path(address).name):
            return Path(address).parent.name
        return next((folder.name for folder in Path(address).parents if not has_magic(str(folder))), "")
    return source.name if isinstance(source, Camera) else Path(source.name).stem


def resume_command(path: Path) -> str:
    """The shell command that resumes a session."""
    words = ["scstream", "resume", str(path)]
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def sessions_in(folder: Path) -> list[Path]:
    """The sessions in a folder, sorted by name."""
    try:
        return sorted(path for path in folder.glob(f"*{SUFFIX}") if path.is_dir() and not path.name.startswith("."))
    except OSError:
        return []


def find_session(path: Path) -> Path:
    """Resolve a path to a session: ``path`` itself, or the only session in the folder ``path``."""
    if path.suffix == SUFFIX or os.path.exists(path / "manifest.json"):
        return path
    found = sessions_in(path)
    beside = path.with_name(f"{path.name}{SUFFIX}") if path.name else path
    if not found and not os.path.exists(path) and os.path.isdir(beside):
        found = [beside]
    elif len(found) == 1:
        return found[0]
    if found:
        candidates = " or ".join(f"'{each}'" for each in found[:3])
        raise SessionError(f"Cannot open '{path}': it is not a session. Did you mean {candidates}?")
    return path
