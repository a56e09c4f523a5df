"""The document: segmentation and drawing on their threads, what is shown, and what a person marks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from clips import moving_square, write_video
from scstream_app.edits import Edit
from scstream_app.session import MarkedObject, Names, Session
from scstream_app.settings import Settings
from scstream_app.ui.document import Document, State

QUICK = Settings(max_init_sweeps=20, threads=1)
LONG = 20_000


@pytest.fixture
def document(qapp: object) -> Iterator[Document]:
    document = Document()
    document.set_settings(QUICK)
    yield document
    assert document.shut_down()


@pytest.fixture
def clip(tmp_path: Path) -> str:
    return str(write_video(tmp_path / "clip.mp4", moving_square(12)))


def segmented(document: Document, qtbot: QtBot, clip: str, path: Path) -> None:
    document.open_source(clip, path)
    qtbot.waitUntil(lambda: document.state is State.DONE and document.index == 11, timeout=LONG)


def test_a_source_is_segmented_to_its_end_and_its_newest_frame_shown(
    document: Document, qtbot: QtBot, clip: str, tmp_path: Path
) -> None:
    states: list[State] = []
    document.state_changed.connect(lambda: states.append(document.state))
    segmented(document, qtbot, clip, tmp_path / "a.scstream")
    assert states[0] is State.OPENING
    assert states[-2:] == [State.SEGMENTING, State.DONE]
    assert list(document.trace.frames) == list(range(12))
    assert document.session is not None
    assert document.shown is not None
    np.testing.assert_array_equal(document.shown.result.ids, document.session.ids(11))


def test_any_frame_can_be_shown_again(document: Document, qtbot: QtBot, clip: str, tmp_path: Path) -> None:
    segmented(document, qtbot, clip, tmp_path / "a.scstream")
    document.set_look(view="original")
    document.show(4)
    qtbot.waitUntil(lambda: document.index == 4 and document.shown.look.view == "original", timeout=LONG)
    assert document.shown is not None
    assert np.abs(document.shown.picture.astype(int) - moving_square(12)[4]).mean() < 12
    document.show(999)
    qtbot.waitUntil(lambda: document.index == 11, timeout=LONG)


def test_a_frame_that_was_asked_for_comes_whatever_else_changes(
    document: Document, qtbot: QtBot, clip: str, tmp_path: Path
) -> None:
    segmented(document, qtbot, clip, tmp_path / "a.scstream")
    document.show(3)
    document.select([0])
    document.set_look(opacity=0.8)
    qtbot.waitUntil(lambda: document.index == 3 and document.shown.look.opacity == 0.8, timeout=LONG)
    assert document.shown.look.selected == {0}


def test_previews_are_shown_while_the_first_frame_settles(
    document: Document, qtbot: QtBot, clip: str, tmp_path: Path
) -> None:
    seen: list[State] = []
    document.shown_changed.connect(lambda: seen.append(document.state))
    segmented(document, qtbot, clip, tmp_path / "a.scstream")
    assert State.SETTLING in seen


def test_selection_and_isolation_are_drawn(document: Document, qtbot: QtBot, clip: str, tmp_path: Path) -> None:
    segmented(document, qtbot, clip, tmp_path / "a.scstream")
    assert document.shown is not None
    plain = document.shown.picture
    id = int(document.shown.result.ids[24, 45])
    with qtbot.waitSignal(document.shown_changed, timeout=LONG):
        document.select([id])
    outlined = document.shown.picture
    assert (outlined == 255).all(axis=2).sum() > (plain == 255).all(axis=2).sum()
    with qtbot.waitSignal(document.shown_changed, timeout=LONG):
        document.isolate([id])
    outside = document.shown.result.ids != id
    assert document.shown.picture[outside].mean() < 0.5 * plain[outside].mean()


def test_marks_are_kept_in_the_session(document: Document, qtbot: QtBot, clip: str, tmp_path: Path) -> None:
    segmented(document, qtbot, clip, tmp_path / "a.scstream")
    document.set_names(Names({0: "sky"}, {0: (1, 2, 3)}, frozenset({1})))
    document.set_objects([MarkedObject("square", (9, 9, 9), 11, frozenset({0, 2}))])
    assert document.members() == {"square": frozenset({0, 2})}
    document.close()
    with Session.open(tmp_path / "a.scstream") as session:
        assert session.names.names == {0: "sky"}
        assert session.objects[0].name == "square"


def test_a_session_is_opened_again_where_it_was(document: Document, qtbot: QtBot, clip: str, tmp_path: Path) -> None:
    segmented(document, qtbot, clip, tmp_path / "a.scstream")
    document.close()
    assert document.state is State.EMPTY
    document.open_session(tmp_path / "a.scstream")
    qtbot.waitUntil(lambda: document.state is State.DONE and document.index == 0, timeout=LONG)
    assert len(document.trace) == 12


def test_closing_in_the_midst_keeps_what_was_done(document: Document, qtbot: QtBot, tmp_path: Path) -> None:
    clip = str(write_video(tmp_path / "long.mp4", moving_square(60, width=160)))
    document.open_source(clip, tmp_path / "a.scstream")
    qtbot.waitUntil(lambda: len(document.trace) >= 3, timeout=LONG)
    document.close()
    idle: list[bool] = []
    document.when_idle(lambda: idle.append(True))
    qtbot.waitUntil(lambda: bool(idle), timeout=LONG)
    with Session.open(tmp_path / "a.scstream", writable=True) as session:
        assert 3 <= len(session) <= 60
    document.open_session(tmp_path / "a.scstream")
    qtbot.waitUntil(lambda: document.state is State.DONE, timeout=LONG)
    assert len(document.trace) == 60


def test_an_edit_reaches_the_model(document: Document, qtbot: QtBot, tmp_path: Path) -> None:
    clip = str(write_video(tmp_path / "long.mp4", moving_square(40, width=120)))
    document.open_source(clip, tmp_path / "a.scstream")
    qtbot.waitUntil(lambda: len(document.trace) >= 2, timeout=LONG)
    document.pause(True)
    qtbot.waitUntil(lambda: document.state is State.PAUSED, timeout=LONG)
    document.edit(Edit("lock", (0,)))
    document.edit(Edit("change", values={"decay": 1.0}))
    document.pause(False)
    qtbot.waitUntil(lambda: document.state is State.DONE, timeout=LONG)
    assert document.session is not None
    made = [edit for record in document.session.records() for edit in record.edits]
    assert made == [Edit("lock", (0,)), Edit("change", values={"decay": 1.0})]
    assert document.settings.decay == 1.0
    assert document.locked == {0}


def test_a_source_that_cannot_be_opened_says_why(document: Document, qtbot: QtBot, tmp_path: Path) -> None:
    with qtbot.waitSignal(document.failed, timeout=LONG) as failure:
        document.open_source(str(tmp_path / "nowhere.mp4"), tmp_path / "a.scstream")
    assert "nowhere.mp4" in failure.args[0]
    qtbot.waitUntil(lambda: document.state is State.EMPTY, timeout=LONG)
    assert not (tmp_path / "a.scstream").exists()


def test_opening_another_source_at_once_leaves_the_first(document: Document, qtbot: QtBot, tmp_path: Path) -> None:
    first = str(write_video(tmp_path / "first.mp4", moving_square(60, width=160)))
    second = str(write_video(tmp_path / "second.mp4", moving_square(4)))
    document.open_source(first, tmp_path / "first.scstream")
    document.open_source(second, tmp_path / "second.scstream")
    qtbot.waitUntil(lambda: document.state is State.DONE, timeout=LONG)
    assert document.facts is not None
    assert document.facts.name == "second.mp4"
    assert len(document.trace) == 4
