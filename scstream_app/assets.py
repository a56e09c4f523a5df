"""Files that come with the program: icons and the like, and pages to read."""

from __future__ import annotations

from pathlib import Path

# In an installed package they lie inside it, in a source tree beside it.
_PLACES = (Path(__file__).parent, Path(__file__).parents[1])


def asset(name: str) -> Path:
    """The path of an icon and the like."""
    return _find("assets", name)


def page(name: str) -> Path:
    """The path of a page to read; its pictures are where it looks for them."""
    return _find("docs", name)


def _find(folder: str, name: str) -> Path:
    for place in _PLACES:
        if (place / folder / name).exists():
            return place / folder / name
    raise FileNotFoundError(f"'{name}' did not come with the program")
