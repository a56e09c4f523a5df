"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from scstream_app.errors import ExportError, reason


def partial(path: Path) -> Path:
    """The temporary sibling of a file: hidden, with the same suffix, because encoders go by it."""
    return path.with_name(f".{path.stem}.partial{path.suffix}")


def failure(path: Path, error: BaseException) -> ExportError:
    """The error to raise when ``path`` cannot be written."""
    return ExportError(f"Cannot write '{path}': {reason(error)}.")


def make_folder(folder: Path) -> None:
    """Make a folder and those above it; one that is there already will do."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise failure(folder, error) from error


def write_bytes(path: Path, content: bytes) -> None:
    """Replace the file's content in one step."""
    temporary = partial(path)
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    except OSError as error:
        raise failure(path, error) from error
    finally:
        discard(temporary)


def discard(path: Path) -> None:
    """Remove a file if it is there and can be removed."""
    try:
        path.unlink(missing_ok=True)
    except OSError:
        pass
