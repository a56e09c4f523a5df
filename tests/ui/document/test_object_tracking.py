"""Objects are tracked in the background: their masks are stored, shown as they come, and follow every edit."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel, QTreeWidget
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_video
from helpers.held_worker import pause_after_each
from helpers.object_clips import SHAPE, Mask, mask_files, painted, square_at, unseparated
from scstream import metrics
from scstream_app.objects import MarkedObject
from scstream_app.pipeline.frame_result import FrameResult, ObjectMasks
from scstream_app.session import Session
from scstream_app.settings import Settings
from scstream_app.sources import open_source
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State
from scstream_app.ui.document.tracked_segments import segments_of_objects
from scstream_app.ui.document.workers import object_worker
from scstream_app.ui.panels.objects import ObjectsPanel
from scstream_app.ui.window.status.status_bar_widgets import TrackingProgress

pytestmark = pytest.mark.slow

LONG = 60_000
COUNT = 30
KITE = painted("kite", 2)
CORRECTED = painted("kite", 2, 20, mask=lambda frame: square_at(frame, row=12 if frame == 2 else 30))


@pytest.fixture
def clip(open_results: Callable[..., Document]) -> Document:
    """A clip whose segments do not separate the object."""
    return open_results(unseparated(COUNT))


def track(document: Document, qtbot: QtBot, *objects: MarkedObject) -> None:
    """Set the objects, and wait until the worker has reported the masks of all frames."""

    def done(session: Session, frames: list[int]) -> bool:
        missing = [index for index in document.summary.frames if session.read_object_masks(index, objects) is None]
        return document.tracking.progress is None and not missing

    with qtbot.waitSignal(document.tracking.tracked, timeout=LONG, check_params_cb=done):
        document.set_objects(objects)


def show(document: Document, qtbot: QtBot, index: int) -> None:
    document.display.show(index)
    qtbot.waitUntil(lambda: document.display.index == index, timeout=LONG)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Holds the tracker before frame 10, until the event is set."""
    going_on = threading.Event()
    advance = object_worker.MaskUpdates.track

    def slowly(self, session, objects, missing, source, cancel):  # type: ignore[no-untyped-def]
        for index, stored in advance(self, session, objects, missing, source, cancel):
            yield index, stored
            while index == 9 and not cancel.is_set() and not going_on.wait(0.01):
                pass

    monkeypatch.setattr(object_worker.MaskUpdates, "track", slowly)
    yield going_on
    going_on.set()


# --- what is shown


def test_the_matte_shows_the_tracked_mask(clip: Document, qtbot: QtBot) -> None:
    clip.display.set_look(view="matte")
    show(clip, qtbot, 25)
    track(clip, qtbot, KITE)
    qtbot.waitUntil(lambda: clip.display.shown.result.objects is not None, timeout=LONG)
    opaque = clip.display.shown.picture[..., 3] == 255
    # No segment belongs to the object: its mask is painted.
    assert clip.display.shown.look.members == frozenset()
    assert metrics.jaccard(opaque, square_at(25)) > 0.85
    np.testing.assert_array_equal(opaque, clip.session.read_object_masks(25, (KITE,)).mask(0))


def test_the_matte_shows_segments_until_there_are_masks(
    story_document: Document, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Session, "store_object_masks", lambda *_: None)
    story_document.display.set_look(view="matte")
    story_document.set_objects([MarkedObject.made("kite", (0, 0, 0), 0, {1})])
    qtbot.waitUntil(lambda: story_document.display.shown.look.members == {1}, timeout=LONG)
    shown = story_document.display.shown
    np.testing.assert_array_equal(shown.picture[..., 3] == 255, shown.result.ids == 1)


def test_the_list_shows_area_and_confidence_of_the_frame(clip: Document, qtbot: QtBot) -> None:
    panel = ObjectsPanel(clip)
    qtbot.addWidget(panel)
    with qtbot.waitExposed(panel):
        panel.show()

    def texts() -> list[str]:
        row = panel.findChild(QTreeWidget).topLevelItem(0)
        return [row.text(column) for column in (1, 2, 3)]

    show(clip, qtbot, 2)
    track(clip, qtbot, KITE)
    qtbot.waitUntil(lambda: texts() == ["0", "256", "edited"], timeout=LONG)
    show(clip, qtbot, 0)
    qtbot.waitUntil(lambda: texts() == ["0", "0", "0 %"], timeout=LONG)


def tracked_shown(document: Document) -> bool:
    """Whether the frame shown has the masks of the present objects."""
    shown = document.display.shown
    return shown.result.objects is not None and shown.objects == document.objects


