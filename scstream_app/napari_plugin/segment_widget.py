"""The widget "Segment with ScStream": segments an image layer of the viewer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from magicgui.widgets import ComboBox, Container, Label, ProgressBar, PushButton, Widget, create_widget

from scstream_app.errors import SourceError, StudioError
from scstream_app.napari_plugin.colours import label_colours
from scstream_app.napari_plugin.layer_source import LayerSource
from scstream_app.napari_plugin.segment_layer import LayerRun, Outcome, Progress
from scstream_app.napari_plugin.tracks import TrackCollector
from scstream_app.plural import counted
from scstream_app.render.palette import Colouring
from scstream_app.settings import SPECS, Settings
from scstream_app.warmup_messages import COMPILING

if TYPE_CHECKING:
    import napari

#: The settings that the widget shows, in this order.
SHOWN = ("detail", "decay", "scale", "seed")

_FIRST = "Analysing first frame…"
#: Where a layer is: its labels and tracks are there too.
_PLACE = ("scale", "translate", "rotate", "shear", "affine", "units", "axis_labels")
_COLOURS = Colouring()
#: Segments with a colour of their own.
_MANY = 4095
# Larger seeds do not fit into a spin box.
_SEEDS = 2**31 - 1


class SegmentWidget(Container[Widget]):
    """Choose an image layer and settings, segment it, and get its labels and tracks as layers.

    A worker thread segments. It fills the labels frame by frame, while the viewer can be used; the tracks follow at the
    end. Closing the viewer ends the thread.
    """

    def __init__(self, viewer: napari.viewer.Viewer) -> None:
        super().__init__()
        self.viewer = viewer
        self.image = ComboBox(label="Layer", choices=self._images, nullable=False)
        self.fields = {name: _field(name) for name in SHOWN}
        self.start = PushButton(text="Segment")
        self.cancel = PushButton(text="Cancel", enabled=False)
        self.progress = ProgressBar(value=0, max=1, label="")
        self.message = Label(value="")
        # A long message must not widen the dock.
        self.message.native.setWordWrap(True)
        buttons = Container[Widget](widgets=[self.start, self.cancel], layout="horizontal", labels=False)
        self.extend([self.image, *self.fields.values(), buttons, self.progress, self.message])
        self.start.changed.connect(self.segment)
        self.cancel.changed.connect(self.stop)
        self._run: _Run | None = None

    def _images(self, widget: Any = None) -> list[Any]:
        from napari.layers import Image

        return [layer for layer in self.viewer.layers if isinstance(layer, Image)]

    @property
    def settings(self) -> Settings:
        """The settings that are shown."""
        return Settings(**{name: field.value for name, field in self.fields.items()})

    @property
    def running(self) -> bool:
        """Whether a layer is being segmented."""
        return self._run is not None

    def segment(self) -> None:
        """Start to segment the chosen layer; shows why if that is impossible."""
        from napari.utils.notifications import show_error

        if self.running:
            return
        try:
            layer = self._chosen()
            source = LayerSource(layer.name, _full_size(layer), layer.rgb, tuple(layer.contrast_limits))
            work = LayerRun(source, self.settings, _empty_labels(source))
        except StudioError as error:
            self.message.value = str(error)
            show_error(str(error))
            return
        self._run = _Run(self, layer, work)
        self._show_running(True)
        self.progress.max, self.progress.value = len(work.labels), 0
        self.message.value = COMPILING
        self._run.begin()

    def _chosen(self) -> Any:
        if self.image.value is None:
            raise SourceError("There is no image layer to segment. Open an image or a sample clip first.")
        return self.image.value

    def stop(self) -> None:
        """End the run after the present frame; the labels so far stay."""
        if self._run is not None:
            self._run.work.cancel.set()

    def show_progress(self, progress: Progress) -> None:
        """Show how many frames are done."""
        self.progress.value = progress.done
        frames = f"Frame {progress.done} of {self.progress.max}"
        self.message.value = frames if progress.done else _FIRST

    def show_end(self, outcome: Outcome, cancelled: bool) -> None:
        """Show how a run ended."""
        self._run = None
        self._show_running(False)
        self.progress.value = outcome.progress.done
        frames = counted(outcome.progress.done, "frame")
        self.message.value = outcome.error or (f"Cancelled after {frames}" if cancelled else f"Segmented {frames}")

    def _show_running(self, running: bool) -> None:
        for widget in (self.image, *self.fields.values(), self.start):
            widget.enabled = not running
        self.cancel.enabled = running


class _Run:
    """One run: its worker thread, and the layers that it fills."""

    def __init__(self, widget: SegmentWidget, layer: Any, work: LayerRun) -> None:
        from napari.qt.threading import create_worker

        self.widget, self.viewer, self.work = widget, widget.viewer, work
        self.name = work.source.name
        self.still = layer.ndim == 2
        self.options = {name: getattr(layer, name) for name in _PLACE}
        self.layer = self._add_labels()
        self.bar: Any = None
        self.abandoned = False
        self.worker: Any = create_worker(work.run, _start_thread=False)
        self.worker.yielded.connect(self._advance)
        self.worker.returned.connect(self._end)
        self.worker.errored.connect(self._fail)

    def _add_labels(self) -> Any:
        data = self.work.labels[0] if self.still else self.work.labels
        # How many segments there will be is unknown.
        colours = label_colours(_COLOURS, _MANY)
        return self.viewer.add_labels(data, name=f"{self.name} segments", colormap=colours, **self.options)

    def begin(self) -> None:
        """Start the thread; it ends with the widget and with the application, whichever ends first."""
        from napari.utils import progress
        from qtpy.QtCore import QCoreApplication

        self.bar = progress(total=len(self.work.labels), desc=f"Segmenting {self.name}")
        self.widget.native.destroyed.connect(self._abandon)
        application = QCoreApplication.instance()
        assert application is not None
        application.aboutToQuit.connect(self.work.cancel.set)
        self.viewer.layers.events.removed.connect(self._cancel_if_removed)
        self.worker.start()

    def _abandon(self) -> None:
        """End the thread and show nothing more: the widget's window was closed."""
        self.abandoned = True
        self.work.cancel.set()

    def _cancel_if_removed(self, event: Any) -> None:
        if event.value is self.layer:
            self.work.cancel.set()

    def _advance(self, progress: Progress) -> None:
        if self.abandoned:
            return
        self._show(progress)
        self.widget.show_progress(progress)
        self.work.shown.set()

    def _show(self, progress: Progress) -> None:
        from napari.utils.notifications import show_warning

        for text in progress.damage:
            show_warning(text)
        self.bar.update(progress.done - self.bar.n)
        self.layer.refresh()

    def _end(self, outcome: Outcome) -> None:
        from napari.utils.notifications import show_error

        if self.abandoned:
            self._release()
            return
        self._show(outcome.progress)
        self._release()
        if self.layer in self.viewer.layers:
            self._finish_layers(outcome)
        if outcome.error:
            show_error(outcome.error)
        self.widget.show_end(outcome, self.work.cancel.is_set())

    def _release(self) -> None:
        self.bar.close()
        self.viewer.layers.events.removed.disconnect(self._cancel_if_removed)

    def _finish_layers(self, outcome: Outcome) -> None:
        if not outcome.progress.done:
            self.viewer.layers.remove(self.layer)
            return
        self.layer.features = outcome.tracks.features({})
        tracks = outcome.tracks.layer(_COLOURS, {"name": f"{self.name} tracks", "visible": False, **self.options})
        if tracks is not None and not self.still:
            points, options, _ = tracks
            self.viewer.add_tracks(points, **options)

    def _fail(self, error: Exception) -> None:
        """Return to the idle state after an error of the program; napari reports it, with its traceback."""
        self._release()
        if self.abandoned:
            return
        outcome = Outcome(Progress(0), TrackCollector(), f"Cannot segment '{self.name}': {error!r}.")
        self.widget.show_end(outcome, cancelled=False)


def _field(name: str) -> Any:
    spec, default = SPECS[name], getattr(Settings(), name)
    options: dict[str, Any] = {"min": spec.low, "max": spec.high, "tooltip": spec.help}
    if spec.kind == "integer":
        options["max"] = min(spec.high, _SEEDS)
    else:
        # A lower bound that is excluded is out of reach.
        options |= {"min": max(spec.low, 0.01) if spec.above else spec.low, "step": 0.1}
    kind = int if spec.kind == "integer" else float
    return create_widget(value=default, annotation=kind, label=spec.label, options=options)


def _full_size(layer: Any) -> Any:
    return layer.data[0] if layer.multiscale else layer.data


def _empty_labels(source: LayerSource) -> npt.NDArray[np.int32]:
    try:
        return np.zeros(source.shape, np.int32)
    except (MemoryError, ValueError) as error:
        text = f"labels of shape {source.shape} do not fit into memory. Crop the layer."
        raise SourceError(f"Cannot segment '{source.name}': {text}") from error
