"""What a live source has that a file has not: a rate to hold, a camera that may fail, and a recording."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import monotonic

from PySide6.QtCore import QObject, Signal, Slot

from scstream_app.pipeline.adaptive_scale import AdaptiveScale
from scstream_app.pipeline.edits import Edit
from scstream_app.pipeline.run import Notice
from scstream_app.session import FrameRecord, LiveRecorder, MarkedObject, RecordingResult
from scstream_app.sources import is_camera
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State

_STOP_SECONDS = 30.0
#: Frames a second that can be held.
TARGETS = (15.0, 20.0, 25.0, 30.0)


class LiveFeed(QObject):
    """Watches the document while it shows a live source.

    ``changed`` says that the rate, the size, the camera's state or the recording is another one; ``recorded`` carries
    what became of a recording.

    Attributes
    ----------
    target : float or None
        Frames a second to hold by adapting the processing size; None: the size is the one of the settings.
    scale : float
        The processing size at present.
    recorder : Recorder or None
        While a recording is being made, and until all of it is on the disk.
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
        self._pace: AdaptiveScale | None = None
        self._asked: float | None = None
        self._last = 0.0
        self._stalled = False
        # Objects as the document has or had them, and what they are in the recording.
        self._placed: dict[MarkedObject, MarkedObject] = {}
        self._all_placed = False
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
        """Whether it is a camera, which is taken up again when it is back; a network stream is only waited for."""
        facts = self._document.facts
        return facts is not None and is_camera(facts.address)

    @property
    def silence(self) -> float | None:
        """Seconds since the last picture of a camera that gives none; None while all is well."""
        return monotonic() - self._last if self._stalled else None

    @property
    def dropped(self) -> int:
        """Frames that were passed over because newer ones had come."""
        return self._document.run.worker.dropped

    # --- the rate

    def set_target(self, target: float | None) -> None:
        """Hold this rate, or keep to the size of the settings."""
        self.target = target
        self._pace = None if target is None else AdaptiveScale(target, self.scale)
        if target is None and self._document.live:
            self._ask(self._document.settings.scale)
        self.changed.emit()

    def _ask(self, scale: float) -> None:
        if scale != self.scale or self._asked is not None:
            self._asked = scale
            # Not through the document: the settings are what a person chose.
            self._document.pending.add(Edit("change", values={"scale": scale}), by_user=False)

    @Slot(object)
    def _on_noted(self, record: FrameRecord) -> None:
        if not self._document.live:
            return
        self._last = monotonic()
        self._note_scale(record)
        if self._pace is not None and record.index and not record.cut:
            wanted = self._pace.note(record.milliseconds["engine"])
            if wanted is not None:
                self._ask(wanted)
        if not self._all_placed:
            self._keep_marks()

    def _note_scale(self, record: FrameRecord) -> None:
        sizes = [float(edit.values["scale"]) for edit in record.edits if "scale" in edit.values]
        if not sizes:
            return
        self.scale = sizes[-1]
        if self.scale == self._asked:
            self._asked = None
        elif self.target is not None and self._asked is None:
            # A person chose another size: it is to stay.
            self.target = self._pace = None
        self.changed.emit()

    # --- recording

    @property
    def recording(self) -> bool:
        """Whether frames are being recorded; False while the last ones are written."""
        return self.recorder is not None and self._document.run.worker.recorder is self.recorder

    def record(self, path: Path) -> None:
        """Keep frames and ids from now on, in a new session."""
        document = self._document
        if not document.live or document.facts is None or self.recorder is not None:
            return
        settings = replace(document.settings, scale=self.scale)
        self.recorder = LiveRecorder(path, document.facts, settings, self._ended.emit)
        self._placed, self._all_placed = {}, False
        document.run.worker.recorder = self.recorder
        self.changed.emit()

    @Slot()
    def stop(self) -> None:
        """End the recording; `recorded` follows when all of it is on the disk."""
        self._keep_marks()
        self._document.run.worker.recorder = None
        if self.recorder is not None:
            self.recorder.stop()

    def shut_down(self, patience: float = _STOP_SECONDS) -> bool:
        """End the recording and wait for it; True if it has ended within so many seconds."""
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
        """Have what a person marked written with the recording, if there are frames that it can be told of."""
        recorder = self.recorder
        # One that is being finished belongs to what was open before.
        if recorder is None or not self.recording or not self._document.is_open or not recorder.frames:
            return
        found = [self._in_recording(thing, recorder) for thing in self._document.objects]
        self._all_placed = all(final for _, final in found)
        recorder.set_marks(self._document.names, [thing for thing, _ in found])

    def _in_recording(self, thing: MarkedObject, recorder: LiveRecorder) -> tuple[MarkedObject, bool]:
        """What an object is on the first recorded frame at or after that of its marking, and whether that is final."""
        if thing in self._placed:
            return self._placed[thing], True
        (place, index), summary = recorder.position_of(thing.frame), self._document.summary
        if index is None or index > summary.frames[-1]:
            return replace(thing, frame=place), False
        self._placed[thing] = replace(thing, frame=place, ids=summary.followed(thing.ids, thing.frame, index))
        return self._placed[thing], True

    @Slot(int)
    def _on_forgetting(self, index: int) -> None:
        """The document has its objects begin later then, but in the recording they stay where they are."""
        later = self._document.summary.objects_at(self._placed, index)
        self._placed = dict(zip(later, self._placed.values(), strict=True))

    # --- what the document says

    @Slot()
    def _on_opened(self) -> None:
        self._stalled, self._asked, self._last = False, None, monotonic()
        self.scale = self._document.settings.scale
        self._pace = None if self.target is None else AdaptiveScale(self.target, self.scale)
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
