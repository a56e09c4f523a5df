"""Exports that name the image files of their source."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from helpers.export_scenes import story
from helpers.session_clips import QUICK
from scstream_app import headless
from scstream_app.export import ExportOptions
from scstream_app.headless import RunCallbacks
from scstream_app.session import Session
from scstream_app.sources import ImageSequence, open_source

NAMES = ("a b/10 ä.png", "a b/9 ä.png", "c/1.png", "c/2.png", "c/3.png")
IN_ORDER = [NAMES[1], NAMES[0], *NAMES[2:]]


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """A pattern of the images of a story, in two folders."""
    for name, one in zip(IN_ORDER, story(), strict=True):
        path = tmp_path / "images" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.asarray(one.picture)).save(path)
    return tmp_path / "images" / "*" / "*.png"


@pytest.fixture
def session(images: Path, tmp_path: Path) -> Iterator[Session]:
    with open_source(str(images)) as source, Session.create(tmp_path / "clip.scstream", source, QUICK) as opened:
        for one in story():
            opened.append(one)
        yield opened


def exported_names(session: Session, out: Path) -> tuple[list[str], list[str]]:
    """The names in both COCO files of the frames 1 to 3."""
    for _ in headless.export(session, out, ExportOptions(("coco", "coco_images")), 1, 4):
        pass
    videos, pictures = (json.loads((out / f"{name}.json").read_text("utf-8")) for name in ("coco", "coco_images"))
    return videos["videos"][0]["file_names"], [image["file_name"] for image in pictures["images"]]


def test_names_are_relative_to_the_folder_of_all_images(images: Path) -> None:
    assert list(ImageSequence(images).file_names) == IN_ORDER
    assert list(ImageSequence(images.parent.parent / "c").file_names) == ["1.png", "2.png", "3.png"]
    assert list(ImageSequence(images.parent.parent / "c" / "2.png").file_names) == ["2.png"]


def test_an_export_lists_the_files_of_its_frames(session: Session, tmp_path: Path) -> None:
    assert exported_names(session, tmp_path / "out") == (IN_ORDER[1:4], IN_ORDER[1:4])


@pytest.mark.parametrize("change", ["gone", "one more"])
def test_frames_are_numbered_if_the_images_have_changed(
    session: Session, images: Path, tmp_path: Path, change: str
) -> None:
    if change == "gone":
        images.parent.parent.rename(tmp_path / "moved")
    else:
        first = images.parent.parent / IN_ORDER[0]
        first.with_name("0.png").write_bytes(first.read_bytes())
    numbered = ["00001.png", "00002.png", "00003.png"]
    assert exported_names(session, tmp_path / "out") == (numbered, numbered)


def test_a_run_lists_the_files_that_it_reads(images: Path, tmp_path: Path) -> None:
    with open_source(str(images)) as source:
        run = headless.prepare(source, tmp_path / "out", QUICK, ExportOptions(("coco_images",)), stop=2)
        for _ in headless.segment(run, RunCallbacks()):
            pass
    whole = json.loads((tmp_path / "out" / "coco_images.json").read_text("utf-8"))
    assert [image["file_name"] for image in whole["images"]] == IN_ORDER[:2]
