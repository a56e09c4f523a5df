"""Fixtures of the window tests: a window and a document that are shut down after each test, and small sessions."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import mkdtemp

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTabWidget, QWidget
from pytestqt.qtbot import QtBot

from helpers.clips import write_images
from helpers.export_scenes import story
from helpers.patient_qtbot import PatientQtBot
from scstream import warm_up
from scstream_app import thumbnails
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.session import Session
from scstream_app.session.library import Library
from scstream_app.settings import Settings
from scstream_app.sources import open_source
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State
from scstream_app.ui.window.main_window import MainWindow

MakeSession = Callable[[Sequence[FrameResult]], Path]

_FOLDER = Path(__file__).parent
_SCREEN = _FOLDER / "screen.json"
_EVENTS = "Events"


def pytest_configure() -> None:
    """Give Qt's platform without a display a screen of common size; its own has 800 by 800 pixels."""
    if os.environ.get("QT_QPA_PLATFORM") == "offscreen":
        os.environ["QT_QPA_PLATFORM"] = f"offscreen:configfile={_SCREEN}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run a failed test of the window once more: threads and timers decide some of them on a busy machine.

    The summary names each test that was run again, so that its cause can be found.
    """
    for item in items:
        if item.path.is_relative_to(_FOLDER):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session", autouse=True)
def compiled() -> None:
    """Compile the engine before the tests, since that takes longer than their time limits."""
    warm_up()
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def collected(compiled: None) -> Iterator[None]:
    """Collect garbage between tests only, on the interface thread; see `GcTimer`."""
    gc.disable()
    yield
    gc.collect()


@pytest.fixture(autouse=True)
def released(qapp: QApplication) -> Iterator[None]:
    """Release the mouse after each test: Qt takes the button of a simulated double click for still pressed."""
    yield
    if QApplication.mouseButtons() & Qt.MouseButton.LeftButton:
        QTest.mouseRelease(QWidget(), Qt.MouseButton.LeftButton)


@pytest.fixture(scope="session")
def thumbnail_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the small pictures of clips, the same for all tests: the samples are read once."""
    return tmp_path_factory.mktemp("thumbnails")


@pytest.fixture(autouse=True)
def thumbnails_apart(thumbnail_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the user's cache folder alone."""
    monkeypatch.setattr(thumbnails, "cache_folder", lambda: thumbnail_folder)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    """A bot that waits for long enough on a busy machine."""
    return PatientQtBot(request)


@pytest.fixture
def settings(tmp_path: Path) -> QSettings:
    """Settings of a window that has already said that unsaved work is kept: closing it asks nothing."""
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    settings.setValue("hints/kept", "shown")
    return settings


@pytest.fixture
def quick() -> Settings:
    """Engine settings for quick tests."""
    return Settings(max_init_sweeps=20, threads=1)


@pytest.fixture
def before_closing() -> Callable[[MainWindow], None]:
    """Called before the window is closed after a test; modules may override it."""
    return lambda window: None


@pytest.fixture
def window(
    qtbot: QtBot,
    settings: QSettings,
    quick: Settings,
    tmp_path: Path,
    before_closing: Callable[[MainWindow], None],
) -> MainWindow:
    """Active window with nothing open. It is closed after the test, before other fixtures end.

    Its Statistics panel shows the table of events: to create and draw the plots takes as long as all other widgets.
    """
    window = MainWindow(settings, Library(tmp_path / "library"))
    window.document.set_settings(quick)
    tabs = window.statistics.findChild(QTabWidget)
    tabs.setCurrentIndex([tabs.tabText(place) for place in range(tabs.count())].index(_EVENTS))
    qtbot.addWidget(window, before_close_func=before_closing)
    window.show()
    with qtbot.waitActive(window):
        window.activateWindow()
    return window


@pytest.fixture
def document(qtbot: QtBot) -> Iterator[Document]:
    """An empty document."""
    made = Document()
    yield made
    assert made.shut_down()


@pytest.fixture
def finished_session(tmp_path: Path) -> MakeSession:
    """Function that writes results as a complete session and returns its path."""

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
    """Function that opens results in the document and shows the first one."""

    def open_(results: Sequence[FrameResult]) -> Document:
        with qtbot.waitSignal(document.display.shown_changed):
            document.open_session(finished_session(results))
        qtbot.waitUntil(lambda: document.state is State.DONE)
        return document

    return open_


@pytest.fixture
def story_document(open_results: Callable[..., Document]) -> Document:
    """Five frames of 48 by 64 pixels: segment 1 splits at frame 2 into 1 and 3, and 0 absorbs 2 at frame 4."""
    return open_results(story((48, 64)))
