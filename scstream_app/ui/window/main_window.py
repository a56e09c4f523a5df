"""The main window: puts the parts together and connects them; every part does its own work."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QPoint, QSettings, Qt, Slot
from PySide6.QtGui import QActionGroup, QCloseEvent, QKeyEvent
from PySide6.QtWidgets import (
    QApplication,
    QMainWindow,
    QMenu,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from scstream_app.pipeline.run import Notice
from scstream_app.session.library import Library, is_unsaved
from scstream_app.ui.actions.actions import SPECS, Actions
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.live_feed import TARGETS, LiveFeed
from scstream_app.ui.document.player import Player
from scstream_app.ui.document.state import State
from scstream_app.ui.export.export_dialog import ExportDialog
from scstream_app.ui.panels.controls import ControlsPanel
from scstream_app.ui.panels.objects import ObjectsPanel
from scstream_app.ui.panels.segments import SegmentsPanel
from scstream_app.ui.panels.statistics import StatisticsPanel
from scstream_app.ui.qt import theme
from scstream_app.ui.qt.confirm import confirm
from scstream_app.ui.qt.job_queue import JobQueue
from scstream_app.ui.qt.message_bar import MessageBar
from scstream_app.ui.sessions.cleanup import Cleanup
from scstream_app.ui.sessions.document_opener import DocumentOpener
from scstream_app.ui.sessions.model_files import ModelFiles
from scstream_app.ui.sessions.open_dialogs import OpenDialogs
from scstream_app.ui.sessions.open_menus import RecentMenu, SamplesMenu
from scstream_app.ui.sessions.recent_files import RecentFiles
from scstream_app.ui.sessions.recording_control import RecordingControl
from scstream_app.ui.sessions.rerun import Rerun
from scstream_app.ui.sessions.session_saver import SessionSaver
from scstream_app.ui.sessions.shutdown import Shutdown
from scstream_app.ui.sessions.unsaved_sessions import unsaved_sessions
from scstream_app.ui.timeline.timeline import Timeline
from scstream_app.ui.timeline.transport import Transport
from scstream_app.ui.viewer.live_bar import LiveBar
from scstream_app.ui.viewer.viewer import Viewer
from scstream_app.ui.window import help_dialogs
from scstream_app.ui.window.apply_preferences import PreferenceApplier
from scstream_app.ui.window.dock_layout import DockLayout
from scstream_app.ui.window.guide import show_guide
from scstream_app.ui.window.preferences import Preferences
from scstream_app.ui.window.preferences_dialog import PreferencesDialog
from scstream_app.ui.window.status_bar import StatusBar
from scstream_app.ui.window.welcome import Welcome

#: Frames a second that a live source is to be held at before anybody says otherwise.
_USUAL_TARGET = 20.0


class MainWindow(QMainWindow):
    """One document, a viewer in the middle, panels around it.

    Attributes
    ----------
    ended : bool
        Whether all threads had ended when it was closed: one that hangs is left behind.
    """

    def __init__(self, settings: QSettings, library: Library | None = None) -> None:
        super().__init__()
        self.setObjectName("mainWindow")
        self.setWindowTitle("ScStream Studio")
        self.resize(1280, 800)
        self._settings = settings
        self.preferences = Preferences(settings, self)
        self._own_library = library or Library()
        self.library = self._own_library
        self.document = Document(self)
        self.player = Player(self.document)
        self.feed = LiveFeed(self.document, _target(settings), self)
        self.actions_ = Actions(self, settings)
        self.models = ModelFiles(self.document, self)
        self.addresses = RecentFiles(settings)
        # A list of sessions is not to wait until a large one has been moved.
        self._files, self._lists = JobQueue(self), JobQueue(self)
        self.message = MessageBar()
        self.recording = RecordingControl(self.document, self.feed, lambda: self.library, self.message, self)
        may_leave = partial(self.recording.may_end, "Open")
        self.opening = DocumentOpener(self.document, self.addresses, lambda: self.library, self._files, may_leave, self)
        self.choosing = OpenDialogs(self.document, self.addresses, self.opening, self.recording, self)
        self.restarting = Rerun(self.document, self.opening, self)
        self.tidying = Cleanup(lambda: self.library, self._files, self)
        self.closing = Shutdown(self.document, self.opening, self.feed, self._files, self._lists, self)
        self._is_closing = False
        self.ended = True
        self.saving = SessionSaver(self.document, self.addresses, self.opening, self._files, self)
        self._build_centre()
        self._build_panels()
        self._build_menus()
        self.status = StatusBar(self.document, self.statusBar())
        self._bind_actions()
        self._connect()
        self.panels.restore(settings if self.preferences["remember_layout"] else None)
        self._apply_preferences()
        self._refresh()

    # --- building

    def _build_centre(self) -> None:
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
        self.segments.more = (self.objects.removal,)
        self.statistics = StatisticsPanel(self.document)
        self.controls = ControlsPanel(self.document)
        widgets = {
            "segments": self.segments,
            "objects": self.objects,
            "controls": self.controls,
            "statistics": self.statistics,
        }
        self.panels = DockLayout(self, widgets, below="statistics")

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
        self._build_open_menus(menus["File"])
        menus["View"].addSeparator()
        menus["View"].addActions(list(self.panels.actions()))

    def _build_open_menus(self, file_menu: QMenu) -> None:
        """Behind the entries that ask what to open, those that open it at once."""
        after = file_menu.actions()[file_menu.actions().index(self.actions_["open_session"]) + 1]
        recent, samples = RecentMenu(self.addresses, self), SamplesMenu(self)
        recent.cleared.connect(self.welcome.refresh)
        for menu in (recent, samples):
            file_menu.insertMenu(after, menu)
            menu.chosen.connect(self.opening.open_address)

    # --- wiring

    def _bind_actions(self) -> None:
        player = self.player
        self.actions_.bind(
            {
                "open": self.choosing.video,
                "open_folder": self.choosing.images,
                "open_camera": self.choosing.camera,
                "open_url": self.choosing.url,
                "open_session": self.choosing.session,
                "save": self.saving.save,
                "save_as": self.saving.save_as,
                "export": self._export,
                "save_model": self.models.save,
                "use_model": self.models.use_this,
                "open_model": self.models.use_file,
                "close": self._close_document,
                "quit": self.close,
                "undo": self.document.undo.undo,
                "redo": self.document.undo.redo,
                "hide": self.segments.toggle_hidden,
                "isolate": self.segments.isolate_selected,
                "rename": self._rename,
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
                "restart": lambda: self.restarting.again(self.document.settings),
                "guide": lambda: show_guide(self),
                "shortcuts": lambda: help_dialogs.show_keys(self, self.actions_),
                "about": lambda: help_dialogs.show_about(self),
                **{spec.id: partial(self._show_view, spec.id) for spec in SPECS if spec.group == "view"},
                **{spec.id: partial(self._set_theme, spec.id) for spec in SPECS if spec.group == "theme"},
            }
        )

    def _rename(self) -> None:
        if self.objects.in_use:
            self.objects.rename_current()
        else:
            self.segments.rename_selected()

    def _show_view(self, action: str) -> None:
        self.document.display.set_look(view=action.removeprefix("view_"))

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
        document.display.look_changed.connect(self._on_look)
        document.display.selection_changed.connect(self._tell_isolating)
        document.failed.connect(self._on_failed)
        document.noticed.connect(self._on_notice)
        self.viewer.dropped.connect(self.opening.open_dropped)
        self.viewer.menu_requested.connect(self._show_viewer_menu)
        for panel in (self.segments, self.objects):
            panel.said.connect(self.viewer.show_toast)
        self.timeline.menu_requested.connect(self._show_timeline_menu)
        self.models.wanted.connect(self.opening.open_with_model)
        for part in (self.models, self.opening, self.saving, self.tidying):
            part.message.connect(self.message.show_message)
        self.opening.leaving.connect(self.message.clear)
        self.opening.leaving.connect(self.segments.finish_typing)
        self.restarting.began.connect(self.segments.finish_typing)
        self.recording.wanted.connect(self.opening.open_session)
        self.saving.began.connect(self.message.clear)
        self.saving.began.connect(self.segments.finish_typing)
        self.saving.saved.connect(self._tell_title)
        self.saving.saved.connect(self.welcome.refresh)
        self.opening.began.connect(self._on_began)
        self.opening.discarded.connect(self.welcome.refresh)
        self.tidying.done.connect(self.welcome.refresh)
        self.actions_.keys_changed.connect(self._tell_keys)
        document.undo.undoTextChanged.connect(self._tell_undo)
        document.undo.redoTextChanged.connect(self._tell_undo)
        self._tell_keys()
        self.welcome.dropped.connect(self.opening.open_dropped)
        self.welcome.chosen.connect(self.opening.open_address)
        self.welcome.session_chosen.connect(self.opening.open_session_text)
        self.welcome.deletion_requested.connect(self.tidying.ask_about)
        self.welcome.stale.connect(self._fill_welcome)
        self.welcome.action_requested.connect(self._trigger)
        self.controls.restart_requested.connect(self.restarting.again)
        self.preferences.changed.connect(self._on_preference)
        self.feed.changed.connect(self._on_feed)
        self.feed.recorded.connect(self._on_recorded)

    # --- preferences

    def show_preferences(self) -> PreferencesDialog:
        """Open the dialog."""
        dialog = PreferencesDialog(self.preferences, self)
        dialog.requested.connect(self._on_preference_button)
        dialog.open()
        return dialog

    def _apply_preferences(self) -> None:
        """What holds from the start."""
        self._apply_theme()
        self._apply_library()
        self.preferring = PreferenceApplier(self.preferences, self.document)
        self.opening.choosing.connect(self.preferring.use_preset)
        days = self.preferences["keep_days"]
        if days is not None:
            self.tidying.clear_old(days)

    @Slot(str)
    def _on_preference(self, name: str) -> None:
        if name == "theme":
            self._apply_theme()
        elif name == "library":
            self._apply_library()
            self.welcome.refresh()

    def _apply_library(self) -> None:
        folder = self.preferences["library"]
        self.library = Library(Path(folder).expanduser()) if folder else self._own_library

    @Slot(str)
    def _on_preference_button(self, what: str) -> None:
        match what:
            case "keys":
                help_dialogs.show_keys(self, self.actions_)
            case "layout":
                self.panels.reset(self._settings, share=self.document.is_open)
            case "clear":
                self.tidying.ask()

    @Slot()
    def _tell_keys(self) -> None:
        self.transport.set_keys(self.actions_.key)
        self.segments.set_keys(self.actions_.key)
        self.objects.set_keys(self.actions_.key)
        self.status.set_keys(self.actions_.key)

    @Slot()
    def _tell_undo(self) -> None:
        """Say what would be undone and done again, and whether there is anything."""
        undo, free = self.document.undo, not self.document.saving
        self.actions_.enable(["undo"], free and undo.canUndo())
        self.actions_.enable(["redo"], free and undo.canRedo())
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
        if self.document.summary.uncertain_frames():
            go()
        else:
            self.message.show_message("No frame is known to be more uncertain than the others yet.", "notice")

    @Slot(str)
    def _trigger(self, id: str) -> None:
        self.actions_[id].trigger()

    # --- opening

    def open_address(self, address: str) -> None:
        """Open whatever a person means: a video, images, a camera, a URL, or a session."""
        self.opening.open_address(address)

    def _close_document(self) -> None:
        if self.recording.may_end("Close"):
            self.opening.close()

    # --- exporting

    def _export(self) -> None:
        if self.document.session is not None:
            ExportDialog(self.document, self, in_out=self.player.range(), kept=self._settings).open()

    # --- what happens

    @Slot()
    def _on_began(self) -> None:
        self._pages.setCurrentWidget(self._stage)

    @Slot()
    def _on_opened(self) -> None:
        self.viewer.fit()
        self._pages.setCurrentWidget(self._stage)
        self.panels.show(True, share=self.document.is_open)
        self._refresh()

    @Slot()
    def _on_closed(self) -> None:
        # Between two clips everything keeps its place.
        if not (self.opening.changing or self._is_closing):
            self._show_welcome()
        self._refresh()

    def _show_welcome(self) -> None:
        self._pages.setCurrentWidget(self.welcome)
        # There is nothing in them before something is open.
        self.panels.show(False)

    @Slot()
    def _refresh(self) -> None:
        document = self.document
        open_, kept = document.is_open, document.session is not None and not document.saving
        busy = document.state in (State.SEGMENTING, State.SETTLING, State.PAUSED)
        ids = [spec.id for spec in SPECS if spec.title and spec.menu in ("Edit", "View", "Playback", "Segmentation")]
        self.actions_.enable(ids, open_)
        # What takes long to open can be called off.
        self.actions_.enable(["close"], document.state is not State.EMPTY)
        if document.saving:
            edit = [spec.id for spec in SPECS if spec.title and spec.menu == "Edit"]
            self.actions_.enable([*edit, "restart"], False)
            # Nothing of it is written.
            self.actions_.enable(["isolate"], open_)
        self._tell_undo()
        self.actions_.enable(["save", "save_as", "export", "save_model", "use_model"], kept)
        if document.live:
            self._enable_live()
        self.actions_.enable(["record"], document.live and (busy or self.feed.recorder is not None))
        always = [spec.id for spec in SPECS if spec.group == "theme"]
        self.actions_.enable([*always, "full_screen", "preferences"], True)
        self.actions_.enable(["pause_segmenting"], busy)
        self.actions_["pause_segmenting"].setChecked(document.state is State.PAUSED)
        self._on_look()
        self._tell_title()

    @Slot()
    def _tell_title(self) -> None:
        """What is open: the session by the name that it was saved under, the clip; a mark if nobody has saved it."""
        facts, session = self.document.facts, self.document.session
        if self.document.saving:
            return
        unsaved = session is not None and is_unsaved(session.path)
        saved_as = [session.path.stem] if session is not None and not unsaved else []
        names = [] if facts is None else [" – ".join([*saved_as, facts.name]) + "[*]"]
        self.setWindowTitle(" – ".join([*names, "ScStream Studio"]))
        self.setWindowModified(unsaved)

    @Slot()
    def _fill_welcome(self) -> None:
        self.welcome.set_recent(self.addresses.recent())
        self._lists.do(partial(unsaved_sessions, self.library), self.welcome.set_unsaved, what="Looking for sessions")

    @Slot()
    def _on_look(self) -> None:
        action = f"view_{self.document.display.look.view}"
        self.actions_[action].setChecked(True)
        self._tell_isolating()

    @Slot()
    def _tell_isolating(self) -> None:
        self.actions_["isolate"].setText(self.segments.word_of_isolating)

    @Slot(str)
    def _on_failed(self, message: str) -> None:
        self.message.show_message(message, "error")
        if not self.document.is_open:
            self._show_welcome()

    @Slot(object)
    def _on_notice(self, notice: Notice) -> None:
        self.message.show_message(notice.text, "notice")

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
        self.recording.toggle()
        # The action has checked itself, whether or not anything came of it.
        self._on_feed()

    @Slot()
    def _on_feed(self) -> None:
        self.actions_["record"].setChecked(self.feed.recorder is not None)
        self._settings.setValue("live/target", self.feed.target or 0)

    @Slot()
    def _on_recorded(self) -> None:
        self._refresh()
        self.welcome.refresh()

    def _toggle_full_screen(self) -> None:
        # A window that was maximized before is so again afterwards.
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    def changeEvent(self, event: QEvent) -> None:
        """The menu says whether it is full screen, whoever made it so."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.WindowStateChange:
            self.actions_["full_screen"].setChecked(self.isFullScreen())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc leaves full screen, if nothing else has a use for it: a shortcut would be heard before anything else."""
        if event.key() == Qt.Key.Key_Escape and self.isFullScreen():
            self._toggle_full_screen()
        else:
            super().keyPressEvent(event)

    # --- remembering and closing

    def closeEvent(self, event: QCloseEvent) -> None:
        """Stop what is being done, keep it, and remember how the window was."""
        if not self._may_close():
            event.ignore()
            return
        self._is_closing = True
        self.panels.keep(self._settings)
        self.player.pause()
        self.ended = self.closing.finish()
        self._is_closing = False
        event.accept()

    def _may_close(self) -> bool:
        question = "An export is still running. Stop it and close?"
        if self.document.exporting and not confirm(self, question, "Stop and Close"):
            return False
        return self.recording.may_end("Close")


def _target(settings: QSettings) -> float | None:
    """The rate that a person last wanted to be held; None: a fixed processing size."""
    value = float(str(settings.value("live/target", _USUAL_TARGET)))
    return value if value in TARGETS else None
