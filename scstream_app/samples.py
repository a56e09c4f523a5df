"""The sample clips that are installed with the program."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from scstream_app import assets

#: Folder of the sample clips.
SAMPLES = assets.samples()

_ABOUT_SAMPLES = {
    "kite_surf": "A surfer drifts over a moving sea",
    "crossing": "Fish swim past and behind each other",
    "lighting": "The light changes, the objects do not",
    "cut": "Two scenes with a cut between them",
}


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample clip: its title, a description, and its path."""

    title: str
    about: str
    path: Path


def sample_clips() -> list[Sample]:
    """The sample clips, sorted by name; none if they are not installed."""
    return [
        Sample(path.stem.replace("_", " ").capitalize(), _ABOUT_SAMPLES.get(path.stem, ""), path)
        for path in sorted(SAMPLES.glob("*.mp4"))
    ]
