"""The main window: creates the parts of the program and connects them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QPoint, QSettings, Qt, Slot
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import QMainWindow

from scstream_app.pipeline.run import Notice
from scstream_app.session.library import Library, is_unsaved
from scstream_app.ui.actions.actions import SPECS, Actions
from scstream_app.ui.document.action_availability import why_disabled
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.live_feed import TARGETS, LiveFeed
from scstream_app.ui.document.player import Player
from scstream_app.ui.document.state import State
from scstream_app.ui.export.export_dialog import ExportDialog
from scstream_app.ui.panels.controls import ControlsPanel
from scstream_app.ui.panels.objects import ObjectsPanel
from scstream_app.ui.panels.segments import SegmentsPanel
from scstream_app.ui.panels.statistics import StatisticsPanel
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
from scstream_app.ui.sessions.unsaved_sessions import describe_unsaved
from scstream_app.ui.window import help_dialogs
from scstream_app.ui.window.apply_preferences import PreferenceApplier
from scstream_app.ui.window.central_area import CentralArea
from scstream_app.ui.window.dock_layout import DockLayout
from scstream_app.ui.window.guide import show_guide
from scstream_app.ui.window.menus import (
    build_menus,
    playback_handlers,
    segment_handlers,
    timeline_menu,
    viewer_menu,
    zoom_handlers,
)
from scstream_app.ui.window.preferences import Preferences
from scstream_app.ui.window.preferences_dialog import PreferencesDialog
from scstream_app.ui.window.status_bar import StatusBar

#: Default target of a live source, in frames a second.
_DEFAULT_TARGET = 20.0


class MainWindow(QMainWindow):
    """One document with a viewer in the middle and panels around it.

    Attributes
    ----------
    ended : bool
        Whether all threads had ended when the window closed; a thread that hangs is abandoned.
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
        # Two queues: listing sessions does not wait until a large one has been moved.
        self._files, self._lists = JobQueue(self), JobQueue(self)
        self.message = MessageBar()
        self.recording = RecordingControl(self.document, self.feed, lambda: self.library, self.message, self)
        may_leave = partial(self.recording.may_end, "Open")
        self.opening = DocumentOpener(self.document, self.addresses, lambda: self.library, self._files, may_leave, self)
        self.open_dialogs = OpenDialogs(self.document, self.addresses, self.opening, self.recording, self)
        self.rerun = Rerun(self.document, self.opening, self)
        self.cleanup = Cleanup(lambda: self.library, self._files, self)
        self.shutdown = Shutdown(self.document, self.opening, self.feed, self._files, self._lists, self)
        self._is_closing = False
        self.ended = True
        self.saving = SessionSaver(self.document, self.addresses, self.opening, self._files, self)
        self._build_centre()
        self._build_panels()
        self._build_menus()
        self.status = StatusBar(self.document, self.statusBar())
        self._bind_actions()
        self._connect()
        self._connect_sessions()
        self._connect_welcome()
        self.panels.restore(settings if self.preferences["remember_layout"] else None)
        self._apply_preferences()
        self._refresh()

    # --- building

    def _build_centre(self) -> None:
        record = self.actions_["record"]
        self._centre = centre = CentralArea(self.document, self.player, self.feed, self.message, record)
        self.welcome, self.viewer, self.live_bar = centre.welcome, centre.viewer, centre.live_bar
        self.transport, self.timeline = centre.transport, centre.timeline
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
        recent, samples = RecentMenu(self.addresses, self), SamplesMenu(self)
        recent.cleared.connect(self.welcome.refresh)
        for menu in (recent, samples):
            menu.chosen.connect(self.opening.open_address)
        build_menus(self, self.actions_, (recent, samples), self.panels.actions())

    # --- connections

    def _bind_actions(self) -> None:
        player = self.player
        self.actions_.bind(
            {
                "open": self.open_dialogs.video,
                "open_folder": self.open_dialogs.images,
                "open_camera": self.open_dialogs.camera,
                "open_url": self.open_dialogs.url,
                "open_session": self.open_dialogs.session,
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
                "preferences": self.show_preferences,
                "full_screen": self._toggle_full_screen,
                "play": self._toggle_play,
                "next_uncertain": partial(self._go_uncertain, player.next_uncertain),
                "previous_uncertain": partial(self._go_uncertain, player.previous_uncertain),
                "pause_segmenting": lambda: self.document.pause(self.actions_["pause_segmenting"].isChecked()),
                "record": self._toggle_recording,
                "restart": lambda: self.rerun.again(self.document.settings),
                "guide": lambda: show_guide(self),
                "shortcuts": lambda: help_dialogs.show_keys(self, self.actions_),
                "about": lambda: help_dialogs.show_about(self),
                **segment_handlers(self.segments, self.objects),
                **playback_handlers(player, self.actions_),
                **zoom_handlers(self.viewer),
                **{spec.id: partial(self._show_view, spec.id) for spec in SPECS if spec.group == "view"},
                **{spec.id: partial(self._set_theme, spec.id) for spec in SPECS if spec.group == "theme"},
            }
        )

    def _show_view(self, action: str) -> None:
        self.document.display.set_look(view=action.removeprefix("view_"))

    def _set_theme(self, action: str) -> None:
        self.preferences["theme"] = action.removeprefix("theme_")

    def _connect(self) -> None:
        document = self.document
        document.opened.connect(self._on_opened)
        document.closed.connect(self._on_closed)
        document.state_changed.connect(self._refresh)
        document.display.look_changed.connect(self._on_look)
        document.display.selection_changed.connect(self._update_isolate)
        document.failed.connect(self._on_failed)
        document.noticed.connect(self._on_notice)
        self.viewer.dropped.connect(self.opening.open_dropped)
        self.viewer.menu_requested.connect(self._show_viewer_menu)
        for panel in (self.segments, self.objects):
            panel.message.connect(self.viewer.show_toast)
        self.timeline.menu_requested.connect(self._show_timeline_menu)
        self.actions_.keys_changed.connect(self._update_keys)
        document.undo.undoTextChanged.connect(self._update_undo)
        document.undo.redoTextChanged.connect(self._update_undo)
        self._update_keys()
        self.controls.restart_requested.connect(self.rerun.again)
        self.preferences.changed.connect(self._on_preference)
        self.feed.changed.connect(self._on_feed)
        self.feed.recorded.connect(self._on_recorded)

    def _connect_sessions(self) -> None:
        self.models.wanted.connect(self.opening.open_with_model)
        for part in (self.models, self.opening, self.saving, self.cleanup):
            part.message.connect(self.message.show_message)
        self.opening.leaving.connect(self.message.clear)
        self.opening.leaving.connect(self.segments.finish_typing)
        self.rerun.began.connect(self.segments.finish_typing)
        self.recording.wanted.connect(self.opening.open_session)
        self.saving.began.connect(self.message.clear)
        self.saving.began.connect(self.segments.finish_typing)
        self.saving.saved.connect(self._update_title)
        self.saving.saved.connect(self.welcome.refresh)
        self.opening.began.connect(self._on_began)
        self.opening.discarded.connect(self.welcome.refresh)
        self.cleanup.done.connect(self.welcome.refresh)

    def _connect_welcome(self) -> None:
        self.welcome.dropped.connect(self.opening.open_dropped)
        self.welcome.chosen.connect(self.opening.open_address)
        self.welcome.session_chosen.connect(self.opening.open_session_text)
        self.welcome.deletion_requested.connect(self.cleanup.ask_about)
        self.welcome.stale.connect(self._fill_welcome)
        self.welcome.action_requested.connect(self._trigger)

    # --- preferences

    def show_preferences(self) -> PreferencesDialog:
        """Open the preferences dialog."""
        dialog = PreferencesDialog(self.preferences, self)
        dialog.requested.connect(self._on_preference_button)
        dialog.open()
        return dialog

    def _apply_preferences(self) -> None:
        """Apply the preferences at the start of the program."""
        self._apply_library()
        applier = PreferenceApplier(self.preferences, self.document, self.actions_)
        self.opening.choosing.connect(applier.use_preset)
        days = self.preferences["keep_days"]
        if days is not None:
            self.cleanup.clear_old(days)

    @Slot(str)
    def _on_preference(self, name: str) -> None:
        if name == "library":
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
                self.cleanup.ask()

    @Slot()
    def _update_keys(self) -> None:
        self.transport.set_keys(self.actions_.key)
        self.segments.set_keys(self.actions_.key)
        self.objects.set_keys(self.actions_.key)
        self.status.set_keys(self.actions_.key)

    @Slot()
    def _update_undo(self) -> None:
        """Show in the menu what can be undone and redone."""
        undo = self.document.undo
        self.actions_.enable(self._why_disabled, ("undo", "redo"))
        self.actions_["undo"].setText(f"Undo {undo.undoText()}".rstrip())
        self.actions_["redo"].setText(f"Redo {undo.redoText()}".rstrip())

    @Slot(QPoint)
    def _show_viewer_menu(self, where: QPoint) -> None:
        viewer_menu(self.segments.make_menu(), self.actions_).popup(where)

    @Slot(QPoint)
    def _show_timeline_menu(self, where: QPoint) -> None:
        timeline_menu(self, self.actions_).popup(where)

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
        """Open a video, images, a camera, a URL or a session."""
        self.opening.open_address(address)

    def _close_document(self) -> None:
        if self.recording.may_end("Close"):
            self.opening.close()

    # --- exporting

    def _export(self) -> None:
        if self.document.session is not None:
            ExportDialog(self.document, self, in_out=self.player.range(), kept=self._settings).open()

    # --- changes of the document

    @Slot()
    def _on_began(self) -> None:
        self._centre.show_document()

    @Slot()
    def _on_opened(self) -> None:
        self.viewer.fit()
        self._centre.show_document()
        self.panels.show(True, share=self.document.is_open)
        self._refresh()

    @Slot()
    def _on_closed(self) -> None:
        # Between two clips the layout stays.
        if not (self.opening.changing or self._is_closing):
            self._show_welcome()
        self._refresh()

    def _show_welcome(self) -> None:
        self._centre.show_welcome()
        # Panels are empty while nothing is open.
        self.panels.show(False)

    @Slot()
    def _refresh(self) -> None:
        """Update the menus and the title after a change of the document's state."""
        self.actions_.enable(self._why_disabled)
        self._update_undo()
        self.actions_["pause_segmenting"].setChecked(self.document.state is State.PAUSED)
        self._on_look()
        self._update_title()

    def _why_disabled(self, action: str) -> str:
        return why_disabled(self.document, action, recording=self.feed.recorder is not None)

    @Slot()
    def _update_title(self) -> None:
        """Show the name of the session, if it is saved, and of the clip; an asterisk marks an unsaved session."""
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
        self._lists.do(partial(describe_unsaved, self.library), self.welcome.set_unsaved, what="Looking for sessions")

    @Slot()
    def _on_look(self) -> None:
        action = f"view_{self.document.display.look.view}"
        self.actions_[action].setChecked(True)
        self._update_isolate()

    @Slot()
    def _update_isolate(self) -> None:
        self.actions_["isolate"].setText(self.segments.isolate_text)

    @Slot(str)
    def _on_failed(self, message: str) -> None:
        self.message.show_message(message, "error")
        if not self.document.is_open:
            self._show_welcome()

    @Slot(object)
    def _on_notice(self, notice: Notice) -> None:
        self.message.show_message(notice.text, "notice")

    # --- live

    def _toggle_play(self) -> None:
        if self.document.live:
            self.document.pause(self.document.state is not State.PAUSED)
        else:
            self.player.toggle()

    def _toggle_recording(self) -> None:
        self.recording.toggle()
        # The action has checked itself, even if no recording was started.
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
        # Keeps the flag of a maximized window, which is maximized again afterwards.
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    def changeEvent(self, event: QEvent) -> None:
        """Check the menu entry when the window becomes full screen in any way."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.WindowStateChange:
            self.actions_["full_screen"].setChecked(self.isFullScreen())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave full screen on Esc, unless a widget uses the key: a shortcut would take it from all widgets."""
        if event.key() == Qt.Key.Key_Escape and self.isFullScreen():
            self._toggle_full_screen()
        else:
            super().keyPressEvent(event)

    # --- closing

    def closeEvent(self, event: QCloseEvent) -> None:
        """Stop the work, keep its results, and store the layout of the window."""
        if not self._may_close():
            event.ignore()
            return
        self._is_closing = True
        self.panels.keep(self._settings)
        self.player.pause()
        self.ended = self.shutdown.finish()
        self._is_closing = False
        event.accept()

    def _may_close(self) -> bool:
        question = "An export is still running. Stop it and close?"
        if self.document.exporting and not confirm(self, question, "Stop and Close"):
            return False
        return self.recording.may_end("Close")


def _target(settings: QSettings) -> float | None:
    """Return the stored target rate of live sources; None: a fixed processing size."""
    value = float(str(settings.value("live/target", _DEFAULT_TARGET)))
    return value if value in TARGETS else None
