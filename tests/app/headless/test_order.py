"""What an export is told: kept with a session, and handed to the writers."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.clips import moving_square
from helpers.fake_source import FakeSource
from helpers.session_clips import QUICK
from scstream_app.errors import ExportError
from scstream_app.headless import Order
from scstream_app.session import Names, Session, SourceFacts

FACTS = SourceFacts("", "", 4, 4, 25.0, None, False)


def test_the_opacity_of_overlays_reaches_the_writers() -> None:
    assert Order(opacity=0.2).job(FACTS, Names(), (), whole=False).opacity == 0.2


def test_a_session_keeps_the_order_it_was_begun_with(tmp_path: Path) -> None:
    order = Order(("mp4",), scale=0.5, view="overlay", palette="pastel", opacity=0.3)
    source = FakeSource(moving_square(1))
    path = tmp_path / "a.scstream"
    Session.create(path, source, QUICK, formats=order.formats, export=order.as_dict()).close()
    assert Order.of(Session.open(path).manifest) == order


def test_an_opacity_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(ExportError, match="opacity"):
        Order(opacity=2.0).check()
