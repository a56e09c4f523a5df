"""Model files: an npz archive of plain arrays and one JSON text. Nothing in it is ever executed."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

FORMAT = "scstream-model"
VERSION = 1


class ModelFileError(ValueError):
    """A file that is not a usable model, with the reason."""


def write(path: str | os.PathLike[str], meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write a model file in one step: a reader finds the old file or the new one, never half of one."""
    target = Path(path)
    text = json.dumps({"format": FORMAT, "version": VERSION, **meta})
    if not target.parent.is_dir():
        raise FileNotFoundError(f"Cannot save '{target}': there is no folder '{target.parent}'")
    if target.is_dir():
        raise IsADirectoryError(f"Cannot save '{target}': it is a folder")
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            contents: dict[str, Any] = {"meta": np.frombuffer(text.encode(), np.uint8), **arrays}
            np.savez_compressed(file, **contents)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Read what `write` wrote; raise ModelFileError for anything else."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            # Whatever else an archive may hold comes as bytes.
            arrays = {name: np.asarray(archive[name]) for name in archive.files}
        meta = json.loads(arrays.pop("meta").tobytes().decode())
    except FileNotFoundError:
        raise
    except (OSError, ValueError, KeyError, EOFError, AttributeError, TypeError, zipfile.BadZipFile) as error:
        raise ModelFileError(f"Cannot load '{path}': not a ScStream model, or damaged ({error})") from error
    except Exception as error:  # zlib.error and struct.error have no common base
        raise ModelFileError(f"Cannot load '{path}': damaged ({error})") from error
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise ModelFileError(f"Cannot load '{path}': not a ScStream model")
    if meta.get("version") != VERSION:
        raise ModelFileError(
            f"Cannot load '{path}': written as version {meta.get('version')}, this program reads version {VERSION}"
        )
    return meta, arrays
