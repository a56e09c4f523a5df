"""The document: segmentation and drawing on their threads, the display, and the user's marks."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event

import numpy as np
import pytest
import tifffile
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_video
from helpers.held_worker import Holding
from scstream_app.errors import SessionError, SourceError
from scstream_app.pipeline.edits import Edit
from scstream_app.pipeline.run import Notice
from scstream_app.session import FrameRecord, MarkedObject, Names, Session
from scstream_app.session.frame_measures import MeasuringSession
from scstream_app.settings import Settings
from scstream_app.sources import Source
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State
from scstream_app.ui.document.workers import segmentation_worker

QUICK = Settings(max_init_sweeps=20, threads=1)
LONG = 60_000


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
    qtbot.waitUntil(lambda: document.state is State.DONE and document.display.index == 11, timeout=LONG)


def test_a_source_is_segmented_to_its_end_and_its_newest_frame_shown(
    document: Document, qtbot: QtBot, clip: str, tmp_path: Path
) -> None:
    states: list[State] = []
    document.state_changed.connect(lambda: states.append(document.state))
    segmented(document, qtbot, clip, tmp_path / "a.scstream")
    assert states[0] is State.OPENING
    assert states[-2:] == [State.SEGMENTING, State.DONE]
    assert list(document.summary.frames) == list(range(12))
    assert document.session is not None
    assert document.display.shown is not None
    np.testing.assert_array_equal(document.display.shown.result.ids, document.session.ids(11))


def test_threads_changed_while_a_clip_opens_are_kept(
    document: Document, qtbot: QtBot, clip: str, tmp_path: Path
) -> None:
    document.open_source(clip, tmp_path / "clip.scstream")
    document.set_settings(replace(document.settings, threads=3))
    qtbot.waitUntil(lambda: document.state is State.DONE, timeout=LONG)
    assert document.settings.threads == 3


def test_any_frame_can_be_shown_again(document: Document, qtbot: QtBot, clip: str, tmp_path: Path) -> None:
    segmented(document, qtbot, clip, tmp_path / "a.scstream")
    document.display.set_look(view="original")
    document.display.show(4)
    qtbot.waitUntil(
        lambda: document.display.index == 4 and document.display.shown.look.view == "original", timeout=LONG
    )
    assert document.display.shown is not None
    assert np.abs(document.display.shown.picture.astype(int) - moving_square(12)[4]).mean() < 12
    document.display.show(999)
    qtbot.waitUntil(lambda: document.display.index == 11, timeout=LONG)


def test_a_frame_that_was_asked_for_comes_whatever_else_changes(
    document: Document, qtbot: QtBot, clip: str, tmp_path: Path
) -> None:
    segmented(document, qtbot, clip, tmp_path / "a.scstream")
    document.display.show(3)
    document.display.select([0])
    document.display.set_look(opacity=0.8)
    qtbot.waitUntil(lambda: document.display.index == 3 and document.display.shown.look.opacity == 0.8, timeout=LONG)
    assert document.display.shown.look.selected == {0}


def test_previews_are_shown_while_the_first_frame_settles(
    document: Document, qtbot: QtBot, clip: str, tmp_path: Path
) -> None:
    drawn = Event()
    # Only the newest is shown: on a busy machine that may be none of them.
    document.run.worker.previewed.connect(lambda: drawn.wait(LONG / 1000), Qt.ConnectionType.DirectConnection)

    def look() -> None:
        if document.state is State.SETTLING:
            drawn.set()

    document.display.shown_changed.connect(look)
    segmented(document, qtbot, clip, tmp_path / "a.scstream")
    assert drawn.is_set()


def test_selection_and_isolation_are_drawn(document: Document, qtbot: QtBot, clip: str, tmp_path: Path) -> None:
    segmented(document, qtbot, clip, tmp_path / "a.scstream")
    assert document.display.shown is not None
    plain = document.display.shown.picture
    id = int(document.display.shown.result.ids[24, 45])
    with qtbot.waitSignal(document.display.shown_changed, timeout=LONG):
        document.display.select([id])
    changed = (document.display.shown.picture != plain).any(axis=2)
    np.testing.assert_array_equal(changed, document.display.shown.result.ids == id)
    assert document.display.shown.outline is not None
    with qtbot.waitSignal(document.display.shown_changed, timeout=LONG):
        document.display.isolate([id])
    outside = document.display.shown.result.ids != id
    assert document.display.shown.picture[outside].mean() < 0.5 * plain[outside].mean()


def test_marks_are_kept_in_the_session(document: Document, qtbot: QtBot, clip: str, tmp_path: Path) -> None:
    segmented(document, qtbot, clip, tmp_path / "a.scstream")
    document.set_names(Names({0: "sky"}, {0: (1, 2, 3)}, frozenset({1})))
    document.set_objects([MarkedObject.made("square", (9, 9, 9), 11, frozenset({0, 2}))])
    assert document.display.members() == {"square": frozenset({0, 2})}
    document.close()
    with Session.open(tmp_path / "a.scstream") as session:
        assert session.names.names == {0: "sky"}
        assert session.objects[0].name == "square"


def test_a_session_is_opened_again_where_it_was(document: Document, qtbot: QtBot, clip: str, tmp_path: Path) -> None:
    segmented(document, qtbot, clip, tmp_path / "a.scstream")
    document.close()
    assert document.state is State.EMPTY
    document.open_session(tmp_path / "a.scstream")
    qtbot.waitUntil(lambda: document.state is State.DONE and document.display.index == 11, timeout=LONG)
    assert len(document.summary) == 12


def test_closing_in_the_midst_keeps_what_was_done(document: Document, qtbot: QtBot, tmp_path: Path) -> None:
    clip = str(write_video(tmp_path / "long.mp4", moving_square(16)))
    Holding(document.run.worker, 3)
    document.open_source(clip, tmp_path / "a.scstream")
    qtbot.waitUntil(lambda: len(document.summary) >= 3, timeout=LONG)
    document.close()
    idle: list[bool] = []
    document.run.when_idle(lambda: idle.append(True))
    qtbot.waitUntil(lambda: bool(idle), timeout=LONG)
    with Session.open(tmp_path / "a.scstream", writable=True) as session:
        assert 3 <= len(session) < 16
    document.open_session(tmp_path / "a.scstream")
    qtbot.waitUntil(lambda: document.state is State.DONE, timeout=LONG)
    assert len(document.summary) == 16


def test_an_edit_reaches_the_model(document: Document, qtbot: QtBot, tmp_path: Path) -> None:
    clip = str(write_video(tmp_path / "long.mp4", moving_square(40, width=120)))
    Holding(document.run.worker, 2)
    document.open_source(clip, tmp_path / "a.scstream")
    qtbot.waitUntil(lambda: len(document.summary) >= 2, timeout=LONG)
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
    assert document.pending.locked == {0}


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
    assert len(document.summary) == 4


# --- in the midst of segmenting


@pytest.fixture
def running(document: Document, qtbot: QtBot, tmp_path: Path) -> Document:
    """Still at work when something else is asked for."""
    clip = str(write_video(tmp_path / "long.mp4", moving_square(16)))
    Holding(document.run.worker, 2)
    document.open_source(clip, tmp_path / "a.scstream")
    qtbot.waitUntil(lambda: len(document.summary) >= 2, timeout=LONG)
    return document


def failures(document: Document) -> list[str]:
    failed: list[str] = []
    document.failed.connect(failed.append)
    return failed


def test_another_clip_opens_though_the_session_before_is_thrown_away(
    running: Document, qtbot: QtBot, clip: str, tmp_path: Path
) -> None:
    failed = failures(running)
    running.close()
    running.run.when_idle(partial(shutil.rmtree, tmp_path / "a.scstream"))
    segmented(running, qtbot, clip, tmp_path / "b.scstream")
    assert failed == []
    assert not (tmp_path / "a.scstream").exists()
    assert running.facts.name == "clip.mp4"


def test_segmenting_again_in_the_midst_begins_anew(running: Document, qtbot: QtBot, tmp_path: Path) -> None:
    failed = failures(running)
    running.set_settings(Settings(max_init_sweeps=20, threads=1, decay=1.0))
    running.open_source(str(tmp_path / "long.mp4"), tmp_path / "b.scstream")
    qtbot.waitUntil(lambda: running.state is State.DONE, timeout=LONG)
    assert failed == []
    assert running.session.path == tmp_path / "b.scstream"
    assert list(running.summary.frames) == list(range(16))
    assert running.session.manifest.settings.decay == 1.0


def test_saving_elsewhere_in_the_midst_goes_on_there(running: Document, qtbot: QtBot, tmp_path: Path) -> None:
    failed = failures(running)
    running.pause(True)
    qtbot.waitUntil(lambda: running.state is State.PAUSED, timeout=LONG)
    undo_commands.rename(running, 0, "sky")
    running.edit(Edit("lock", (0,)))
    running.edit(Edit("change", values={"decay": 1.0}))
    running.set_aside()

    def move() -> None:
        shutil.move(tmp_path / "a.scstream", tmp_path / "b.scstream")
        running.open_session(tmp_path / "b.scstream", moved=True)

    running.run.when_idle(move)
    qtbot.waitUntil(lambda: running.session.path == tmp_path / "b.scstream", timeout=LONG)
    assert running.state is State.PAUSED
    running.pause(False)
    qtbot.waitUntil(lambda: running.state is State.DONE, timeout=LONG)
    assert failed == []
    assert list(running.summary.frames) == list(range(16))
    made = [edit for record in running.session.records() for edit in record.edits]
    assert made == [Edit("lock", (0,)), Edit("change", values={"decay": 1.0})]
    assert (running.pending.locked, running.settings.decay) == ({0}, 1.0)
    running.undo.undo()
    assert running.session.names == Names()


def test_what_is_done_while_a_session_is_set_aside_is_not_reported_as_late(
    running: Document, qtbot: QtBot, tmp_path: Path
) -> None:
    running.pause(True)
    qtbot.waitUntil(lambda: running.state is State.PAUSED, timeout=LONG)
    notices: list[Notice] = []
    running.noticed.connect(notices.append)
    reached, go_on = threading.Event(), threading.Event()

    def hold(record: FrameRecord) -> None:
        if record.edits:
            reached.set()
            assert go_on.wait(LONG / 1000)

    running.run.worker.noted.connect(hold, Qt.ConnectionType.DirectConnection)
    running.edit(Edit("change", values={"decay": 1.0}))
    running.pause(False)
    assert reached.wait(LONG / 1000)
    running.set_aside()
    go_on.set()
    running.run.when_idle(partial(running.open_session, tmp_path / "a.scstream", moved=True))
    qtbot.waitUntil(lambda: running.state is State.DONE, timeout=LONG)
    assert notices == []
    assert running.settings.decay == 1.0


def test_an_edit_that_waited_while_the_session_was_closed_shows_when_it_is_made(
    running: Document, qtbot: QtBot, tmp_path: Path
) -> None:
    running.pause(True)
    qtbot.waitUntil(lambda: running.state is State.PAUSED, timeout=LONG)
    running.edit(Edit("change", values={"decay": 1.0}))
    running.edit(Edit("lock", (0,)))
    running.open_session(tmp_path / "a.scstream")
    qtbot.waitUntil(lambda: running.state is State.DONE, timeout=LONG)
    made = [edit.kind for record in running.session.records() for edit in record.edits]
    assert made == ["change", "lock"]
    assert (running.settings.decay, running.pending.locked) == (1.0, {0})


def ask_and_fail(document: Document, qtbot: QtBot, edit: Edit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the very frame fail that an edit waits for."""

    def fail(*given: object) -> None:
        raise SessionError("Cannot write it: the disk is full.")

    document.pause(True)
    document.edit(edit)
    with monkeypatch.context() as patch, qtbot.waitSignal(document.failed, timeout=LONG):
        patch.setattr(MeasuringSession, "append", fail)
        document.pause(False)
    qtbot.waitUntil(lambda: document.state is State.STOPPED, timeout=LONG)


