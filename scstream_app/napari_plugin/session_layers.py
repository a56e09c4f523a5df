"""A session as layers of napari: the pictures, the segments, the objects and the tracks."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from scstream_app.errors import StudioError
from scstream_app.napari_plugin.colours import label_colours, object_colours
from scstream_app.napari_plugin.frame_stack import FrameStack
from scstream_app.napari_plugin.source_pictures import picture_stack
from scstream_app.napari_plugin.tracks import LayerData, TrackCollector
from scstream_app.objects import MarkedObject, member_masks
from scstream_app.render.image_types import IdMap
from scstream_app.render.palette import PALETTES, Colouring
from scstream_app.session import Names, Session, check_source
from scstream_app.session.damage_report import missing_frames_text
from scstream_app.sources import open_source

Report = Callable[[str], None]
Marks = TypeVar("Marks")


def session_layers(session: Session, report: Report) -> list[LayerData]:
    """Layers of a session, the bottom one first.

    Ids, masks and pictures are read when napari shows them. A segment has the label id + 1, because napari does not
    draw label 0, and so does its track. The first axis is the number of the frame in the source.

    ``report`` is called with messages about what is damaged or missing; the layers have the rest.
    """
    if not len(session):
        raise StudioError(f"Cannot open '{session.path}' in napari: it has no frames yet.")
    return _Layers(session, report).all()


class _Layers:
    """The layers of one session."""

    def __init__(self, session: Session, report: Report) -> None:
        self.session, self.report = session, report
        self.frames = range(session.manifest.start, int(session.frames[-1]) + 1)
        self.present = frozenset(session.frames.tolist())
        self.size = session.manifest.source.height, session.manifest.source.width
        self.names = self._readable(lambda: session.names, Names())
        self.objects: tuple[MarkedObject, ...] = self._readable(lambda: session.objects, ())
        self.times: list[float] = []
        self.tracks = TrackCollector()

    def _readable(self, read: Callable[[], Marks], otherwise: Marks) -> Marks:
        try:
            return read()
        except StudioError as error:
            self.report(str(error))
            return otherwise

    def all(self) -> list[LayerData]:
        """All layers that the session has."""
        missing = missing_frames_text(self.session.frames.tolist())
        if missing:
            self.report(missing)
        self._collect()
        tracks = self.tracks.layer(self.colouring, self._options("tracks", visible=False))
        layers = [self._pictures(), self._segments(), self._objects(), tracks]
        return [layer for layer in layers if layer is not None]

    def _collect(self) -> None:
        """Read the statistics of all frames."""
        try:
            for record in self.session.records():
                self.times.append(record.time)
                statistics = self.session.statistics(record.index)
                self.tracks.add(record.index - self.frames.start, statistics, record.events)
        except StudioError as error:
            self.report(f"{error} The tracks end there.")

    @property
    def colouring(self) -> Colouring:
        """Colours of the segments, as in exports of the session."""
        palette = str(self.session.manifest.export.get("palette"))
        return Colouring(palette if palette in PALETTES else "vivid", self.names.colours, self.names.hidden)

    def _options(self, kind: str, **more: Any) -> dict[str, Any]:
        manifest = self.session.manifest
        return {
            "name": f"{self.session.path.stem} {kind}",
            "translate": (self.frames.start, 0, 0),
            "axis_labels": ("frame", "row", "column"),
            "metadata": {
                "session": str(self.session.path),
                "source": manifest.source.address,
                "rate": manifest.source.rate,
                "frames": self.session.frames,
                "times": np.array(self.times),
                "complete": manifest.complete,
            },
            **more,
        }

    # --- segments

    def _segments(self) -> LayerData:
        features = self.tracks.features(self.names.names)
        most = int(features["id"].max(initial=0)) + 1
        options = self._options("segments", features=features, colormap=label_colours(self.colouring, most))
        return FrameStack(self._labels, (len(self.frames), *self.size), np.int32, self.report), options, "labels"

    def _labels(self, place: int) -> IdMap:
        index = self.frames[place]
        if index not in self.present:
            return np.zeros(self.size, np.int32)
        return self.session.ids(index) + np.int32(1)

    # --- objects

    def _objects(self) -> LayerData | None:
        if not self.objects:
            return None
        features = {
            "index": np.arange(1, len(self.objects) + 1),
            "name": np.array([one.name for one in self.objects], object),
        }
        colours = object_colours([one.colour for one in self.objects])
        options = self._options("objects", features=features, colormap=colours)
        return FrameStack(self._numbers, (len(self.frames), *self.size), np.uint8, self.report), options, "labels"

    def _numbers(self, place: int) -> npt.NDArray[np.uint8]:
        index = self.frames[place]
        if index not in self.present:
            return np.zeros(self.size, np.uint8)
        masks = self.session.read_object_masks(index, self.objects)
        if masks is None:
            # Not tracked: the object has the segments that its edits and the genealogy give it.
            masks = member_masks(self.session.ids(index), self._members[index])
        return masks.numbers

    @cached_property
    def _members(self) -> dict[int, tuple[frozenset[int], ...]]:
        return dict(self.session.members(self.objects))

    # --- pictures

    def _pictures(self) -> LayerData | None:
        facts = self.session.manifest.source
        if facts.live and not self.session.recorded:
            self.report(f"'{facts.name}' was live: its pictures were not stored, and only the segments are shown.")
            return None
        try:
            source = open_source(self.session.source_address)
            try:
                check_source(self.session, source)
            except BaseException:
                source.close()
                raise
        except StudioError as error:
            self.report(f"{error} The segments are shown without their pictures.")
            return None
        stack = picture_stack(source, self.frames, self.size, self.report)
        return stack, self._options("pictures", rgb=True), "image"
