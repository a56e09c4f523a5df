"""What tests of the window share: a document that is shut down afterwards, and small sessions that need no engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import mkdtemp

import pytest
from pytestqt.qtbot import QtBot

from clips import write_images
from export_scenes import story
from scstream_app.results import FrameResult
from scstream_app.session import Session
from scstream_app.settings import Settings
from scstream_app.sources import open_source
from scstream_app.ui.document import Document, State

MakeSession = Callable[[Sequence[FrameResult]], Path]


@pytest.fixture
def document(qtbot: QtBot) -> Iterator[Document]:
    """An empty document."""
    made = Document()
    yield made
    assert made.shut_down()


@pytest.fixture
def finished_session(tmp_path: Path) -> MakeSession:
    """Writes results as a complete session over a folder of their pictures, and gives its path."""

    def make(results: Sequence[FrameResult]) -> Path:
        place = Path(mkdtemp(dir=tmp_path))
        folder = write_images(place / "frames", [result.picture for result in results])
        path = place / "clip.scstream"
        with open_source(str(folder)) as source, Session.create(path, source, Settings()) as session:
            for result in results:
                session.append(result)
            session.finish()
        return path

    return make


@pytest.fixture
def open_results(qtbot: QtBot, document: Document, finished_session: MakeSession) -> Callable[..., Document]:
    """Has the document show the first of the results given."""

    def open_(results: Sequence[FrameResult]) -> Document:
        with qtbot.waitSignal(document.shown_changed):
            document.open_session(finished_session(results))
        qtbot.waitUntil(lambda: document.state is State.DONE)
        return document

    return open_


@pytest.fixture
def story_document(open_results: Callable[..., Document]) -> Document:
    """Five frames of 48 by 64 pixels: segment 1 splits at frame 2 into 1 and 3, and 0 absorbs 2 at frame 4."""
    return open_results(story((48, 64)))