def test_an_edit_that_waits_after_a_failed_run_is_reported_when_another_clip_opens(
    running: Document, qtbot: QtBot, clip: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notices: list[Notice] = []
    running.noticed.connect(notices.append)
    ask_and_fail(running, qtbot, Edit("lock", (0,)), monkeypatch)
    segmented(running, qtbot, clip, tmp_path / "b.scstream")
    assert [notice.text for notice in notices] == [
        "Pending changes in 'long.mp4' (lock) were not applied because it was closed."
    ]
    assert running.pending.locked == frozenset()


def test_an_edit_that_waits_after_a_failed_run_is_made_when_its_session_goes_on(
    running: Document, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notices: list[Notice] = []
    running.noticed.connect(notices.append)
    ask_and_fail(running, qtbot, Edit("lock", (0,)), monkeypatch)
    with qtbot.waitSignal(running.opened, timeout=LONG):
        running.open_session(tmp_path / "a.scstream")
    assert running.pending.locked == {0}
    qtbot.waitUntil(lambda: running.state is State.DONE, timeout=LONG)
    assert [edit for record in running.session.records() for edit in record.edits] == [Edit("lock", (0,))]
    assert notices == []


def test_a_session_is_shown_though_its_source_is_gone(running: Document, qtbot: QtBot, tmp_path: Path) -> None:
    running.close()
    done: list[bool] = []
    running.run.when_idle(lambda: done.append(True))
    qtbot.waitUntil(lambda: bool(done), timeout=LONG)
    (tmp_path / "long.mp4").unlink()
    with qtbot.waitSignal(running.failed, timeout=LONG) as failure:
        running.open_session(tmp_path / "a.scstream")
    qtbot.waitUntil(lambda: running.state is State.STOPPED, timeout=LONG)
    assert "long.mp4" in failure.args[0]
    assert len(running.summary) >= 2
    assert running.session.ids(0).shape == (running.facts.height, running.facts.width)


def test_saving_takes_nothing_away_though_the_source_is_gone(running: Document, qtbot: QtBot, tmp_path: Path) -> None:
    undo_commands.set_hidden(running, [0], True)
    (tmp_path / "long.mp4").unlink()
    frames = len(running.summary)
    running.set_aside()
    running.run.when_idle(partial(running.open_session, tmp_path / "a.scstream", moved=True))
    qtbot.waitUntil(lambda: running.state is State.STOPPED and not running.saving, timeout=LONG)
    assert len(running.summary) >= frames
    assert running.undo.canUndo()
    assert running.names.hidden == {0}


def test_what_waits_can_be_withdrawn_though_it_was_saved_meanwhile(
    running: Document, qtbot: QtBot, tmp_path: Path
) -> None:
    edit = Edit("lock", (0,))
    running.pause(True)
    running.edit(edit)
    running.set_aside()
    running.run.when_idle(partial(running.open_session, tmp_path / "a.scstream", moved=True))
    qtbot.waitUntil(lambda: not running.saving, timeout=LONG)
    assert running.withdraw(edit)
    assert running.pending.locked == frozenset()


def test_a_source_that_was_left_before_it_failed_says_nothing(
    document: Document, qtbot: QtBot, clip: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, real, failure = threading.Event(), segmentation_worker.open_source, list[str]()

    def slow(address: str) -> Source:
        if address == "slow":
            gate.wait(LONG / 1000)
            raise SourceError("Cannot open it.")
        return real(address)

    monkeypatch.setattr(segmentation_worker, "open_source", slow)
    document.failed.connect(failure.append)
    document.open_source("slow", tmp_path / "slow.scstream")
    document.open_source(clip, tmp_path / "a.scstream")
    gate.set()
    qtbot.waitUntil(lambda: document.state is State.DONE, timeout=LONG)
    assert failure == []


def test_what_was_asked_for_last_is_opened(running: Document, qtbot: QtBot, clip: str, tmp_path: Path) -> None:
    running.set_aside()
    running.run.when_idle(partial(running.open_session, tmp_path / "a.scstream", moved=True))
    segmented(running, qtbot, clip, tmp_path / "b.scstream")
    assert running.session.path == tmp_path / "b.scstream"
    assert running.undo.count() == 0


def test_what_waits_for_idleness_waits_for_all_of_it(running: Document, qtbot: QtBot, tmp_path: Path) -> None:
    complete: list[bool] = []
    running.set_aside()
    running.run.when_idle(partial(running.open_session, tmp_path / "a.scstream", moved=True))
    running.run.when_idle(lambda: complete.append(running.session.manifest.complete))
    qtbot.waitUntil(lambda: running.state is State.DONE, timeout=LONG)
    assert complete == [True]


def test_a_session_that_cannot_be_closed_is_reported_and_prevents_no_opening(
    running: Document, qtbot: QtBot, clip: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = failures(running)
    fail_to_close(running.session, monkeypatch)
    segmented(running, qtbot, clip, tmp_path / "b.scstream")
    assert failed == ["Cannot write it: the disk is full."]
    fail_to_close(running.session, monkeypatch)
    running.close()
    assert running.state is State.EMPTY
    assert failed == ["Cannot write it: the disk is full."] * 2


def fail_to_close(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    close = session.close

    def failing() -> None:
        close()
        raise SessionError("Cannot write it: the disk is full.")

    monkeypatch.setattr(session, "close", failing)


def test_what_comes_after_closing_changes_nothing(running: Document, qtbot: QtBot) -> None:
    running.close()
    running.run.worker.preview.put(object())
    running.run.worker.previewed.emit()
    running.run.worker.warming.emit(1, 5)
    idle: list[bool] = []
    running.run.when_idle(lambda: idle.append(True))
    qtbot.waitUntil(lambda: bool(idle), timeout=LONG)
    assert running.state is State.EMPTY
    assert running.preview is None


# --- what cannot be done


def test_marks_that_cannot_be_kept_are_not_shown(document: Document, qtbot: QtBot, clip: str, tmp_path: Path) -> None:
    segmented(document, qtbot, clip, tmp_path / "a.scstream")
    failed = failures(document)
    document.session.close()
    undo_commands.rename(document, 0, "sky")
    undo_commands.make_object(document, "kite", [0])
    assert len(failed) == 2
    assert document.names == Names()
    assert document.objects == ()


def test_an_edit_that_the_model_refuses_is_taken_back(document: Document, qtbot: QtBot, tmp_path: Path) -> None:
    clip = str(write_video(tmp_path / "long.mp4", moving_square(20, width=120)))
    document.open_source(clip, tmp_path / "a.scstream")
    qtbot.waitUntil(lambda: len(document.summary) >= 2, timeout=LONG)
    document.pause(True)
    qtbot.waitUntil(lambda: document.state is State.PAUSED, timeout=LONG)
    notices: list[Notice] = []
    document.noticed.connect(notices.append)
    document.edit(Edit("change", values={"decay": 1.0}))
    # Only a restart can change it.
    document.edit(Edit("change", values={"detail": 4.0}))
    assert document.settings.detail == 4.0
    document.pause(False)
    qtbot.waitUntil(lambda: document.state is State.DONE, timeout=LONG)
    assert [notice.edit.values["detail"] for notice in notices] == [4.0]
    assert document.settings.detail == QUICK.detail
    assert document.settings.decay == 1.0


def test_notices_about_images_offer_what_the_window_takes(document: Document, qtbot: QtBot, tmp_path: Path) -> None:
    stack = np.random.default_rng(3).integers(0, 4000, (2, 3, 24, 32)).astype(np.uint16)
    tifffile.imwrite(tmp_path / "a.tif", stack, imagej=True, metadata={"axes": "TZYX"})
    notices: list[Notice] = []
    document.noticed.connect(notices.append)
    document.open_source(str(tmp_path / "a.tif"), tmp_path / "a.scstream")
    qtbot.waitUntil(lambda: document.state is State.DONE, timeout=LONG)
    (text,) = [notice.text for notice in notices if notice.kind == "source"]
    assert text.endswith("To change this, add #plane=NUMBER&range=LOW:HIGH to the address and open it with Open URL.")
    assert "--" not in text


def test_an_edit_that_comes_too_late_is_reported_and_taken_back(
    document: Document, qtbot: QtBot, tmp_path: Path
) -> None:
    clip = str(write_video(tmp_path / "one.mp4", moving_square(1)))
    notices: list[Notice] = []
    document.noticed.connect(notices.append)
    asked: list[Edit] = []

    def ask() -> None:
        if not asked:
            asked.append(Edit("change", values={"decay": 1.0}))
            document.edit(asked[0])

    # While the only frame settles, there is no next one to come.
    document.previewed.connect(ask)
    document.open_source(clip, tmp_path / "a.scstream")
    qtbot.waitUntil(lambda: document.state is State.DONE, timeout=LONG)
    assert asked
    assert ["change" in notice.text for notice in notices] == [True]
    assert document.settings.decay == QUICK.decay


def test_threads_are_all_ended_however_late_one_is(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    document, called = Document(), []
    for thread in (document.run.worker, document.display.renderer, document.measure_worker, document.bookmarks):
        end = thread.shut_down
        monkeypatch.setattr(thread, "shut_down", lambda *given, end=end: bool(called.append(end(*given))))
    assert not document.shut_down()
    assert called == [True] * 4


def test_frames_of_a_session_are_not_read_on_the_windows_thread(
    document: Document, qtbot: QtBot, clip: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    segmented(document, qtbot, clip, tmp_path / "a.scstream")
    document.close()
    parse, readers = FrameRecord.parse, set()

    def noting(line: bytes) -> FrameRecord:
        readers.add(threading.current_thread())
        return parse(line)

    monkeypatch.setattr(FrameRecord, "parse", noting)
    document.open_session(tmp_path / "a.scstream")
    qtbot.waitUntil(lambda: document.state is State.DONE and document.display.index == 11, timeout=LONG)
    assert len(document.summary) == 12
    assert readers
    assert threading.main_thread() not in readers
