"""Find files that are installed with the program: icons, styles, documentation pages and sample clips."""

from __future__ import annotations

from pathlib import Path

# An installed package contains them; in a source tree they are next to the package.
_PLACES = (Path(__file__).parent, Path(__file__).parents[1])


def asset(name: str) -> Path:
    """Path of a file in the folder "assets", such as an icon."""
    return _find("assets", name)


def page(name: str) -> Path:
    """Path of a documentation page; relative links to its pictures work there."""
    return _find("docs", name)


def samples() -> Path:
    """Folder of the sample clips; it does not exist if they are not installed."""
    folders = [place / "sample_videos" for place in _PLACES]
    return next((folder for folder in folders if folder.is_dir()), folders[0])


def _find(folder: str, name: str) -> Path:
    for place in _PLACES:
        if (place / folder / name).exists():
            return place / folder / name
    raise FileNotFoundError(f"'{name}' is not installed with the program")
