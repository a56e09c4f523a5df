"""The main window: creates the parts of the program and connects them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QPoint, QSettings, QSize, Qt, Slot
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDragLeaveEvent, QDropEvent, QKeyEvent
from PySide6.QtWidgets import QMainWindow

from scstream_app.pipeline.run import Notice
from scstream_app.session.library import Library
from scstream_app.ui.actions.actions import KEY_ACTIONS, SPECS, Actions
from scstream_app.ui.actions.mnemonics import escaped
from scstream_app.ui.compare.compare_runs import CompareRuns
from scstream_app.ui.document.action_availability import why_disabled
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.live_feed import LiveFeed
from scstream_app.ui.document.objects.low_confidence import LowConfidence
from scstream_app.ui.document.playback.player import Player
from scstream_app.ui.document.playback.run_range import RunRange
from scstream_app.ui.document.state import State
from scstream_app.ui.export.export_dialog import ExportDialog
from scstream_app.ui.panels.controls import ControlsPanel
from scstream_app.ui.panels.objects import ObjectsPanel
from scstream_app.ui.panels.segments import SegmentsPanel
from scstream_app.ui.panels.statistics import StatisticsPanel
from scstream_app.ui.qt.dialogs.confirm import confirm
from scstream_app.ui.qt.layout.docks import is_behind_another
from scstream_app.ui.qt.layout.screen_fit import place_on_screen
from scstream_app.ui.qt.message_bar import MessageBar
from scstream_app.ui.qt.threads.job_queue import JobQueue
from scstream_app.ui.sessions.cleanup import Cleanup
from scstream_app.ui.sessions.model_files import ModelFiles
from scstream_app.ui.sessions.opening.document_opener import DocumentOpener
from scstream_app.ui.sessions.opening.open_dialogs import OpenDialogs
from scstream_app.ui.sessions.opening.open_menus import RecentMenu, SamplesMenu
from scstream_app.ui.sessions.opening.recent_files import RecentFiles
from scstream_app.ui.sessions.opening.recent_sessions import RecentSessions
from scstream_app.ui.sessions.recording_control import RecordingControl
from scstream_app.ui.sessions.rerun.late_edits import LateEdits
from scstream_app.ui.sessions.rerun.mark_transfer import MarkTransfer
from scstream_app.ui.sessions.rerun.rerun import Rerun
from scstream_app.ui.sessions.rerun.result_merging import ResultMerging
from scstream_app.ui.sessions.session_saver import SessionSaver
from scstream_app.ui.sessions.shutdown import Shutdown
from scstream_app.ui.sessions.unsaved_work_notice import UnsavedWorkNotice
from scstream_app.ui.timeline.timeline_actions import timeline_handlers
from scstream_app.ui.window import help_dialogs
from scstream_app.ui.window.central_area import CentralArea
from scstream_app.ui.window.disabled_keys import DisabledKeys
from scstream_app.ui.window.dock_layout import DockLayout
from scstream_app.ui.window.drawing import Drawing
from scstream_app.ui.window.guide import show_guide
from scstream_app.ui.window.live_control import LiveControl, stored_target
from scstream_app.ui.window.menus import (
    build_menus,
    playback_handlers,
    segment_handlers,
    segmentation_handlers,
    timeline_menu,
    viewer_menu,
    zoom_handlers,
)
from scstream_app.ui.window.next_step_hint import NextStepHint
from scstream_app.ui.window.object_wiring import connect_objects
from scstream_app.ui.window.preferences.apply_preferences import PreferenceApplier
from scstream_app.ui.window.preferences.preferences import Preferences
from scstream_app.ui.window.preferences.preferences_dialog import PreferencesDialog
from scstream_app.ui.window.status.opening_status import OpeningStatus
from scstream_app.ui.window.status.status_bar import StatusBar
from scstream_app.ui.window.undoing import undo_handlers
from scstream_app.ui.window.welcome.welcome_lists import WelcomeLists
from scstream_app.ui.window.window_title import WindowTitle

_SIZE = QSize(1280, 800)
_SELECTION_ACTIONS = tuple(
    spec.id for spec in KEY_ACTIONS if spec.needs in ("segments", "object", "objects", "tracked objects")
)


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
        self.setAcceptDrops(True)
        place_on_screen(self, _SIZE)
        self._settings = settings
        self.preferences = Preferences(settings, self)
        self._own_library = library or Library()
        self.library = self._own_library
        self.document = Document(self)
        self.player = Player(self.document)
        self.run_range = RunRange(self.document, self.player, self)
        self.feed = LiveFeed(self.document, stored_target(settings), self)
        self.actions_ = Actions(self, settings)
        self.models = ModelFiles(self.document, self)
        self.addresses = RecentFiles(settings)
        # Two queues: listing sessions does not wait until a large one has been moved.
        self._files, self._lists = JobQueue(self), JobQueue(self)
        self.recent_sessions = RecentSessions(self.addresses, lambda: self.library, self._lists, self)
        self.message = MessageBar()
        self.recording = RecordingControl(self.document, self.feed, lambda: self.library, self.message, self)
        may_leave = partial(self.recording.may_end, "Open")
        self.opening = DocumentOpener(self.document, self.addresses, lambda: self.library, self._files, may_leave, self)
        self.open_dialogs = OpenDialogs(self.document, self.addresses, self.opening, self.recording, self)
        self.compare = CompareRuns(
            self.document, self.player, self.opening, self.addresses, lambda: self.library, self.message, self
        )
        compare = self.compare.compare_with
        self.rerun = Rerun(self.document, self.opening, compare, self._files, self._lists, self.message, self)
        self.merging = ResultMerging(self.document, self._lists, self)
        self.late_edits = LateEdits(self.document, self.rerun, self.merging, settings, self)
        self.mark_transfer = MarkTransfer(self.document, self._lists, self)
        self.cleanup = Cleanup(lambda: self.library, self._files, self)
        self.shutdown = Shutdown(self.document, self.opening, self.feed, self._files, self._lists, self)
        self._is_closing = False
        self.ended = True
        self.saving = SessionSaver(self.document, self.addresses, self.opening, self._files, self)
        self._unsaved_work = UnsavedWorkNotice(self.document, self.saving, settings, self)
        self._title = WindowTitle(self.document, self)
        self._build_centre()
        self._build_panels()
        self._build_menus()
        self._live = LiveControl(self.document, self.player, self.recording, self.feed, self.actions_, settings)
        self.drawing = Drawing(self._centre, self.objects, self.player, self.actions_, self._lists, self)
        self.status = StatusBar(self.document, self.statusBar(), self.actions_["pause_segmenting"])
        self.statusBar().addPermanentWidget(OpeningStatus(self.opening.preparer))
        NextStepHint(self.document, self.actions_, settings, self.viewer)
        self._disabled_keys = DisabledKeys(self.actions_, self._why_disabled, self.viewer.show_toast)
        self._bind_actions()
        self._connect()
        self._connect_sessions()
        self._connect_welcome()
        self.panels.restore(settings if self.preferences["remember_layout"] else None)
        self._apply_preferences()
        self._refresh()

    # --- building

    def _build_centre(self) -> None:
        self._centre = centre = CentralArea(self.document, self.player, self.feed, self.message, self.actions_)
        self.welcome, self.viewer, self.live_bar = centre.welcome, centre.viewer, centre.live_bar
        self.transport, self.timeline, self.lanes = centre.transport, centre.timeline, centre.lanes
        self.setCentralWidget(centre)

    def _build_panels(self) -> None:
        self.segments = SegmentsPanel(self.document)
        self.objects = ObjectsPanel(self.document)
        self.objects.remember(self._settings)
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
        recent, samples = RecentMenu(self.addresses, self.recent_sessions, self), SamplesMenu(self)
        recent.cleared.connect(self.welcome.refresh)
        for menu in (recent, samples):
            menu.chosen.connect(self.opening.open_address)
        build_menus(self, self.actions_, (recent, samples))
        self.panels.bind(self.actions_)

    # --- connections

    def _bind_actions(self) -> None:
        player = self.player
        self.actions_.bind(
            {
                "open": self.open_dialogs.video,
                "open_images": self.open_dialogs.images,
                "open_folder": self.open_dialogs.folder,
                "open_camera": self.open_dialogs.camera,
                "open_clip_as_camera": self.open_dialogs.clip_as_camera,
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
                **undo_handlers(self.document.undo, self.viewer.show_toast),
                "preferences": self.show_preferences,
                "full_screen": self._toggle_full_screen,
                "reset_layout": self._reset_layout,
                "next_uncertain": partial(self._go_uncertain, player.next_uncertain),
                "previous_uncertain": partial(self._go_uncertain, player.previous_uncertain),
                "pause_segmenting": lambda: self.document.pause(self.actions_["pause_segmenting"].isChecked()),
                "segment_rest": self.run_range.segment_rest,
                **segmentation_handlers(self.document, self.rerun),
                "guide": lambda: show_guide(self),
                "shortcuts": lambda: help_dialogs.show_keys(self, self.actions_),
                "about": lambda: help_dialogs.show_about(self),
                **self._live.handlers(),
                **self.drawing.handlers(),
                **self.compare.handlers(),
                **segment_handlers(self.segments, self.objects),
                **LowConfidence(self.document, player, lambda: self.objects.current, self.viewer.show_toast).handlers(),
                **playback_handlers(player, self.actions_),
                **zoom_handlers(self.viewer),
                **timeline_handlers(self.timeline, self.document, self.viewer.show_toast),
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
        document.display.selection_changed.connect(self._update_selection)
        document.display.shown_changed.connect(self._update_selection)
        document.marks_changed.connect(self._update_selection)
        document.failed.connect(self._on_failed)
        document.noticed.connect(self._on_notice)
        self.viewer.dropped.connect(self.opening.open_dropped)
        self.viewer.menu_requested.connect(self._show_viewer_menu)
        for panel in (self.segments, self.objects):
            panel.message.connect(self.viewer.show_toast)
        self.objects.current_changed.connect(self._update_selection)
        connect_objects(self.objects, self.lanes, self.viewer)
        self.timeline.menu_requested.connect(self._show_timeline_menu)
        self.timeline.message.connect(self.viewer.show_toast)
        self.actions_.keys_changed.connect(self._update_keys)
        document.undo.undoTextChanged.connect(self._update_undo)
        document.undo.redoTextChanged.connect(self._update_undo)
        self._update_keys()
        self.controls.restart_requested.connect(self.rerun.again)
        self.controls.apply_requested.connect(self.rerun.change_settings)
        self.segments.edit_requested.connect(self.late_edits.edit)
        self.preferences.changed.connect(self._on_preference)
        self.feed.recorded.connect(self._on_recorded)

    def _connect_sessions(self) -> None:
        self.models.wanted.connect(self.opening.open_with_model)
        parts = (self.models, self.opening, self.saving, self.cleanup, self.run_range, self.mark_transfer, self.merging)
        for part in parts:
            part.message.connect(self.message.show_message)
        self.opening.leaving.connect(self.message.clear)
        self.opening.leaving.connect(self.segments.finish_typing)
        self.rerun.began.connect(self.segments.finish_typing)
        self.recording.wanted.connect(self.opening.open_session)
        self.saving.began.connect(self.message.clear)
        self.saving.began.connect(self.segments.finish_typing)
        self.saving.saved.connect(self._title.update)
        self.saving.saved.connect(self.welcome.refresh)
        self.opening.began.connect(self._on_began)
        self.opening.discarded.connect(self.welcome.refresh)
        self.cleanup.done.connect(self.welcome.refresh)
        self.compare.deleted.connect(self.welcome.refresh)

    def _connect_welcome(self) -> None:
        self.welcome.dropped.connect(self.opening.open_dropped)
        self.welcome.chosen.connect(self.opening.open_address)
        self.welcome.session_chosen.connect(self.opening.open_session_text)
        self.welcome.deletion_requested.connect(self.cleanup.ask_about)
        self.welcome.action_requested.connect(self._trigger)
        WelcomeLists(self.welcome, self.addresses, self.recent_sessions, lambda: self.library, self._lists)
        self.shutdown.end_as_well(self._centre.thumbnails, "Reading pictures of clips")
        self.shutdown.end_as_well(self.drawing.carry_back.worker, "Carrying an object back")

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
                self._reset_layout()
            case "clear":
                self.cleanup.ask()

    def _reset_layout(self) -> None:
        self.panels.reset(self._settings, share=self.document.is_open)

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
        self.actions_["undo"].setText(escaped(f"Undo {undo.undoText()}".rstrip()))
        self.actions_["redo"].setText(escaped(f"Redo {undo.redoText()}".rstrip()))

    @Slot(QPoint)
    def _show_viewer_menu(self, where: QPoint) -> None:
        viewer_menu(self.segments.make_menu(), self.actions_).popup(where)

    @Slot(QPoint)
    def _show_timeline_menu(self, where: QPoint) -> None:
        timeline_menu(self, self.actions_, self.document).popup(where)

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
        self._title.update()

    def _why_disabled(self, action: str) -> str:
        recording, highlighted = self.feed.recorder is not None, self.objects.current
        return why_disabled(self.document, action, recording=recording, highlighted=highlighted)

    @Slot()
    def _update_selection(self) -> None:
        """Enable the actions on segments and objects that fit the selection."""
        self.actions_.enable(self._why_disabled, _SELECTION_ACTIONS)
        self.actions_["isolate"].setText(self.segments.isolate_text)

    @Slot()
    def _on_look(self) -> None:
        action = f"view_{self.document.display.look.view}"
        self.actions_[action].setChecked(True)
        self._update_selection()

    @Slot(str)
    def _on_failed(self, message: str) -> None:
        self.message.show_message(message, "error")
        if not self.document.is_open:
            self._show_welcome()

    @Slot(object)
    def _on_notice(self, notice: Notice) -> None:
        self.message.show_message(notice.text, "notice")

    @Slot()
    def _on_recorded(self) -> None:
        self._refresh()
        self.welcome.refresh()

    # --- full screen

    def _toggle_full_screen(self) -> None:
        # Keeps the flag of a maximized window, which is maximized again afterwards.
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    def changeEvent(self, event: QEvent) -> None:
        """Check the menu entry when the window becomes full screen in any way."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.WindowStateChange:
            self.actions_["full_screen"].setChecked(self.isFullScreen())
            self.panels.set_full_screen(self.isFullScreen())

    def event(self, event: QEvent) -> bool:
        """Let Space move the picture under the mouse, whatever has the focus and does not use it."""
        taken = event.type() == QEvent.Type.ShortcutOverride and self.viewer.reserve_space(event)
        return taken or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave full screen, or clear the selection, on Esc that no widget uses: a shortcut would take it from all."""
        if event.key() == Qt.Key.Key_Escape and self.isFullScreen():
            self._toggle_full_screen()
        elif event.key() == Qt.Key.Key_Escape and self.viewer.escape():
            pass
        elif not self.viewer.panning.press_key(event):
            if not (self.document.is_open and self._disabled_keys.press(event)):
                super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        """Release Space that was pressed over the picture."""
        if not self.viewer.panning.release_key(event):
            super().keyReleaseEvent(event)

    def focusNextPrevChild(self, next: bool) -> bool:
        """Move the focus with Tab, but not into a panel that is behind another one."""
        start = self.focusWidget()
        while super().focusNextPrevChild(next):
            moved = self.focusWidget()
            if moved is None or moved is start or not is_behind_another(moved):
                return True
        return False

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        self.viewer.dragEnterEvent(event)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.viewer.dragLeaveEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Open files that are dropped on a panel or a bar, as those on the picture."""
        self.viewer.dropEvent(event)

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
        self.drawing.shut_down()
        self.ended &= self.compare.shut_down()
        self._is_closing = False
        event.accept()

    def _may_close(self) -> bool:
        question = "An export is still running. Stop it and close?"
        if self.document.exporting and not confirm(self, question, "Stop and Close"):
            return False
        return self.recording.may_end("Close") and self._unsaved_work.may_close()
