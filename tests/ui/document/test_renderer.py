"""Drawing on its own thread: no frame of a closed clip is shown, and the window waits for no slow source."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from helpers.export_scenes import story
from scstream.pixels import uncertainty as uncertainty_module
from scstream_app.errors import SourceError
from scstream_app.pipeline.edits import Edit
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.session import Session
from scstream_app.sources import open_source
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.look import Look
from scstream_app.ui.document.state import State
from scstream_app.ui.document.workers import renderer as renderer_
from scstream_app.ui.document.workers.renderer import DrawRequest, Renderer

LONG = 60.0
MakeSession = Callable[[Sequence[FrameResult]], Path]


class Gate:
    """Blocks its callers until it is opened."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()

    def pass_(self) -> None:
        self.reached.set()
        assert self.opened.wait(LONG)


@pytest.fixture
def renderer(qtbot: QtBot) -> Iterator[Renderer]:
    made = Renderer()
    yield made
    assert made.shut_down()


@pytest.fixture
def session(finished_session: MakeSession) -> Iterator[Session]:
    with Session.open(finished_session(story((48, 64)))) as session:
        yield session


def test_a_frame_that_is_being_drawn_when_another_clip_comes_is_dropped(
    renderer: Renderer, session: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, draw, reported = Gate(), renderer_.draw, []

    def slow(*args: object) -> object:
        gate.pass_()
        return draw(*args)

    monkeypatch.setattr(renderer_, "draw", slow)
    renderer.drawn.connect(lambda: reported.append(renderer.ready.take()))
    renderer.request(DrawRequest(story((48, 64))[3], Look()))
    assert gate.reached.wait(LONG)
    renderer.load(session)
    gate.opened.set()
    renderer.request(DrawRequest(1, Look()))
    qtbot.waitUntil(lambda: any(shown is not None for shown in reported))
    assert [shown.result.index for shown in reported if shown is not None] == [1]


def test_a_frame_that_is_drawn_and_not_fetched_yet_goes_with_its_clip(renderer: Renderer, qtbot: QtBot) -> None:
    with qtbot.waitSignal(renderer.drawn):
        renderer.request(DrawRequest(story((48, 64))[3], Look()))
    renderer.load(None)
    assert renderer.ready.take() is None


def test_loading_does_not_wait_for_a_source_that_opens_slowly(
    renderer: Renderer, session: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, closed, reported = Gate(), threading.Event(), []

    def slow(address: str) -> object:
        gate.pass_()
        source = open_source(address)
        close = source.close
        monkeypatch.setattr(source, "close", lambda: (closed.set(), close()))
        return source

    monkeypatch.setattr(renderer_, "open_source", slow)
    renderer.drawn.connect(lambda: reported.append(renderer.ready.take()))
    renderer.load(session)
    renderer.request(DrawRequest(1, Look()))
    assert gate.reached.wait(LONG)
    renderer.load(None)
    assert not gate.opened.is_set()
    gate.opened.set()
    # Nobody wants that source any more: it is let go of without being asked.
    qtbot.waitUntil(closed.is_set)
    assert [shown for shown in reported if shown is not None] == []


def test_what_goes_wrong_with_a_clip_that_is_closed_is_not_reported(
    renderer: Renderer, session: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, reported = Gate(), []

    def broken(address: str) -> object:
        gate.pass_()
        raise SourceError("Cannot open it.")

    monkeypatch.setattr(renderer_, "open_source", broken)
    renderer.failed.connect(reported.append)
    renderer.load(session)
    renderer.request(DrawRequest(1, Look()))
    assert gate.reached.wait(LONG)
    renderer.load(None)
    gate.opened.set()
    with qtbot.waitSignal(renderer.drawn):
        renderer.request(DrawRequest(story((48, 64))[3], Look()))
    assert reported == []


def show(document: Document, qtbot: QtBot, index: int) -> None:
    document.display.show(index)
    qtbot.waitUntil(lambda: document.display.index == index and document.display.shown.look.view == "uncertainty")


def test_uncertainty_is_reckoned_in_the_colour_space_of_the_frame(
    document: Document, finished_session: MakeSession, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = story((48, 64))
    change = Edit("restart", values={"colour": "lab"})
    results[3] = replace(results[3], edits=(change,), cut=True)
    used, uncertainty = [], uncertainty_module.uncertainty

    def noting(rgb: object, statistics: object, colour: str, threads: int) -> object:
        used.append(colour)
        return uncertainty(rgb, statistics, colour, threads)

    monkeypatch.setattr(uncertainty_module, "uncertainty", noting)
    document.open_session(finished_session(results))
    qtbot.waitUntil(lambda: document.state is State.DONE and document.display.index == 0)
    document.display.set_look(view="uncertainty")
    for index in (2, 3, 4):
        show(document, qtbot, index)
    assert [used[0], *used[-3:]] == ["rgb", "rgb", "lab", "lab"]
    assert [document.colour_at(index) for index in range(5)] == ["rgb", "rgb", "rgb", "lab", "lab"]


# --- frames that are seen coming


@pytest.fixture
def drawings(renderer: Renderer, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    """The frame and the view of everything that is drawn."""
    draw, made = renderer_.draw, list[tuple[int, str]]()

    def noting(result: FrameResult, look: Look, *rest: object) -> object:
        made.append((result.index, look.view))
        return draw(result, look, *rest)

    monkeypatch.setattr(renderer_, "draw", noting)
    return made


def drawn(renderer: Renderer, qtbot: QtBot, act: Callable[[], None]) -> int:
    """The frame that is drawn because of that."""
    with qtbot.waitSignal(renderer.drawn):
        act()
    shown = renderer.ready.take()
    assert shown is not None
    return shown.result.index


def test_while_newest_frames_are_followed_they_are_drawn_before_they_are_requested(
    renderer: Renderer, qtbot: QtBot, drawings: list[tuple[int, str]]
) -> None:
    frames, look = story((48, 64)), Look(view="boundaries")
    assert drawn(renderer, qtbot, lambda: renderer.request(DrawRequest(frames[0], look, following=True))) == 0
    assert drawn(renderer, qtbot, lambda: renderer.anticipate(frames[1])) == 1
    # The frame that the window requests then is drawn already.
    renderer.request(DrawRequest(frames[1], look, following=True))
    assert drawn(renderer, qtbot, lambda: renderer.anticipate(frames[2])) == 2
    assert drawings == [(0, "boundaries"), (1, "boundaries"), (2, "boundaries")]


def test_a_frame_that_was_seen_coming_is_drawn_again_if_it_is_to_look_otherwise(
    renderer: Renderer, qtbot: QtBot, drawings: list[tuple[int, str]]
) -> None:
    frames = story((48, 64))
    drawn(renderer, qtbot, lambda: renderer.request(DrawRequest(frames[0], Look(), following=True)))
    drawn(renderer, qtbot, lambda: renderer.anticipate(frames[1]))
    other = DrawRequest(frames[1], Look(view="original"), following=True)
    assert drawn(renderer, qtbot, lambda: renderer.request(other)) == 1
    # And as often as it is requested.
    assert drawn(renderer, qtbot, lambda: renderer.request(other)) == 1
    assert drawings == [(0, "overlay"), (1, "overlay"), (1, "original"), (1, "original")]


def test_who_follows_the_newest_frames_never_goes_back(
    renderer: Renderer, qtbot: QtBot, drawings: list[tuple[int, str]]
) -> None:
    frames = story((48, 64))
    drawn(renderer, qtbot, lambda: renderer.request(DrawRequest(frames[0], Look(), following=True)))
    drawn(renderer, qtbot, lambda: renderer.anticipate(frames[1]))
    drawn(renderer, qtbot, lambda: renderer.anticipate(frames[2]))
    # The window is late, and hears of the frame before.
    renderer.request(DrawRequest(frames[1], Look(), following=True))
    renderer.request(DrawRequest(frames[2], Look(), following=True))
    # Late again, and what it has to say of the look is of the newest frame.
    drawn(renderer, qtbot, lambda: renderer.anticipate(frames[3]))
    original = Look(view="original")
    assert drawn(renderer, qtbot, lambda: renderer.request(DrawRequest(frames[2], original, following=True))) == 3
    assert drawings == [(0, "overlay"), (1, "overlay"), (2, "overlay"), (3, "overlay"), (3, "original")]


@pytest.mark.parametrize("how", ["nothing requested", "another frame looked at", "another clip"])
def test_new_frames_are_drawn_only_if_the_display_follows_them(
    renderer: Renderer, qtbot: QtBot, drawings: list[tuple[int, str]], how: str
) -> None:
    frames = story((48, 64))
    if how != "nothing requested":
        following = how == "another clip"
        drawn(renderer, qtbot, lambda: renderer.request(DrawRequest(frames[2], Look(), following=following)))
    if how == "another clip":
        renderer.load(None)
    renderer.anticipate(frames[3])
    assert drawn(renderer, qtbot, lambda: renderer.request(DrawRequest(frames[4], Look()))) == 4
    assert (3, "overlay") not in drawings
