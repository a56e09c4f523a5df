"""The widget that segments an image layer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square
from scstream import VideoSegmenter, warm_up
from scstream_app.errors import SourceError
from scstream_app.napari_plugin.layer_source import LayerSource
from scstream_app.napari_plugin.segment_widget import SegmentWidget

FRAMES = np.stack(moving_square(4, 32, 48))
_LONG = 60_000


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """Compile the engine before the tests."""
    warm_up()


@pytest.fixture
def widget(qtbot: QtBot, viewer: Any) -> Iterator[SegmentWidget]:
    """The widget next to a viewer without a window; no run is left when the test ends."""
    made = SegmentWidget(viewer)
    viewer.layers.events.inserted.connect(made.reset_choices)
    viewer.layers.events.removed.connect(made.reset_choices)
    yield made
    made.stop()
    qtbot.waitUntil(lambda: not made.running, timeout=_LONG)
    made.close()


def segmented(qtbot: QtBot, widget: SegmentWidget, data: Any, **options: Any) -> Any:
    """The image layer of this data, after it was segmented."""
    layer = widget.viewer.add_image(data, name="clip", **options)
    widget.segment()
    qtbot.waitUntil(lambda: not widget.running, timeout=_LONG)
    return layer


class Gated:
    """Frames of which the last ones are not delivered until the gate opens."""

    dtype, ndim, shape = FRAMES.dtype, FRAMES.ndim, FRAMES.shape

    def __init__(self) -> None:
        self.gate = threading.Event()

    def __getitem__(self, key: Any) -> Any:
        if threading.current_thread() is not threading.main_thread() and key > 1:
            assert self.gate.wait(60.0)
        return FRAMES[key]


def test_the_labels_are_those_of_the_engine(qtbot: QtBot, widget: SegmentWidget) -> None:
    widget.fields["detail"].value = 2.0
    widget.fields["seed"].value = 3
    segmented(qtbot, widget, FRAMES, scale=(1, 0.5, 0.5), translate=(0, 7, 0))
    segmenter = VideoSegmenter(detail=2.0, seed=3)
    expected = np.stack([segmenter.segment(frame, float(index)) for index, frame in enumerate(FRAMES)])
    image, labels, tracks = widget.viewer.layers
    np.testing.assert_array_equal(labels.data, expected + 1)
    assert (labels.name, tracks.name) == ("clip segments", "clip tracks")
    assert set(tracks.data[:, 0]) == set(np.unique(labels.data))
    for layer in (labels, tracks):
        np.testing.assert_array_equal(layer.scale, image.scale)
        np.testing.assert_array_equal(layer.translate, image.translate)
    assert widget.message.value == "Segmented 4 frames"
    assert widget.start.enabled
    assert not widget.cancel.enabled


def test_labels_appear_while_it_works_and_stay_when_it_is_cancelled(qtbot: QtBot, widget: SegmentWidget) -> None:
    data = Gated()
    widget.viewer.add_image(data, name="clip", rgb=True)
    widget.segment()
    assert widget.cancel.enabled
    assert not widget.start.enabled
    labels = widget.viewer.layers["clip segments"]
    qtbot.waitUntil(lambda: labels.data[1].any(), timeout=_LONG)
    assert widget.running
    widget.stop()
    data.gate.set()
    qtbot.waitUntil(lambda: not widget.running, timeout=_LONG)
    assert widget.message.value == "Cancelled after 2 frames"
    assert labels.data[:2].all()
    assert not labels.data[2:].any()
    assert "clip tracks" in widget.viewer.layers


def test_removing_the_labels_cancels(qtbot: QtBot, widget: SegmentWidget) -> None:
    data = Gated()
    widget.viewer.add_image(data, name="clip", rgb=True)
    widget.segment()
    widget.viewer.layers.remove("clip segments")
    data.gate.set()
    qtbot.waitUntil(lambda: not widget.running, timeout=_LONG)
    assert [layer.name for layer in widget.viewer.layers] == ["clip"]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(FRAMES[..., 0], id="grey"),
        pytest.param(FRAMES[0, ..., 0].astype(np.uint16) * 200, id="one image"),
        pytest.param(np.full((2, 9, 8), 7.5), id="constant"),
        pytest.param(np.zeros((2, 1, 1), np.uint8), id="one pixel"),
        pytest.param(FRAMES[:2, ..., 0] > 100, id="boolean"),
    ],
)
def test_any_image_is_segmented(qtbot: QtBot, widget: SegmentWidget, data: Any) -> None:
    segmented(qtbot, widget, data)
    labels = widget.viewer.layers["clip segments"].data
    assert labels.shape == data.shape
    assert labels.all()


def test_frames_without_values_are_reported_and_skipped(
    qtbot: QtBot, widget: SegmentWidget, messages: list[str]
) -> None:
    data = FRAMES[..., 0].astype(np.float32)
    data[1], data[2, :4] = np.nan, np.inf
    segmented(qtbot, widget, data, contrast_limits=(0, 255))
    labels = widget.viewer.layers["clip segments"].data
    assert labels.any(axis=(1, 2)).tolist() == [True, False, True, True]
    assert messages == ["Frame 1 is damaged and was skipped: it has no finite values."]


@pytest.mark.parametrize(
    ("data", "reason"),
    [(np.zeros((2, 3, 8, 8)), "it has 4 dimensions"), (np.full((2, 8, 8), np.nan), "none of its 2 frames")],
    ids=["dimensions", "not a number"],
)
def test_what_cannot_be_segmented_is_explained(
    qtbot: QtBot, widget: SegmentWidget, messages: list[str], data: Any, reason: str
) -> None:
    segmented(qtbot, widget, data, contrast_limits=(0, 1))
    assert reason in widget.message.value
    assert messages[-1] == widget.message.value
    assert len(widget.viewer.layers) == 1
    assert widget.start.enabled


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (np.zeros((0, 8, 8)), r"it is empty, of shape \(0, 8, 8\)"),
        (np.zeros((2, 8, 8), complex), "its values must be real numbers, got complex128"),
    ],
    ids=["empty", "complex"],
)
def test_layers_without_pictures_are_refused(data: Any, reason: str) -> None:
    with pytest.raises(SourceError, match=f"Cannot segment 'clip': {reason}"):
        LayerSource("clip", data, False, (0, 1))


def test_without_a_layer_it_says_what_to_open(widget: SegmentWidget, messages: list[str]) -> None:
    widget.segment()
    assert messages == ["There is no image layer to segment. Open an image or a sample clip first."]


def test_grey_values_are_stretched_between_the_contrast_limits() -> None:
    source = LayerSource("clip", np.array([[[100, 200, 300]]], np.uint16), False, (100, 300))
    frame = source.read()
    assert frame is not None
    assert frame.rgb.tolist() == [[[0, 0, 0], [128, 128, 128], [255, 255, 255]]]
    assert source.read() is None


def test_deleting_the_widget_ends_the_run(qtbot: QtBot, viewer: Any) -> None:
    """As when the viewer's window is closed while the worker thread is in the middle of a clip."""
    data = Gated()
    viewer.add_image(data, name="clip", rgb=True)
    widget = SegmentWidget(viewer)
    widget.segment()
    run = widget._run
    assert run is not None
    with qtbot.waitSignal(run.worker.finished, timeout=_LONG):
        widget.native.deleteLater()
        qtbot.waitUntil(run.work.cancel.is_set, timeout=_LONG)
        data.gate.set()
    assert not run.work.labels[2:].any()
