"""Live sources in the document: hold a frame rate, show that a camera has stalled, and record."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import monotonic

from PySide6.QtCore import QObject, Signal, Slot

from scstream_app.pipeline.adaptive_scale import AdaptiveScale
from scstream_app.pipeline.edits import Edit
from scstream_app.pipeline.run import Notice
from scstream_app.session import FrameRecord, LiveRecorder, RecordingResult
from scstream_app.session.objects.recorded_objects import RecordedObjects
from scstream_app.sources import is_camera
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State

_STOP_SECONDS = 30.0
#: Frame rates that the user can choose to hold.
TARGETS = (15.0, 20.0, 25.0, 30.0)


class LiveFeed(QObject):
    """Controls the live source of a document.

    ``changed`` comes when the target rate, the processing size, the state of the camera or of the recording changes;
    ``recorded`` carries the result of a recording.

    Attributes
    ----------
    target : float or None
        Frame rate to hold by adapting the processing size; None: the size of the settings is used.
    scale : float
        The current processing size.
    recorder : LiveRecorder or None
        The recorder, until the recording is written completely.
    """

    changed = Signal()
    recorded = Signal(object)

    _ended = Signal(object)

    def __init__(self, document: Document, target: float | None = 20.0, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.target = target
        self.scale = 1.0
        self.recorder: LiveRecorder | None = None
        self._adaptive_scale: AdaptiveScale | None = None
        self._requested: float | None = None
        self._last = 0.0
        self._stalled = False
        self._recorded_objects: RecordedObjects | None = None
        document.opened.connect(self._on_opened)
        document.closed.connect(self._on_closed)
        document.noticed.connect(self._on_noticed)
        document.marks_changed.connect(self._keep_marks)
        document.forgetting.connect(self._on_forgetting)
        document.state_changed.connect(self._on_state)
        document.run.worker.noted.connect(self._on_noted)
        self._ended.connect(self._on_ended)

    @property
    def camera(self) -> bool:
        """Whether the source is a camera, which is reopened when it is back; a network stream is only waited for."""
        facts = self._document.facts
        return facts is not None and is_camera(facts.address)

    @property
    def silence(self) -> float | None:
        """Seconds since the last frame of a camera that has stalled; None if it has not."""
        return monotonic() - self._last if self._stalled else None

    @property
    def dropped(self) -> int:
        """Number of frames that were skipped because newer ones had arrived."""
        return self._document.run.worker.dropped

    # --- frame rate

    def set_target(self, target: float | None) -> None:
        """Hold a frame rate; None: use the processing size of the settings."""
        self.target = target
        self._adaptive_scale = None if target is None else AdaptiveScale(target, self.scale)
        if target is None and self._document.live:
            self._request(self._document.settings.scale)
        self.changed.emit()

    def _request(self, scale: float) -> None:
        if scale != self.scale or self._requested is not None:
            self._requested = scale
            # Not by `Document.edit`: the settings stay those of the user.
            self._document.pending.add(Edit("change", values={"scale": scale}), by_user=False)

    @Slot(object)
    def _on_noted(self, record: FrameRecord) -> None:
        if not self._document.live:
            return
        self._last = monotonic()
        self._note_scale(record)
        if self._adaptive_scale is not None and record.index and not record.cut:
            wanted = self._adaptive_scale.note(record.milliseconds["engine"], record.time, self.dropped)
            if wanted is not None:
                self._request(wanted)
        if self._recorded_objects is not None and not self._recorded_objects.final:
            self._keep_marks()

    def _note_scale(self, record: FrameRecord) -> None:
        sizes = [float(edit.values["scale"]) for edit in record.edits if "scale" in edit.values]
        if not sizes:
            return
        self.scale = sizes[-1]
        if self.scale == self._requested:
            self._requested = None
        elif self.target is not None and self._requested is None:
            # The user has chosen another size, which stays.
            self.target = self._adaptive_scale = None
        self.changed.emit()

    # --- recording

    @property
    def recording(self) -> bool:
        """Whether frames are being recorded; False while the last ones are being written."""
        return self.recorder is not None and self._document.run.worker.recorder is self.recorder

    def record(self, path: Path) -> None:
        """Record frames and ids from now on into a new session."""
        document = self._document
        if not document.live or document.facts is None or self.recorder is not None:
            return
        settings = replace(document.settings, scale=self.scale)
        self.recorder = LiveRecorder(path, document.facts, settings, self._ended.emit)
        self._recorded_objects = RecordedObjects(self.recorder.position_of)
        document.run.worker.recorder = self.recorder
        self.changed.emit()

    @Slot()
    def stop(self) -> None:
        """End the recording; ``recorded`` follows when it is written completely."""
        self._keep_marks()
        self._document.run.worker.recorder = None
        if self.recorder is not None:
            self.recorder.stop()

    def shut_down(self, patience: float = _STOP_SECONDS) -> bool:
        """End the recording and wait for it; return whether it ended within ``patience`` seconds."""
        recorder = self.recorder
        self.stop()
        return recorder is None or recorder.join(patience)

    @Slot(object)
    def _on_ended(self, recorded: RecordingResult) -> None:
        self._document.run.worker.recorder = None
        self.recorder = None
        self.changed.emit()
        self.recorded.emit(recorded)

    @Slot()
    def _keep_marks(self) -> None:
        """Write names and objects to the recording, once it has frames."""
        recorder, objects, document = self.recorder, self._recorded_objects, self._document
        # A recording that is being finished belongs to the clip before.
        if recorder is None or objects is None or not self.recording or not document.is_open or not recorder.frames:
            return
        recorder.set_marks(document.names, objects.translate(document.objects, document.summary))

    @Slot(int)
    def _on_forgetting(self, index: int) -> None:
        """Note that the document's objects begin later from now on; in the recording they stay as they are."""
        if self._recorded_objects is not None:
            self._recorded_objects.forget_before(index, self._document.summary)

    # --- signals of the document

    @Slot()
    def _on_opened(self) -> None:
        self._stalled, self._requested, self._last = False, None, monotonic()
        self.scale = self._document.settings.scale
        self._adaptive_scale = None if self.target is None else AdaptiveScale(self.target, self.scale)
        self.changed.emit()

    @Slot()
    def _on_closed(self) -> None:
        self._stalled = False
        self.stop()
        self.changed.emit()

    @Slot()
    def _on_state(self) -> None:
        if self._document.live and self._document.state is State.STOPPED:
            self.stop()
        self.changed.emit()

    @Slot(object)
    def _on_noticed(self, notice: Notice) -> None:
        if notice.kind in ("stalled", "back"):
            self._stalled = notice.kind == "stalled"
            self.changed.emit()
