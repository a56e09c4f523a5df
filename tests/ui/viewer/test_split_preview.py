"""Tests of the split preview: a dashed line in the newest frame, for a single selected segment."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_video
from helpers.export_scenes import story
from scstream import VideoSegmenter
from scstream_app.settings import Settings
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.split_line import SplitWatcher
from scstream_app.ui.document.state import State
from scstream_app.ui.viewer.viewer import Viewer

pytestmark = pytest.mark.slow

LONG = 60_000


@pytest.fixture
def paused(qtbot: QtBot, tmp_path: Path) -> Iterator[Document]:
    """Document paused in the middle of a clip, with its newest frame on the screen."""
    document = Document()
    document.set_settings(Settings(max_init_sweeps=20, threads=1))
    document.open_source(str(write_video(tmp_path / "clip.mp4", moving_square(200))), tmp_path / "a.scstream")
    qtbot.waitUntil(lambda: len(document.summary) > 3, timeout=LONG)
    document.pause(True)
    # The frame in progress still arrives.
    qtbot.waitUntil(
        lambda: document.display.index == len(document.session) - 1 == document.summary.frames[-1], timeout=LONG
    )
    yield document
    assert document.shut_down()


@pytest.fixture
def viewer(qtbot: QtBot, paused: Document, monkeypatch: pytest.MonkeyPatch) -> Viewer:
    made = Viewer(paused)
    # The outline of the selection lies on the same pixels.
    monkeypatch.setattr(made._outline, "paint", lambda painter, placed: None)
    qtbot.addWidget(made)
    made.resize(200, 160)
    with qtbot.waitExposed(made):
        made.show()
    made.actual_size()
    return made


def on_screen(viewer: Viewer) -> npt.NDArray[np.uint8]:
    """Pixels of the centred picture on the screen, at 100 % zoom."""
    image = viewer.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    screen = rows[:, : 3 * image.width()].reshape(image.height(), image.width(), 3)
    height, width = viewer.document.display.shown.picture.shape[:2]
    top, left = (screen.shape[0] - height) // 2, (screen.shape[1] - width) // 2
    return screen[top : top + height, left : left + width].copy()


def drawn_over(viewer: Viewer) -> npt.NDArray[np.bool_]:
    """Mask of the pixels that differ from the picture."""
    return (on_screen(viewer) != viewer.document.display.shown.picture).any(axis=2)


def click(qtbot: QtBot, viewer: Viewer, id: int) -> None:
    ids = viewer.document.display.shown.result.ids
    row, column = np.argwhere(ids == id)[0]
    corner = QPoint((viewer.width() - ids.shape[1]) // 2, (viewer.height() - ids.shape[0]) // 2)
    qtbot.mouseClick(viewer, Qt.MouseButton.LeftButton, pos=corner + QPoint(int(column), int(row)))


def click_divided(qtbot: QtBot, viewer: Viewer) -> int:
    """Click the largest segment with a visible dividing line and return its id."""
    document = viewer.document
    for id in document.display.shown.result.statistics["id"].tolist():
        click(qtbot, viewer, id)
        assert document.display.selection == {id}
        settled(qtbot, document)
        qtbot.waitUntil(lambda: viewer.split_line is not None, timeout=LONG)
        if drawn_over(viewer).any():
            return int(id)
    pytest.fail("no segment has a visible dividing line")


def settled(qtbot: QtBot, document: Document) -> None:
    qtbot.waitUntil(lambda: document.display.shown.look.selected == document.display.selection, timeout=LONG)


def test_the_selected_segment_shows_where_it_would_be_split(viewer: Viewer, paused: Document, qtbot: QtBot) -> None:
    assert not drawn_over(viewer).any()
    id = click_divided(qtbot, viewer)
    line = drawn_over(viewer)
    assert (paused.display.shown.result.ids[line] == id).all()
    assert set(map(tuple, on_screen(viewer)[line].tolist())) <= {(0, 0, 0), (255, 255, 255)}
    paused.display.select([])
    settled(qtbot, paused)
    assert not drawn_over(viewer).any()


def test_a_past_frame_shows_no_split(viewer: Viewer, paused: Document, qtbot: QtBot) -> None:
    click_divided(qtbot, viewer)
    paused.display.show(0)
    qtbot.waitUntil(lambda: paused.display.index == 0, timeout=LONG)
    assert not drawn_over(viewer).any()
    paused.display.show(paused.summary.frames[-1])
    qtbot.waitUntil(lambda: paused.display.index == paused.summary.frames[-1], timeout=LONG)
    assert drawn_over(viewer).any()


def test_several_segments_and_ended_runs_show_no_line(viewer: Viewer, paused: Document, qtbot: QtBot) -> None:
    id = click_divided(qtbot, viewer)
    paused.display.select(int(id) for id in paused.display.shown.result.statistics["id"][:2])
    settled(qtbot, paused)
    assert not drawn_over(viewer).any()
    paused.display.select([id])
    qtbot.waitUntil(lambda: bool(drawn_over(viewer).any()), timeout=LONG)
    paused.run.worker.cancel()
    qtbot.waitUntil(lambda: paused.state is State.STOPPED, timeout=LONG)
    assert not drawn_over(viewer).any()


def put_elsewhere(paused: Document, qtbot: QtBot) -> None:
    """Set the session aside and open it again, as saving does."""
    path = paused.session.path
    paused.set_aside()
    paused.run.when_idle(lambda: paused.open_session(path, moved=True))
    qtbot.waitUntil(lambda: not paused.saving, timeout=LONG)
    assert paused.state is State.PAUSED


def test_a_paused_clip_that_was_saved_still_shows_where_segments_would_be_split(
    viewer: Viewer, paused: Document, qtbot: QtBot
) -> None:
    id, frame = click_divided(qtbot, viewer), paused.display.index
    line = drawn_over(viewer)
    put_elsewhere(paused, qtbot)
    paused.display.select([])
    settled(qtbot, paused)
    assert not drawn_over(viewer).any()
    click(qtbot, viewer, id)
    qtbot.waitUntil(lambda: bool(drawn_over(viewer).any()), timeout=LONG)
    settled(qtbot, paused)
    np.testing.assert_array_equal(drawn_over(viewer), line)
    assert paused.display.index == frame == paused.summary.frames[-1]
    # The following frames have lines of their own.
    paused.pause(False)
    qtbot.waitUntil(lambda: paused.summary.frames[-1] > frame + 1, timeout=LONG)
    paused.pause(True)
    qtbot.waitUntil(lambda: paused.display.index == len(paused.session) - 1 == paused.summary.frames[-1], timeout=LONG)
    click_divided(qtbot, viewer)


def test_closing_releases_the_segmenter(viewer: Viewer, paused: Document, qtbot: QtBot) -> None:
    click_divided(qtbot, viewer)
    gc.collect()
    alive = [weakref.ref(item) for item in gc.get_objects() if type(item) is VideoSegmenter]
    paused.set_aside()
    qtbot.waitUntil(lambda: not paused.run.busy, timeout=LONG)
    assert any(reference() is not None for reference in alive)
    paused.close()
    gc.collect()
    assert all(reference() is None for reference in alive)


class Segmenter:
    """Counts its calls; segment 1 has two sub-clusters, 2 is dead."""

    def __init__(self, second: npt.NDArray[np.bool_]) -> None:
        self.second, self.asked = second, 0

    def split_mask(self, id: int) -> npt.NDArray[np.bool_]:
        self.asked += 1
        if id == 2:
            raise KeyError("segment 2 is not alive")
        return self.second


def test_the_engine_is_asked_once_a_frame_and_only_for_a_selected_segment() -> None:
    result = story((48, 64))[0]
    own = result.ids == 1
    columns = np.flatnonzero(own.any(axis=0))
    segmenter: Any = Segmenter(own & (np.arange(64) >= columns[4]))
    watcher = SplitWatcher()
    watcher.set_newest((result, segmenter))
    assert watcher.find() is None
    assert segmenter.asked == 0
    watcher.watch(1)
    found = watcher.find()
    assert found is not None
    assert (found.index, found.id) == (0, 1)
    np.testing.assert_array_equal(found.line, own & (np.arange(64) == columns[3]))
    assert watcher.find() is None
    watcher.watch(2)
    assert watcher.find() is None
    assert segmenter.asked == 2
    watcher.set_newest(None)
    watcher.watch(1)
    assert watcher.find() is None


def test_selecting_does_not_delay_the_newest_frame(story_document: Document, qtbot: QtBot) -> None:
    story_document.display.follow_newest = True
    story_document.run.worker.newest.put(story((48, 64))[4])
    story_document.run.worker.advanced.emit()
    story_document.display.select([1])
    qtbot.waitUntil(lambda: story_document.display.index == 4 and story_document.display.shown.look.selected == {1})
