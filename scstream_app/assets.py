"""Files that come with the program: icons and the like."""

from __future__ import annotations

from pathlib import Path

# In an installed package they lie inside it, in a source tree beside it.
_FOLDERS = (Path(__file__).parent / "assets", Path(__file__).parents[1] / "assets")


def asset(name: str) -> Path:
    """The path of one of them."""
    for folder in _FOLDERS:
        if (folder / name).exists():
            return folder / name
    raise FileNotFoundError(f"'{name}' did not come with the program")
