"""Export options: stored with a session, passed on to the writers, checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.clips import moving_square
from helpers.export_scenes import story
from helpers.fake_source import FakeSource
from helpers.session_clips import QUICK
from scstream_app.errors import ExportError
from scstream_app.export import Exporter, ExportOptions, check_options
from scstream_app.export.job import Job
from scstream_app.export.options import safe_name
from scstream_app.headless import make_job, stored_options
from scstream_app.session import MarkedObject, Names, Session, SourceFacts

FACTS = SourceFacts("", "", 4, 4, 25.0, None, False)


def test_the_job_contains_the_options() -> None:
    options = ExportOptions(opacity=0.2)
    assert make_job(options, FACTS, Names(), (), remove_stale=False).options == options


def test_a_session_stores_the_options_it_was_started_with(tmp_path: Path) -> None:
    options = ExportOptions(("mp4",), scale=0.5, view="overlay", palette="pastel", opacity=0.3, soft_edges=True)
    source = FakeSource(moving_square(1))
    path = tmp_path / "a.scstream"
    Session.create(path, source, QUICK, formats=options.formats, export=options.as_dict()).close()
    assert stored_options(Session.open(path).manifest) == options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (ExportOptions(opacity=2.0), "opacity"),
        (ExportOptions(("bmp",)), "Unknown format 'bmp'"),
        (ExportOptions(("mp4:uncertainty",)), "results hold no uncertainty"),
    ],
)
def test_invalid_options_are_rejected(options: ExportOptions, message: str) -> None:
    with pytest.raises(ExportError, match=message):
        check_options(options)


@pytest.mark.parametrize(
    "pattern",
    [
        "{name:/>40}{frame}",
        "{name:/>3}{frame}",
        "{name:\\\\>3}{frame}",
        "{name::<3}{frame}",
        "{frame}{time:/>4.1f}",
        "{frame}{time:/>7}",
        "{frame:/>2}",
        "{frame:/=+6}",
        "../{frame}",
        "C:{frame}",
        "{frame:.>7}",
        "{name:.>2}{frame}",
        "com{frame}",
        "lpt{frame}.{name}",
    ],
)
def test_a_pattern_that_could_leave_the_folder_is_rejected(pattern: str) -> None:
    with pytest.raises(ExportError, match="pattern"):
        check_options(ExportOptions(pattern=pattern))


def test_the_name_of_every_file_is_checked(tmp_path: Path) -> None:
    """Only the name of this object shows what the pattern makes of it."""
    result = story()[0]
    height, width = result.ids.shape
    objects = (MarkedObject.made("om1", (1, 2, 3), 0, {0}),)
    job = Job(width, height, 25.0, ExportOptions(("object",), pattern="c{name}.{frame}"), objects=objects)
    with pytest.raises(ExportError, match="which is a device"), Exporter(tmp_path, job) as exporter:
        exporter.write(result)
    assert list((tmp_path / "object").iterdir()) == []


@pytest.mark.parametrize("name", ["CON", "nul.left", "LPT1", "aux"])
def test_an_object_named_like_a_device_is_exported_under_another_name(name: str, tmp_path: Path) -> None:
    result = story()[0]
    height, width = result.ids.shape
    objects = tuple(MarkedObject.made(each, (1, 2, 3), 0, {0}) for each in (name, "kite"))
    job = Job(width, height, 25.0, ExportOptions(("object",), pattern="{name} {frame}"), objects=objects)
    with Exporter(tmp_path, job) as exporter:
        exporter.write(result)
    assert sorted(path.name for path in (tmp_path / "object").iterdir()) == sorted([f"_{name}", "kite"])


@pytest.mark.parametrize("name", ["../../etc/x", "..", "a/b", "a\\b", "C:x", "/x", "~", ". .", "NUL", "a\0b"])
def test_a_safe_name_is_one_file_in_its_folder(name: str, tmp_path: Path) -> None:
    safe = safe_name(name)
    assert (tmp_path / safe).resolve().parent == tmp_path.resolve()
    assert not set(safe) & set('<>:"/\\|?*\0')
    (tmp_path / safe).touch()
