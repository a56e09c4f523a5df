"""The main window: puts the parts together and connects them; every part does its own work."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QPoint, QSettings, Qt, Slot
from PySide6.QtGui import QActionGroup, QCloseEvent
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QFileDialog,
    QInputDialog,
    QLabel,
    QMainWindow,
    QMenu,
    QMessageBox,
    QProgressBar,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from scstream_app.errors import StudioError, reason
from scstream_app.library import Library, move_session
from scstream_app.pipeline import Notice
from scstream_app.session import SUFFIX, Recorded
from scstream_app.settings import Settings
from scstream_app.ui import dialogs, housekeeping, theme
from scstream_app.ui.actions import SPECS, Actions
from scstream_app.ui.camera_dialog import CameraDialog
from scstream_app.ui.carrying import settings_of
from scstream_app.ui.controls import ControlsPanel
from scstream_app.ui.document import Document, State
from scstream_app.ui.export_dialog import ExportDialog
from scstream_app.ui.feed import TARGETS, Feed
from scstream_app.ui.lights import OpacitySlider, SettledLight
from scstream_app.ui.live import LiveBar
from scstream_app.ui.message_bar import MessageBar
from scstream_app.ui.models import Models
from scstream_app.ui.objects import ObjectsPanel
from scstream_app.ui.player import Player
from scstream_app.ui.preferences import Preferences, PreferencesDialog
from scstream_app.ui.preferring import Preferring
from scstream_app.ui.segments import SegmentsPanel
from scstream_app.ui.statistics import StatisticsPanel
from scstream_app.ui.timeline import Timeline
from scstream_app.ui.transport import Transport
from scstream_app.ui.viewer import Viewer
from scstream_app.ui.welcome import Welcome

if TYPE_CHECKING:
    from scstream import VideoSegmenter

_RECENT = 12
_PANEL_WIDTH = 400
#: Frames a second that a live source is to be held at before anybody says otherwise.
_USUAL_TARGET = 20.0
_STATE_TEXT = {
    State.EMPTY: "",
    State.OPENING: "Opening…",
    State.WARMING: "Preparing the engine (compiles for half a minute the first time)…",
    State.SETTLING: "The first frame settles…",
    State.SEGMENTING: "Segmenting",
    State.PAUSED: "Segmentation paused",
    State.STOPPED: "Segmentation stopped",
    State.DONE: "Segmented",
}


class MainWindow(QMainWindow):
    """One document, a viewer in the middle, panels around it."""

    def __init__(self, settings: QSettings, library: Library | None = None) -> None:
        super().__init__()
        self.setObjectName("mainWindow")
        self.setWindowTitle("ScStream Studio")
        self.resize(1280, 800)
        self._settings = settings
        self._open_panels: dict[str, bool] = {}
        self._panels_shown = True
        self.preferences = Preferences(settings, self)
        self._own_library = library or Library()
        self.library = self._own_library
        self.document = Document(self)
        self.player = Player(self.document)
        self.feed = Feed(self.document, _target(settings), self)
        self.actions_ = Actions(self, settings)
        self.models = Models(self.document, self)
        self._build_centre()
        self._build_panels()
        self._build_menus()
        self._build_status()
        self._bind_actions()
        self._connect()
        self._layout = self.saveState()
        self._restore()
        self._apply_preferences()
        self._refresh()

    # --- building

    def _build_centre(self) -> None:
        self.message = MessageBar()
        self.welcome = Welcome()
        self.viewer = Viewer(self.document)
        self.live_bar = LiveBar(self.document, self.feed, self.viewer, self.actions_["record"])
        self.transport = Transport(self.document, self.player)
        self.timeline = Timeline(self.document, self.player)
        stage = QWidget()
        column = QVBoxLayout(stage)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.live_bar)
        column.addWidget(self.viewer, 1)
        column.addWidget(self.timeline)
        column.addWidget(self.transport)
        self._stage = stage
        self._pages = QStackedWidget()
        self._pages.addWidget(self.welcome)
        self._pages.addWidget(stage)
        centre = QWidget()
        whole = QVBoxLayout(centre)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self.message)
        whole.addWidget(self._pages, 1)
        self.setCentralWidget(centre)

    def _build_panels(self) -> None:
        self.segments = SegmentsPanel(self.document)
        self.objects = ObjectsPanel(self.document)
        self.statistics = StatisticsPanel(self.document)
        self.controls = ControlsPanel(self.document)
        self._docks = {
            "segments": self._dock("Segments", self.segments),
            "objects": self._dock("Objects", self.objects),
            "controls": self._dock("Controls", self.controls),
            "statistics": self._dock("Statistics", self.statistics),
        }
        for name in ("objects", "controls"):
            self.tabifyDockWidget(self._docks["segments"], self._docks[name])
        self._docks["segments"].raise_()
        corner = Qt.Corner.BottomRightCorner
        self.setCorner(corner, Qt.DockWidgetArea.RightDockWidgetArea)
        docks = [self._docks["segments"], self._docks["statistics"]]
        self.resizeDocks(docks[:1], [_PANEL_WIDTH], Qt.Orientation.Horizontal)
        self.resizeDocks(docks, [420, 320], Qt.Orientation.Vertical)

    def _dock(self, title: str, widget: QWidget) -> QDockWidget:
        dock = QDockWidget(title, self)
        dock.setObjectName(f"dock_{title.lower()}")
        dock.setWidget(widget)
        self.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
        return dock

    def _show_panels(self, shown: bool) -> None:
        """There is nothing in the panels before something is open; those that a person closed stay closed."""
        for name, dock in self._docks.items():
            if not shown and self._panels_shown:
                self._open_panels[name] = not dock.isHidden()
            dock.setVisible(shown and self._open_panels.get(name, True))
        self._panels_shown = shown
        if shown:
            self._docks["segments"].raise_()

    def _build_menus(self) -> None:
        menus = {name: self.menuBar().addMenu(name) for name in dict.fromkeys(spec.menu for spec in SPECS)}
        groups = {name: QActionGroup(self) for name in ("view", "theme")}
        for spec in SPECS:
            if not spec.title:
                menus[spec.menu].addSeparator()
                continue
            action = self.actions_[spec.id]
            menus[spec.menu].addAction(action)
            self.addAction(action)
            if spec.group:
                groups[spec.group].addAction(action)
        menus["View"].addSeparator()
        for dock in self._docks.values():
            menus["View"].addAction(dock.toggleViewAction())

    def _build_status(self) -> None:
        self._state_label, self._hover_label, self._rate_label = QLabel(), QLabel(), QLabel()
        self._progress = QProgressBar()
        self._progress.setMaximumWidth(180)
        self._progress.setTextVisible(False)
        bar = self.statusBar()
        bar.addWidget(self._state_label)
        bar.addWidget(self._progress)
        bar.addWidget(self._hover_label, 1)
        self.settled_light = SettledLight(self.document)
        bar.addPermanentWidget(self.settled_light)
        bar.addPermanentWidget(self._rate_label)
        bar.addPermanentWidget(OpacitySlider(self.document))

    # --- wiring

    def _bind_actions(self) -> None:
        player = self.player
        self.actions_.bind(
            {
                "open": self._ask_video,
                "open_folder": self._ask_folder,
                "open_camera": self._ask_camera,
                "open_url": self._ask_url,
                "open_session": self._ask_session,
                "save": self.save,
                "save_as": self.save_as,
                "export": self._export,
                "save_model": self.models.save,
                "use_model": self.models.use_this,
                "open_model": self.models.use_file,
                "close": self.document.close,
                "quit": self.close,
                "undo": self.document.undo.undo,
                "redo": self.document.undo.redo,
                "hide": self.segments.toggle_hidden,
                "merge": self.segments.merge_selected,
                "split": self.segments.split_selected,
                "lock": self.segments.toggle_locked,
                "group": self.objects.add_selected,
                "ungroup": self.objects.remove_selected,
                "preferences": self.show_preferences,
                "fit": self.viewer.fit,
                "actual_size": self.viewer.actual_size,
                "zoom_in": lambda: self.viewer.zoom(1.25),
                "zoom_out": lambda: self.viewer.zoom(0.8),
                "full_screen": self._toggle_full_screen,
                "play": self._toggle_play,
                "next": lambda: player.step(1),
                "previous": lambda: player.step(-1),
                "forward": lambda: player.step(10),
                "back": lambda: player.step(-10),
                "start": player.to_start,
                "end": player.to_end,
                "next_event": player.next_event,
                "previous_event": player.previous_event,
                "next_uncertain": partial(self._go_uncertain, player.next_uncertain),
                "previous_uncertain": partial(self._go_uncertain, player.previous_uncertain),
                "slower": player.slower,
                "faster": player.faster,
                "normal_speed": player.normal_speed,
                "loop": lambda: player.set_loop(self.actions_["loop"].isChecked()),
                "set_in": player.set_in,
                "set_out": player.set_out,
                "clear_range": player.clear_range,
                "pause_segmenting": lambda: self.document.pause(self.actions_["pause_segmenting"].isChecked()),
                "record": self._toggle_recording,
                "restart": lambda: self.segment_again(self.document.settings),
                "shortcuts": lambda: dialogs.show_keys(self, self.actions_),
                "about": lambda: dialogs.show_about(self),
                **{spec.id: partial(self._show_view, spec.id) for spec in SPECS if spec.group == "view"},
                **{spec.id: partial(self._set_theme, spec.id) for spec in SPECS if spec.group == "theme"},
            }
        )

    def _show_view(self, action: str) -> None:
        self.document.set_look(view=action.removeprefix("view_"))

    def _set_theme(self, action: str) -> None:
        self.preferences["theme"] = action.removeprefix("theme_")

    def _apply_theme(self) -> None:
        theme_ = theme.chosen(self._settings)
        self.actions_[f"theme_{theme_}"].setChecked(True)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme.apply(app, theme_)

    def _connect(self) -> None:
        document = self.document
        document.opened.connect(self._on_opened)
        document.closed.connect(self._on_closed)
        document.state_changed.connect(self._refresh)
        document.progressed.connect(self._on_progress)
        document.look_changed.connect(self._on_look)
        document.failed.connect(self._on_failed)
        document.noticed.connect(self._on_notice)
        self.viewer.dropped.connect(self.open_dropped)
        self.viewer.hovered.connect(self._on_hover)
        self.viewer.menu_asked.connect(self._show_viewer_menu)
        self.timeline.menu_asked.connect(self._show_timeline_menu)
        self.models.wanted.connect(self._open_with_model)
        self.models.said.connect(self.message.say)
        self.actions_.keys_changed.connect(self._tell_keys)
        document.undo.undoTextChanged.connect(self._tell_undo)
        document.undo.redoTextChanged.connect(self._tell_undo)
        self._tell_keys()
        self.welcome.dropped.connect(self.open_dropped)
        self.welcome.chosen.connect(self.open_address)
        self.welcome.session_chosen.connect(self._open_session_text)
        self.welcome.asked.connect(self._trigger)
        self.controls.restart_requested.connect(self.segment_again)
        self.preferences.changed.connect(self._on_preference)
        self.feed.changed.connect(self._on_feed)
        self.feed.recorded.connect(self._on_recorded)

    # --- preferences

    def show_preferences(self) -> PreferencesDialog:
        """Open the dialog."""
        dialog = PreferencesDialog(self.preferences, self)
        dialog.asked.connect(self._on_preference_button)
        dialog.open()
        return dialog

    def _apply_preferences(self) -> None:
        """What holds from the start."""
        self._apply_theme()
        self._apply_library()
        self.preferring = Preferring(self.preferences, self.document)
        days = self.preferences["keep_days"]
        if days is not None:
            housekeeping.clear(self.library, days)

    @Slot(str)
    def _on_preference(self, name: str) -> None:
        if name == "theme":
            self._apply_theme()
        elif name == "library" and self.document.session is None:
            self._apply_library()
            self._refresh()

    def _apply_library(self) -> None:
        folder = self.preferences["library"]
        self.library = Library(Path(folder).expanduser()) if folder else self._own_library

    @Slot(str)
    def _on_preference_button(self, what: str) -> None:
        match what:
            case "keys":
                dialogs.show_keys(self, self.actions_)
            case "layout":
                self._reset_layout()
            case "clear":
                self._clear_unsaved()

    def _reset_layout(self) -> None:
        shown = self._panels_shown
        self._settings.remove("window")
        self._open_panels.clear()
        self.restoreState(self._layout)
        self._panels_shown = True
        self._show_panels(shown)

    def _clear_unsaved(self) -> None:
        count = len(list(housekeeping.unsaved(self.library)))
        if not count:
            self.message.say("There are no unsaved sessions to delete.", "notice")
        elif self._confirm(f"Delete {count} unsaved sessions and what was marked in them? The one that is open stays."):
            self.message.say(f"{housekeeping.clear(self.library)} unsaved sessions deleted.", "notice")
            self._refresh()

    @Slot()
    def _tell_keys(self) -> None:
        self.transport.set_keys(self.actions_.key)
        self.segments.set_keys(self.actions_.key)

    @Slot()
    def _tell_undo(self) -> None:
        undo = self.document.undo
        self.actions_["undo"].setText(f"Undo {undo.undoText()}".rstrip())
        self.actions_["redo"].setText(f"Redo {undo.redoText()}".rstrip())

    @Slot(QPoint)
    def _show_viewer_menu(self, where: QPoint) -> None:
        """What can be done to the selected segments, and how to look at the picture."""
        menu = self.segments.make_menu()
        menu.addSeparator()
        menu.addActions([self.actions_[id] for id in ("fit", "actual_size", "view_original", "view_overlay")])
        menu.popup(where)

    @Slot(QPoint)
    def _show_timeline_menu(self, where: QPoint) -> None:
        """Where to go from here, and what is to be played."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for id in ("next_event", "previous_event", "next_uncertain", "previous_uncertain"):
            menu.addAction(self.actions_[id])
        menu.addSeparator()
        menu.addActions([self.actions_[id] for id in ("set_in", "set_out", "clear_range", "loop", "export")])
        menu.popup(where)

    def _go_uncertain(self, go: Callable[[], None]) -> None:
        if self.document.trace.uncertain_frames():
            go()
        else:
            self.message.say("No frame is known to be more uncertain than the others yet.", "notice")

    @Slot(str)
    def _trigger(self, id: str) -> None:
        self.actions_[id].trigger()

    # --- opening

    @Slot(str)
    def open_address(self, address: str) -> None:
        """Open whatever a person means: a video, images, a camera, a URL, or a session."""
        if Path(address).suffix == SUFFIX:
            self._open_session_text(address)
            return
        self._discard_unwanted()
        self._remember(address)
        self.preferring.use_preset()
        self._open_source(address)

    @Slot(str, object)
    def _open_with_model(self, address: str, model: VideoSegmenter) -> None:
        self._discard_unwanted()
        self._remember(address)
        self.document.set_settings(settings_of(model, self.document.settings))
        self.document.open_source(address, self.library.new_path(address), model)
        self._pages.setCurrentWidget(self._stage)

    def _open_source(self, address: str) -> None:
        self.document.open_source(address, self.library.new_path(address))
        self._pages.setCurrentWidget(self._stage)

    @Slot(list)
    def open_dropped(self, addresses: list[str]) -> None:
        """Open what was dropped: one thing, or several images as a sequence."""
        if addresses:
            self.open_address(addresses[0] if len(addresses) == 1 else "\n".join(addresses))

    @Slot(str)
    def _open_session_text(self, path: str) -> None:
        self._discard_unwanted()
        self._remember(path)
        self.document.open_session(Path(path))
        self._pages.setCurrentWidget(self._stage)

    @Slot(object)
    def segment_again(self, settings: Settings) -> None:
        """Segment the same source from its start, with these settings."""
        facts, session = self.document.facts, self.document.session
        if facts is not None:
            address = facts.address if session is None else session.source_address
            self._discard_unwanted()
            self.document.set_settings(settings)
            self._open_source(address)

    def _discard_unwanted(self) -> None:
        """A session that nobody saved or marked anything in can go when another one comes."""
        session = self.document.session
        # The pictures of a recording are nowhere else.
        if session is None or not self.library.holds(session.path) or session.recorded:
            return
        if self.document.undo.count() == 0 and not self.document.objects:
            path = session.path
            self.document.close()
            self.library.discard(path)

    def _ask_video(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Open Video", self._folder(), dialogs.VIDEO_FILTER)
        if path:
            self.open_address(path)

    def _ask_folder(self) -> None:
        path = QFileDialog.getExistingDirectory(self, "Open Image Sequence", self._folder())
        if path:
            self.open_address(path)

    def _ask_camera(self) -> None:
        # It may be the one that is on now: a camera is for one at a time.
        if self.document.live:
            self.document.close()
        dialog = CameraDialog(self)
        dialog.chosen.connect(self.open_address)
        dialog.open()

    def _ask_url(self) -> None:
        url, accepted = QInputDialog.getText(self, "Open URL", "Address of a video or stream:")
        if accepted and url.strip():
            self.open_address(url.strip())

    def _ask_session(self) -> None:
        path = QFileDialog.getExistingDirectory(self, "Open Session (a folder NAME.scstream)", self._folder())
        if path:
            self._open_session_text(path)

    def _folder(self) -> str:
        recent = [Path(address) for address in self.recent() if Path(address).exists()]
        return str(recent[0].parent) if recent else str(Path.home())

    def recent(self) -> list[str]:
        """What was opened lately, newest first."""
        value = self._settings.value("recent", [])
        return [str(address) for address in value] if isinstance(value, list) else [str(value)]

    def _remember(self, address: str) -> None:
        kept = [address, *(other for other in self.recent() if other != address)]
        self._settings.setValue("recent", kept[:_RECENT])

    # --- saving and exporting

    def save(self) -> None:
        """Everything is on the disk already; a session that has no place of its own gets one."""
        session = self.document.session
        if session is not None and self.library.holds(session.path):
            self.save_as()
        elif session is not None:
            self.message.say(f"Saved in '{session.path}'.", "notice")

    def save_as(self) -> None:
        """Move the session to where a person wants it, and go on with it there."""
        session = self.document.session
        if session is None:
            return
        suggested = Path(self._folder()) / session.path.name
        path, _ = QFileDialog.getSaveFileName(self, "Save Session", str(suggested), f"Sessions (*{SUFFIX})")
        if path:
            self.move_session(Path(path).with_suffix(SUFFIX))

    def move_session(self, target: Path) -> None:
        """Put the session elsewhere and open it there; segmentation goes on where it was."""
        session = self.document.session
        if session is None or session.path == target:
            return
        path = session.path
        self.document.close()
        self.document.when_idle(lambda: self._moved(path, target))

    def _moved(self, path: Path, target: Path) -> None:
        try:
            move_session(path, target)
        except StudioError as error:
            self.message.say(str(error), "error")
            self.document.open_session(path)
            return
        self._open_session_text(str(target))
        self.message.say(f"Saved in '{target}'.", "notice")

    def _export(self) -> None:
        if self.document.session is not None:
            ExportDialog(self.document, self, in_out=self.player.range(), kept=self._settings).open()

    # --- what happens

    @Slot()
    def _on_opened(self) -> None:
        facts = self.document.facts
        self.setWindowTitle(f"{facts.name} – ScStream Studio" if facts else "ScStream Studio")
        self.message.hide()
        self.viewer.fit()
        self._pages.setCurrentWidget(self._stage)
        self._show_panels(True)
        self._refresh()

    @Slot()
    def _on_closed(self) -> None:
        self.setWindowTitle("ScStream Studio")
        self._apply_library()
        self._pages.setCurrentWidget(self.welcome)
        self._show_panels(False)
        self._refresh()

    @Slot()
    def _refresh(self) -> None:
        document = self.document
        open_, kept = document.is_open, document.session is not None
        busy = document.state in (State.SEGMENTING, State.SETTLING, State.PAUSED)
        ids = [spec.id for spec in SPECS if spec.title and spec.menu in ("Edit", "View", "Playback", "Segmentation")]
        self.actions_.enable([*ids, "close"], open_)
        self.actions_.enable(["save", "save_as", "export", "save_model", "use_model"], kept)
        if document.live:
            self._enable_live()
        self.actions_.enable(["record"], document.live and (busy or self.feed.recorder is not None))
        always = [spec.id for spec in SPECS if spec.group == "theme"]
        self.actions_.enable([*always, "full_screen", "preferences"], True)
        self.actions_.enable(["pause_segmenting"], busy)
        self.actions_["pause_segmenting"].setChecked(document.state is State.PAUSED)
        live = document.live and document.state is State.SEGMENTING
        self._state_label.setText("Live" if live else _STATE_TEXT[document.state])
        self._on_look()
        self._on_progress()
        if not open_ and document.state is State.EMPTY:
            self.welcome.set_recent(self.recent())
            self.welcome.set_recovered(list(self.library.left_behind()))

    @Slot()
    def _on_look(self) -> None:
        action = f"view_{self.document.look.view}"
        self.actions_[action].setChecked(True)

    @Slot()
    def _on_progress(self) -> None:
        document = self.document
        working = document.state not in (State.EMPTY, State.DONE, State.STOPPED)
        self._progress.setVisible(working and not (document.live and len(document.trace)))
        length = document.facts.length if document.facts is not None else None
        self._progress.setRange(0, length or 0)
        self._progress.setValue(len(document.trace))
        times = document.trace.column("engine")[-30:]
        if len(times) and working:
            self._rate_label.setText(f"{1000.0 / times.mean():.1f} frames/s · {len(document.trace)} frames")
        elif len(document.trace):
            self._rate_label.setText(f"{len(document.trace)} frames")
        else:
            self._rate_label.setText("")

    @Slot(object)
    def _on_hover(self, text: object) -> None:
        self._hover_label.setText("" if text is None else str(text))

    @Slot(str)
    def _on_failed(self, message: str) -> None:
        self.message.say(message, "error")
        if not self.document.is_open:
            self._pages.setCurrentWidget(self.welcome)

    @Slot(object)
    def _on_notice(self, notice: Notice) -> None:
        self.message.say(notice.text, "notice")

    # --- live

    def _enable_live(self) -> None:
        """Of a live source only the last frames can be gone through, and only while it is paused."""
        playback = [spec.id for spec in SPECS if spec.title and spec.menu == "Playback"]
        self.actions_.enable(playback, False)
        self.actions_.enable(["play"], self.document.state is not State.STOPPED)
        still = self.document.state in (State.PAUSED, State.STOPPED)
        self.actions_.enable(["next", "previous", "forward", "back", "start", "end"], still)

    def _toggle_play(self) -> None:
        if self.document.live:
            self.document.pause(self.document.state is not State.PAUSED)
        else:
            self.player.toggle()

    def _toggle_recording(self) -> None:
        facts = self.document.facts
        if self.feed.recorder is not None:
            self.feed.stop()
        elif facts is not None and self.document.live:
            try:
                self.feed.record(self.library.new_path(facts.name))
            except OSError as error:
                self.message.say(f"Cannot record in '{self.library.folder}': {reason(error)}.", "error")
        self._on_feed()

    @Slot()
    def _on_feed(self) -> None:
        self.actions_["record"].setChecked(self.feed.recorder is not None)
        self._settings.setValue("live/target", self.feed.target or 0)

    @Slot(object)
    def _on_recorded(self, recorded: Recorded) -> None:
        left_out = f" {recorded.dropped} frames came too fast to be written and were left out." * bool(recorded.dropped)
        open_ = ("Open It", lambda: self._open_session_text(str(recorded.path))) if recorded.frames else None
        if recorded.failure:
            kept = f" Its {recorded.frames} frames are kept." * bool(recorded.frames)
            self.message.say(f"Recording has stopped. {recorded.failure}{kept}{left_out}", "error", open_)
        elif open_ is None:
            self.message.say("Nothing was recorded: no frame came.", "notice")
        else:
            text = f"{recorded.frames} frames were recorded in '{recorded.path}'.{left_out}"
            self.message.say(text, "notice", open_)
        self._refresh()

    def _toggle_full_screen(self) -> None:
        if self.isFullScreen():
            self.showNormal()
        else:
            self.showFullScreen()

    # --- remembering and closing

    def _restore(self) -> None:
        remember = self.preferences["remember_layout"]
        kept = (self._settings.value(f"window/{name}") for name in ("state", "geometry"))
        state, geometry = kept if remember else (None, None)
        if isinstance(state, QByteArray):
            self.restoreState(state)
        # Panels that are hidden at first must not widen the window.
        self._show_panels(False)
        if isinstance(geometry, QByteArray):
            self.restoreGeometry(geometry)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Stop what is being done, keep it, and remember how the window was."""
        if self.document.exporting and not self._confirm("An export is still running. Stop it and close?"):
            event.ignore()
            return
        self._settings.setValue("window/geometry", self.saveGeometry())
        self._show_panels(True)
        self._settings.setValue("window/state", self.saveState())
        self.player.pause()
        self.document.shut_down()
        self.feed.shut_down()
        event.accept()

    def _confirm(self, question: str) -> bool:
        answer = QMessageBox.question(self, "ScStream Studio", question)
        return answer == QMessageBox.StandardButton.Yes


def _target(settings: QSettings) -> float | None:
    """The rate that a person last wanted to be held; None: a fixed processing size."""
    value = float(str(settings.value("live/target", _USUAL_TARGET)))
    return value if value in TARGETS else None
