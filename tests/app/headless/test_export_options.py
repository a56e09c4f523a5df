"""Export options: stored with a session, passed on to the writers, checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.clips import moving_square
from helpers.fake_source import FakeSource
from helpers.session_clips import QUICK
from scstream_app.errors import ExportError
from scstream_app.export import ExportOptions, check_options
from scstream_app.headless import make_job, stored_options
from scstream_app.session import Names, Session, SourceFacts

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