def test_the_segments_of_an_object_are_those_that_its_mask_covers(clip: Document, qtbot: QtBot) -> None:
    # All pixels are one segment.
    for rows, expected in ((SHAPE[0] // 3, frozenset()), (2 * SHAPE[0] // 3, {0})):
        mask = np.zeros(SHAPE, bool)
        mask[:rows] = True
        track(clip, qtbot, painted("kite", 0, mask=lambda _, mask=mask: mask))
        qtbot.waitUntil(lambda: tracked_shown(clip), timeout=LONG)
        assert segments_of_objects(clip) == {"kite": expected}


def test_segments_of_a_draft_are_not_counted(story_document: Document) -> None:
    story_document.objects = (MarkedObject.made("kite", (0, 0, 0), 0, {1}),)
    assert segments_of_objects(story_document) == {"kite": {1}}
    shown = story_document.display.shown
    draft = replace(shown.result, statistics=shown.result.statistics[:0])
    story_document.display.shown = replace(shown, result=draft)
    assert segments_of_objects(story_document) == {"kite": frozenset()}


def test_segments_have_an_area_and_no_confidence(story_document: Document, qtbot: QtBot) -> None:
    story_document.objects = (MarkedObject.made("kite", (0, 0, 0), 0, {1}),)
    masks = story_document.display.masks()
    assert masks.areas == (int((story_document.display.shown.result.ids == 1).sum()),)
    assert np.isnan(masks.confidences).all()


def test_the_status_bar_shows_how_far_it_is(clip: Document, qtbot: QtBot, held: threading.Event) -> None:
    label: QLabel = TrackingProgress(clip)
    qtbot.addWidget(label)
    texts: list[str] = []
    clip.tracking.advanced.connect(lambda: texts.append(label.text()))
    clip.set_objects([KITE])
    # The first report comes with the first frame.
    qtbot.waitUntil(lambda: "Tracking objects… 3 %" in texts, timeout=LONG)
    held.set()
    qtbot.waitUntil(lambda: texts[-1] == "", timeout=LONG)


# --- edits


def test_an_edit_leaves_the_masks_of_earlier_frames_untouched(clip: Document, qtbot: QtBot) -> None:
    track(clip, qtbot, KITE)
    before = mask_files(clip.session)
    track(clip, qtbot, CORRECTED)
    after = mask_files(clip.session)
    assert list(before) == list(after) == list(range(COUNT))
    assert [index for index in before if before[index] != after[index]] == list(range(20, COUNT))
    np.testing.assert_array_equal(clip.session.read_object_masks(20, (CORRECTED,)).mask(0), square_at(20, row=30))


def test_areas_and_confidences_are_those_of_the_stored_masks(
    clip: Document, qtbot: QtBot, held: threading.Event
) -> None:
    held.set()
    track(clip, qtbot, KITE)
    held.clear()
    first = stored_curve(clip, KITE)
    assert curve(clip) == first
    clip.set_objects([CORRECTED])
    # Frames that an edit concerns are unknown until they are tracked again.
    qtbot.waitUntil(lambda: curve(clip) == dict(list(first.items())[:20]), timeout=LONG)
    clip.set_objects([KITE])
    qtbot.waitUntil(lambda: curve(clip) == first, timeout=LONG)
    clip.close()
    assert not len(clip.tracking.curves.frames)


def curve(document: Document) -> dict[int, object]:
    """Area and confidence of the object by frame."""
    found = document.tracking.curves
    values = np.hstack([found.areas, found.confidences]).tolist()
    return {index: pytest.approx(pair, abs=1e-4) for index, pair in zip(found.frames.tolist(), values, strict=True)}


def stored_curve(document: Document, one: MarkedObject) -> dict[int, list[float]]:
    found = {index: document.session.read_object_masks(index, (one,)) for index in range(COUNT)}
    return {index: [float(masks.areas[0]), masks.confidences[0]] for index, masks in found.items()}


def test_an_edit_while_tracking_replaces_the_work(clip: Document, qtbot: QtBot, held: threading.Event) -> None:
    clip.set_objects([KITE])
    qtbot.waitUntil(lambda: 9 in mask_files(clip.session), timeout=LONG)
    held.set()
    track(clip, qtbot, CORRECTED)
    assert all(clip.session.read_object_masks(index, (CORRECTED,)) for index in range(COUNT))


def test_the_frame_shown_gets_its_new_mask(clip: Document, qtbot: QtBot) -> None:
    show(clip, qtbot, 20)
    track(clip, qtbot, KITE)
    qtbot.waitUntil(lambda: shown_mask(clip).any(), timeout=LONG)
    track(clip, qtbot, CORRECTED)
    qtbot.waitUntil(lambda: np.array_equal(shown_mask(clip), square_at(20, row=30)), timeout=LONG)
    track(clip, qtbot, KITE)
    qtbot.waitUntil(lambda: metrics.jaccard(shown_mask(clip), square_at(20)) > 0.85, timeout=LONG)


def shown_mask(document: Document) -> Mask:
    masks: ObjectMasks | None = document.display.shown.result.objects
    return np.zeros(SHAPE, bool) if masks is None else masks.mask(0)


# --- runs, closing and moving


def test_frames_are_tracked_while_they_are_segmented(document: Document, qtbot: QtBot, tmp_path: Path) -> None:
    document.set_settings(Settings(max_init_sweeps=20, threads=1))
    pause_after_each(document.run.worker)
    clip = write_video(tmp_path / "clip.mp4", moving_square(6))
    document.open_source(str(clip), tmp_path / "a.scstream")
    for count in range(1, 7):
        qtbot.waitUntil(lambda count=count: goes_on_until(document, count), timeout=LONG)
        if count == 1:
            corner = int(document.session.ids(0)[0, 0])
            document.set_objects([MarkedObject.made("ground", (0, 0, 0), 0, {corner})])
        qtbot.waitUntil(lambda count=count: mask_files(document.session).keys() >= set(range(count)), timeout=LONG)
    document.run.pause(False)
    qtbot.waitUntil(lambda: document.state is State.DONE, timeout=LONG)
    qtbot.waitUntil(lambda: not document.tracking.busy, timeout=LONG)


def goes_on_until(document: Document, count: int) -> bool:
    """Go on with the run unless it has this many frames; it may pause a moment after its frame has arrived here."""
    if len(document.summary) < count:
        document.run.pause(False)
    return len(document.summary) >= count


def test_closing_while_tracking_ends_it(clip: Document, qtbot: QtBot, held: threading.Event) -> None:
    session = clip.session
    clip.set_objects([KITE])
    qtbot.waitUntil(lambda: 9 in mask_files(session), timeout=LONG)
    clip.close()
    assert clip.tracking.worker.join(LONG / 1000)
    assert list(mask_files(session)) == list(range(10))
    assert clip.tracking.shut_down(LONG)


def test_a_session_that_is_opened_again_is_tracked_to_the_end(
    clip: Document, qtbot: QtBot, held: threading.Event
) -> None:
    path = clip.session.path
    clip.set_objects([KITE])
    qtbot.waitUntil(lambda: 9 in mask_files(clip.session), timeout=LONG)
    clip.close()
    held.set()
    clip.open_session(path)
    qtbot.waitUntil(lambda: clip.session is not None and len(mask_files(clip.session)) == COUNT, timeout=LONG)


def test_a_session_that_is_moved_is_tracked_to_the_end(
    clip: Document, qtbot: QtBot, held: threading.Event, tmp_path: Path
) -> None:
    clip.set_objects([KITE])
    qtbot.waitUntil(lambda: 9 in mask_files(clip.session), timeout=LONG)
    clip.set_aside()
    assert clip.tracking.worker.join(LONG / 1000)
    moved = clip.session.path.rename(tmp_path / "moved.scstream")
    held.set()
    clip.open_session(moved, moved=True)
    qtbot.waitUntil(lambda: clip.session.path == moved and len(mask_files(clip.session)) == COUNT, timeout=LONG)


def test_without_its_source_a_clip_shows_segments(
    document: Document, qtbot: QtBot, finished_session: Callable[[list[FrameResult]], Path]
) -> None:
    path = finished_session(unseparated(3))
    with Session.open(path) as session:
        folder = Path(session.source_address)
    folder.rename(folder.with_name("elsewhere"))
    document.open_session(path)
    qtbot.waitUntil(lambda: document.state is State.DONE, timeout=LONG)
    with qtbot.waitSignal(document.tracking.tracked, timeout=LONG):
        document.set_objects([painted("kite", 0)])
    assert mask_files(document.session) == {}


def test_masks_of_another_source_are_not_stored(
    document: Document, qtbot: QtBot, finished_session: Callable[[list[FrameResult]], Path]
) -> None:
    path = finished_session(unseparated(3))
    with Session.open(path) as session, open_source(session.source_address) as source:
        first = Path(session.source_address, sorted(Path(source.address).iterdir())[0].name)
    first.write_bytes(sorted(first.parent.iterdir())[2].read_bytes())
    document.open_session(path)
    qtbot.waitUntil(lambda: document.state is State.DONE, timeout=LONG)
    with qtbot.waitSignal(document.tracking.tracked, timeout=LONG):
        document.set_objects([painted("kite", 0)])
    assert mask_files(document.session) == {}
