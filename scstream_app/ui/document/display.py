"""What is on the screen: the frame shown, its look, and the selection."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QObject, Signal, Slot

from scstream.pixels.statistics import STATISTICS
from scstream_app.objects import MarkedObject, member_masks
from scstream_app.pipeline.edits import colour_after
from scstream_app.pipeline.frame_result import FrameResult, ObjectMasks
from scstream_app.pipeline.replay_buffer import ReplayBuffer
from scstream_app.session import Bookmark
from scstream_app.ui.document.expected_masks import ExpectedMasks
from scstream_app.ui.document.look import Look, ObjectLook, Shown
from scstream_app.ui.document.state import OpenClip, State
from scstream_app.ui.document.workers.renderer import DrawRequest, Renderer

if TYPE_CHECKING:
    from scstream import Preview


class Display(QObject):
    """Shows frames of the open clip: a renderer draws them according to the look, the marks and the selection.

    Parameters
    ----------
    clip : OpenClip
        The document.
    recent : ReplayBuffer
        The last frames of a live source.
    parent : QObject, optional

    Attributes
    ----------
    renderer : Renderer
        Draws frames on its own thread.
    shown : Shown or None
        The frame on the screen.
    look : Look
        How frames are drawn, without marks and selection.
    expected : ExpectedMasks
        Masks of objects on painted frames that are not tracked yet.
    selection : frozenset of int
        Ids of the selected segments.
    isolated : frozenset of int
        Ids of the isolated segments; unless empty, all others are dimmed.
    follow_newest : bool
        Whether each new frame is shown as soon as it is segmented.
    """

    shown_changed = Signal()
    selection_changed = Signal()
    look_changed = Signal()

    def __init__(self, clip: OpenClip, recent: ReplayBuffer, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._clip, self._recent = clip, recent
        self.renderer = Renderer()
        self.look = Look()
        self.expected = ExpectedMasks()
        self.clear()
        self.renderer.drawn.connect(self._on_drawn)

    def clear(self) -> None:
        """Forget the frame, the selection and the isolated segments; the look stays."""
        self.shown: Shown | None = None
        self.expected.clear()
        self.selection: frozenset[int] = frozenset()
        self.isolated: frozenset[int] = frozenset()
        self.follow_newest = True
        # The frame that the user asked for, or the newest one, until it is drawn.
        self._requested: int | FrameResult | None = None

    @property
    def index(self) -> int | None:
        """Index of the frame on the screen."""
        return None if self.shown is None else self.shown.result.index

    @property
    def bookmark(self) -> Bookmark | None:
        """The frame requested last, its view and the selection; None while no frame is segmented."""
        index = self.requested
        return None if index is None or not len(self._clip.summary) else Bookmark(index, self.look.view, self.selection)

    @property
    def requested(self) -> int | None:
        """Index of the frame requested last, which may not be on the screen yet."""
        requested = self.index if self._requested is None else self._requested
        return requested.index if isinstance(requested, FrameResult) else requested

    # --- which frame

    def show(self, index: int) -> None:
        """Show a segmented frame and stop following new ones, unless it is the newest."""
        if self._clip.live:
            self._show_recent(index)
        elif len(self._clip.summary):
            frames = self._clip.summary.frames
            index = min(max(index, frames[0]), frames[-1])
            self.follow_newest = index == frames[-1] and self._clip.state in (State.SEGMENTING, State.SETTLING)
            self._requested = index
            self.draw(index)

    def show_picture(self, index: int) -> None:
        """Show a frame that is not segmented, and stop following new ones; its segments appear when it has them."""
        self.follow_newest = False
        self._requested = index
        self.draw(index)

    def on_segmented(self, index: int) -> None:
        """Draw a frame again if it was shown before it was segmented."""
        waiting = self.shown is not None and not self.shown.segmented and not self.follow_newest
        if waiting and self._requested in (None, index) and self.index == index:
            self.draw(index)

    def _show_recent(self, index: int) -> None:
        """Show the nearest buffered frame of a live source that is paused or has ended."""
        result = self._recent.at(index)
        if result is not None and self._clip.state in (State.PAUSED, State.STOPPED):
            self.follow_newest = False
            self._requested = result
            self.draw(result)

    def show_newest(self, result: FrameResult) -> None:
        """Show the newest frame if the display follows new frames."""
        if self.follow_newest:
            # The renderer draws frames of a live source ahead of this call.
            self._requested = None if self.shown is not None and self.shown.result is result else result
            self.draw(result)

    def show_preview(self, preview: Preview) -> None:
        """Show a first frame while it settles, if the display follows new frames."""
        if self.follow_newest:
            frames, session = self._clip.summary.frames, self._clip.session
            start = 0 if session is None else session.manifest.start
            index = frames[-1] + 1 if len(frames) else start
            self.draw(FrameResult(index, math.nan, preview.frame, preview.ids, (), np.empty(0, STATISTICS)))

    def draw(self, frame: int | FrameResult) -> None:
        """Draw a frame now; a frame that the user requested is still shown afterwards."""
        index, edits = (frame.index, frame.edits) if isinstance(frame, FrameResult) else (frame, ())
        # The newest frame of a live source is drawn before the summary contains it.
        colour = colour_after(edits, self._clip.colour_at(index))
        following = self.follow_newest and isinstance(frame, FrameResult)
        objects = self._clip.objects
        masks = self.expected.find(objects, index)
        self.renderer.request(DrawRequest(frame, self.full_look(index), colour, following, objects, masks))

    def redraw(self) -> None:
        """Draw the frame again, because its look, the marks or the selection changed."""
        # A requested frame that is not drawn yet must not be lost.
        if self._requested is not None:
            self.draw(self._requested)
        elif self.shown is not None:
            self.draw(self.shown.result)

    @Slot()
    def _on_drawn(self) -> None:
        shown = self.renderer.ready.take()
        if shown is not None and self._clip.facts is not None:
            self.shown = shown
            requested = self._requested
            if shown.result.index == (requested.index if isinstance(requested, FrameResult) else requested):
                self._requested = None
            self.shown_changed.emit()

    # --- how it looks

    def set_look(self, **changes: Any) -> None:
        """Change fields of the look: view, opacity, palette, divider, whether objects are shown."""
        self.look = replace(self.look, **changes)
        self.look_changed.emit()
        self.redraw()

    def select(self, ids: Iterable[int]) -> None:
        """Select exactly these segments."""
        chosen = frozenset(ids)
        if chosen != self.selection:
            self.selection = chosen
            self.selection_changed.emit()
            self.redraw()

    def isolate(self, ids: Iterable[int]) -> None:
        """Dim all segments but these; without ids, dim none."""
        self.isolated = frozenset(ids)
        self.look_changed.emit()
        self.redraw()

    def full_look(self, index: int) -> Look:
        """Return the look of a frame with its marks, the members of objects and the selection."""
        members = self.members(index).values()
        objects = zip(self._clip.objects, members, strict=True)
        return replace(
            self.look,
            colours=self._clip.names.colours,
            hidden=self._clip.names.hidden,
            objects=tuple(ObjectLook(object_.colour, ids) for object_, ids in objects),
            selected=self.selection,
            isolated=self.isolated,
        )

    def leave_empty_object_view(self) -> None:
        """Switch from a view of objects to the overlay if there are no objects."""
        if "mask" in self.look.drawn_view.needs and not self._clip.objects:
            self.set_look(view="overlay")

    # --- objects

    def members(self, index: int | None = None) -> dict[str, frozenset[int]]:
        """Return the ids of every object on a frame, by default the one shown."""
        index, objects = self.index if index is None else index, self._clip.objects
        ids = tuple(object_.ids for object_ in objects) if index is None else self._clip.summary.members(objects, index)
        return {object_.name: found for object_, found in zip(objects, ids, strict=True)}

    def masks(self) -> ObjectMasks | None:
        """Return the masks of the objects on the frame shown: tracked or painted ones, else the objects' segments.

        None if no frame is shown.
        """
        if self.shown is None:
            return None
        return self._tracked_masks() or member_masks(self.shown.result.ids, tuple(self.members().values()))

    def object_at(self, x: int, y: int) -> MarkedObject | None:
        """Return the object that has a pixel of the frame shown."""
        objects, masks = self._clip.objects, self._tracked_masks()
        if self.shown is None or masks is not None:
            number = 0 if masks is None else int(masks.numbers[y, x])
            return objects[number - 1] if number else None
        id, members = int(self.shown.result.ids[y, x]), self.members()
        return next((object_ for object_ in objects if id in members[object_.name]), None)

    def _tracked_masks(self) -> ObjectMasks | None:
        """The tracked or painted masks of the frame shown, if they are known."""
        if self.shown is None:
            return None
        result = self.shown.result
        if result.objects is not None and self.shown.objects == self._clip.objects:
            return result.objects
        return self.expected.find(self._clip.objects, result.index)
