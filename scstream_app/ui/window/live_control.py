"""Actions of a live source: pause it, record it, and remember its target rate."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QSettings, Slot

from scstream_app.ui.actions.actions import Actions
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.live_feed import TARGETS, LiveFeed
from scstream_app.ui.document.playback.player import Player
from scstream_app.ui.document.state import State
from scstream_app.ui.sessions.recording_control import RecordingControl

_KEY = "live/target"
#: Default target of a live source, in frames a second.
_DEFAULT_TARGET = 20.0


class LiveControl(QObject):
    """Does what the actions Play and Record mean for a live source.

    Parameters
    ----------
    document : Document
    player : Player
        Plays a source that is not live.
    recording : RecordingControl
    feed : LiveFeed
    actions : Actions
    settings : QSettings
        Remembers the target rate.
    """

    def __init__(
        self,
        document: Document,
        player: Player,
        recording: RecordingControl,
        feed: LiveFeed,
        actions: Actions,
        settings: QSettings,
    ) -> None:
        super().__init__(feed)
        self._document, self._player, self._recording = document, player, recording
        self._feed, self._actions, self._settings = feed, actions, settings
        feed.changed.connect(self._on_feed)

    def handlers(self) -> dict[str, Callable[[], object]]:
        """Return what the actions do."""
        return {"play": self._toggle_play, "record": self._toggle_recording}

    def _toggle_play(self) -> None:
        if self._document.live:
            self._document.pause(self._document.state is not State.PAUSED)
        else:
            self._player.toggle()

    def _toggle_recording(self) -> None:
        self._recording.toggle()
        # The action has checked itself, even if no recording was started.
        self._on_feed()

    @Slot()
    def _on_feed(self) -> None:
        self._actions["record"].setChecked(self._feed.recorder is not None)
        self._settings.setValue(_KEY, self._feed.target or 0)


def stored_target(settings: QSettings) -> float | None:
    """Return the stored target rate of live sources; None: a fixed processing size."""
    value = float(str(settings.value(_KEY, _DEFAULT_TARGET)))
    return value if value in TARGETS else None
