"""What is on the screen: the frame at hand, how it is to look, and what is selected in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot

from scstream_app.pipeline.edits import colour_after
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.session import Bookmark, MarkedObject, Names, Session, SourceFacts
from scstream_app.session.run_summary import RunSummary
from scstream_app.ui.document.look import Look, Shown
from scstream_app.ui.document.renderer import DrawRequest, Renderer
from scstream_app.ui.document.state import State
from scstream_app.ui.document.worker import Worker


class Showing(QObject):
    """The part of `Document` that shows: it has the renderer draw frames, as the look, marks and selection say.

    It cannot be used alone. `Document` makes ``worker`` and ``renderer``, calls `_show_nothing` before anything else,
    says in ``_first_colour`` which colour space a clip begins in, connects the renderer's ``drawn`` to `_on_drawn`, and
    sets ``session``, ``facts``, ``trace``, ``state``, ``names`` and ``objects`` as they change.

    Attributes
    ----------
    session : Session or None
    facts : SourceFacts or None
        Of the source.
    trace : Trace
        Numbers and events of every frame so far.
    shown : Shown or None
        The frame on the screen.
    look : Look
        How frames are shown, without what follows from marks and selection.
    selection : frozenset of int
    isolated : frozenset of int
        If there are any, everything else is dimmed.
    follow_newest : bool
        Whether the newest frame is shown as it comes.
    """

    shown_changed = Signal()
    selection_changed = Signal()
    look_changed = Signal()

    worker: Worker
    renderer: Renderer
    _first_colour: str

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.look = Look()

    def _show_nothing(self) -> None:
        """Be as before anything was opened; the look stays."""
        self.session: Session | None = None
        self.facts: SourceFacts | None = None
        self.trace = RunSummary()
        self.state = State.EMPTY
        self.shown: Shown | None = None
        self.selection: frozenset[int] = frozenset()
        self.isolated: frozenset[int] = frozenset()
        self.follow_newest = True
        self.names = Names()
        self.objects: tuple[MarkedObject, ...] = ()
        self._coming: int | FrameResult | None = None

    @property
    def is_open(self) -> bool:
        """Whether there is something to be seen: a session, or a live source."""
        return self.facts is not None

    @property
    def live(self) -> bool:
        """Whether a live source is shown as it comes: only its last frames can be gone back to."""
        return self.facts is not None and self.session is None

    @property
    def index(self) -> int | None:
        """The frame on the screen."""
        return None if self.shown is None else self.shown.result.index

    @property
    def bookmark(self) -> Bookmark | None:
        """Where a person is: the frame that was asked for last, its view, the selection; None before there is any."""
        coming = self.index if self._coming is None else self._coming
        index = coming.index if isinstance(coming, FrameResult) else coming
        return None if index is None or not len(self.trace) else Bookmark(index, self.look.view, self.selection)

    def show(self, index: int) -> None:
        """Show a frame that has been segmented; newer ones no longer push it aside."""
        if self.live:
            self._show_recent(index)
        elif len(self.trace):
            frames = self.trace.frames
            index = min(max(index, frames[0]), frames[-1])
            self.follow_newest = index == frames[-1] and self.state in (State.SEGMENTING, State.SETTLING)
            self._coming = index
            self._wish(index)

    def _show_recent(self, index: int) -> None:
        """Of a live source that was paused, or has ended, the nearest frame that is still there."""
        result = self.worker.recent.at(index)
        if result is not None and self.state in (State.PAUSED, State.STOPPED):
            self.follow_newest = False
            self._coming = result
            self._wish(result)

    def _wish(self, frame: int | FrameResult) -> None:
        index, edits = (frame.index, frame.edits) if isinstance(frame, FrameResult) else (frame, ())
        # The newest frame of a live source is shown before it is noted.
        colour = colour_after(edits, self.colour_at(index))
        following = self.follow_newest and isinstance(frame, FrameResult)
        self.renderer.wish(DrawRequest(frame, self._full_look(index), colour, following))

    def colour_at(self, index: int) -> str:
        """The colour space that a frame was segmented in; a person may have changed it on the way."""
        return self.trace.colour(index, self._first_colour)

    def set_look(self, **changes: Any) -> None:
        """Change the view, its opacity, the palette, the divider."""
        self.look = replace(self.look, **changes)
        self.look_changed.emit()
        self._draw_again()

    def select(self, ids: Iterable[int]) -> None:
        """Select these segments and no others."""
        chosen = frozenset(ids)
        if chosen != self.selection:
            self.selection = chosen
            self.selection_changed.emit()
            self._draw_again()

    def isolate(self, ids: Iterable[int]) -> None:
        """Dim everything but these segments; none of them: nothing."""
        self.isolated = frozenset(ids)
        self.look_changed.emit()
        self._draw_again()

    def _full_look(self, index: int) -> Look:
        """How a frame is to look, with what objects consist of there."""
        members = frozenset[int]().union(*(self.members_of(thing, index) for thing in self.objects))
        return replace(
            self.look,
            colours=self.names.colours,
            hidden=self.names.hidden,
            members=members,
            selected=self.selection,
            isolated=self.isolated,
        )

    def _draw_again(self) -> None:
        # A frame that was asked for, or is the newest, and is not there yet must not be lost.
        if self._coming is not None:
            self._wish(self._coming)
        elif self.shown is not None:
            self._wish(self.shown.result)

    def members(self) -> dict[str, frozenset[int]]:
        """The ids of every object on the frame that is shown."""
        return {thing.name: self.members_of(thing) for thing in self.objects}

    def members_of(self, thing: MarkedObject, index: int | None = None) -> frozenset[int]:
        """The ids of an object on a frame, by default the one that is shown; none before it was marked."""
        index = self.index if index is None else index
        if index is None:
            return thing.ids
        return frozenset() if index < thing.frame else self.trace.followed(thing.ids, thing.frame, index)

    def _leave_empty_matte(self) -> None:
        """A clip without objects would be an empty matte, as if nothing were segmented."""
        if self.look.view == "matte" and not self.objects:
            self.set_look(view="overlay")

    @Slot()
    def _on_drawn(self) -> None:
        shown = self.renderer.ready.take()
        if shown is not None and self.is_open:
            self.shown = shown
            coming = self._coming
            if shown.result.index == (coming.index if isinstance(coming, FrameResult) else coming):
                self._coming = None
            self.shown_changed.emit()
