"""What sessions are called, and where they are found."""

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


def session_name(source: Source) -> str:
    """What the session of a source is called: the source's name, as far as files can be called so."""
    return f"{file_stem(_plain_name(source))}{SUFFIX}"


def _plain_name(source: Source) -> str:
    """The name without a suffix, if it is a file's; for a pattern that of the folder which it looks in."""
    address = source.address
    if isinstance(source, ImageSequence) and not os.path.isfile(address):
        # Names of folders may contain full stops, and signs that a pattern would be made of.
        if os.path.isdir(address) or "\n" in address or not has_magic(address):
            return source.name
        return next((folder.name for folder in Path(address).parents if not has_magic(str(folder))), "")
    return source.name if isinstance(source, Camera) else Path(source.name).stem


def resume_command(path: Path) -> str:
    """What to type to go on with a session."""
    words = ["scstream", "resume", str(path)]
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def sessions_in(folder: Path) -> list[Path]:
    """The sessions in a folder, by name."""
    try:
        return sorted(path for path in folder.glob(f"*{SUFFIX}") if path.is_dir() and not path.name.startswith("."))
    except OSError:
        return []


def find_session(path: Path) -> Path:
    """The session that is meant: ``path`` itself, or the only one in the folder at ``path``."""
    if path.suffix == SUFFIX or os.path.exists(path / "manifest.json"):
        return path
    found = sessions_in(path)
    beside = path.with_name(f"{path.name}{SUFFIX}") if path.name else path
    if not found and not os.path.exists(path) and os.path.isdir(beside):
        found = [beside]
    elif len(found) == 1:
        return found[0]
    if found:
        meant = " or ".join(f"'{each}'" for each in found[:3])
        raise SessionError(f"Cannot open '{path}': it is no session; did you mean {meant}?")
    return path
