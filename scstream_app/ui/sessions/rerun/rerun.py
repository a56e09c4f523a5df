"""Segment the open clip again: from its start, or from the frame shown on in a session that continues the open one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from scstream.sampler.genealogy import Kind
from scstream_app.errors import StudioError
from scstream_app.pipeline.edits import Edit
from scstream_app.pipeline.pending_edits import kinds_text
from scstream_app.plural import listed
from scstream_app.session import Bookmark, Names, Session, check_source
from scstream_app.session.branch import create_branch
from scstream_app.session.carried_marks import divided_marks
from scstream_app.session.library import discard, is_unsaved
from scstream_app.session.storage.branch_point import BranchPoint
from scstream_app.settings import Settings
from scstream_app.sources import open_source
from scstream_app.ui.document.action_availability import why_no_rerun
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.undo_commands.model_edits import near_end
from scstream_app.ui.document.undo_commands.rerun import RerunCommand
from scstream_app.ui.qt.dialogs.confirm import confirm
from scstream_app.ui.qt.free_moment import FreeMoment
from scstream_app.ui.qt.message_bar import MessageBar
from scstream_app.ui.qt.threads.job_queue import JobQueue
from scstream_app.ui.sessions.opening.document_opener import DocumentOpener
from scstream_app.ui.sessions.rerun.rerun_plan import RerunPlan, plan_again, plan_edit, plan_settings

#: Texts of the buttons that open the run before, and compare it with the new one.
BACK, COMPARE = "Back to the Run Before", "Compare with the Run Before"
#: Objects listed by name; of more objects only their number is shown.
_MOST_NAMED = 3
_ALL = 1 << 62


@dataclass(frozen=True, slots=True)
class _Begun:
    """A new run: its plan, the session of the run before, the new session, and edits that are not repeated."""

    plan: RerunPlan
    old: Path
    new: Path
    dropped: Sequence[Edit]


class Rerun(QObject):
    """Segments the open source again.

    From the start, names, colours, objects and locks stay with the old session, because they refer to segment ids, and
    another run gives other ids; the user is asked first. From a frame on, earlier ids stay the same, and `MarkTransfer`
    carries later marks over. In both cases the old session stays as it is.

    ``began`` is emitted before the open session is left or asked about.

    Parameters
    ----------
    document : Document
    opening : DocumentOpener
    compare : callable
        Compares the open session with the one at a path.
    files : JobQueue
        Creates and deletes sessions.
    lists : JobQueue
        Looks at the source, which may not respond.
    messages : MessageBar
    window : QWidget
    """

    began = Signal()

    def __init__(
        self,
        document: Document,
        opening: DocumentOpener,
        compare: Callable[[Path], object],
        files: JobQueue,
        lists: JobQueue,
        messages: MessageBar,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._document, self._opening, self._window = document, opening, window
        self._compare, self._files, self._lists, self._messages = compare, files, lists, messages
        self._free = FreeMoment(self)
        self._preparing = False
        self._begun: _Begun | None = None
        self._unlocked_split: RerunPlan | None = None
        document.opened.connect(self._on_opened)
        document.progressed.connect(self._lock_parts)
        opening.leaving.connect(lambda: messages.withdraw(BACK))

    # --- from a frame on

    @Slot()
    def again_from_here(self) -> None:
        """Segment the frame shown and all later ones again."""
        index = self._segmented(self._document.display.index)
        if index is not None:
            self.from_frame(plan_again(index))

    @Slot(object)
    def change_settings(self, edit: Edit) -> None:
        """Change settings before the frame shown, and segment it and all later ones again."""
        index = self._segmented(self._document.display.index)
        if index is not None:
            self.from_frame(plan_settings(self._document, index, edit))

    def edit_segments(self, kind: str, ids: Iterable[int], frame: int | None) -> None:
        """Merge, split, lock or unlock segments before a frame, and segment it and all later ones again."""
        index = self._segmented(frame)
        if index is None:
            return
        try:
            plan = plan_edit(self._document, index, kind, ids)
        except StudioError as error:
            self._messages.show_message(f"{error}.", "notice")
        else:
            self.from_frame(plan)

    def _segmented(self, index: int | None) -> int | None:
        """Return the index of a frame; if it is not segmented, report that and return None."""
        if index is None or self._document.summary.place(index) is None:
            self._messages.show_message("Go to a segmented frame first.", "notice")
            return None
        return index

    def from_frame(self, plan: RerunPlan) -> None:
        """Segment frames again in a new session, which has the same earlier frames; the open one is kept."""
        document, session = self._document, self._document.session
        reason = why_no_rerun(document)
        if reason:
            self._messages.show_message(f"{reason}.", "notice")
        if reason or session is None or self._preparing:
            return
        path = self._opening.new_branch_path()
        if path is None:
            return
        self.began.emit()
        self._preparing = True
        last = document.summary.frames[-1]
        names, objects, waiting = divided_marks(
            document.names, document.objects, document.summary.lives, plan.frame, last
        )
        point = BranchPoint(str(session.path.absolute()), plan.frame, plan.edits, waiting)
        place = Bookmark(plan.frame, document.display.look.view, document.display.selection)
        create = partial(_create, session, partial(create_branch, session, path, point, names, objects, place))
        replace = partial(self._open, plan, session.path, path, self._opening.turn)

        def opened(dropped: Sequence[Edit]) -> None:
            # A dialog or menu may be about the present run.
            self._free.wait(partial(replace, dropped))

        def begin(_nothing: None) -> None:
            self._files.do(partial(create, plan.frame), opened, self._on_refused, what="Preparing to segment again")

        self._lists.do(partial(_check, session), begin, self._on_refused, what="Looking at the source")

    def _open(self, plan: RerunPlan, old: Path, new: Path, turn: int, dropped: Sequence[Edit]) -> None:
        self._preparing = False
        session = self._document.session
        if turn != self._opening.turn or session is None or session.path != old or self._document.saving:
            # The user has opened something else, or is moving the session.
            self._files.do(partial(discard, new), what="Deleting an unsaved session")
            return
        if self._document.exporting:
            # Leaving the session would break the export off.
            self._messages.show_message("Not segmented again: an export has begun. Try again after it.", "notice")
            self._files.do(partial(discard, new), what="Deleting an unsaved session")
            return
        self._begun = _Begun(plan, old, new, dropped)
        self._opening.open_branch(new)

    def _on_refused(self, text: str) -> None:
        self._preparing = False
        self._messages.show_message(text, "error")

    @Slot()
    def _on_opened(self) -> None:
        begun, self._begun = self._begun, None
        session = self._document.session
        self._unlocked_split = None
        if begun is None or session is None or session.path != begun.new:
            return
        self._unlocked_split = begun.plan if begun.plan.split else None
        back = partial(self._opening.open_session, begun.old)
        self._document.undo.push(RerunCommand(begun.plan.title, back))
        text = f"{begun.plan.title}: these frames are segmented again."
        if begun.dropped:
            text += f" Later changes of the run before ({kinds_text(begun.dropped)}) are not repeated."
        self._messages.show_message(text, "notice", (BACK, back), (COMPARE, partial(self._compare, begun.old)))

    @Slot()
    def _lock_parts(self) -> None:
        """Lock the new parts of a split, whose ids are known only after its frame."""
        plan, summary = self._unlocked_split, self._document.summary
        if plan is None or not len(summary) or summary.frames[-1] < plan.frame:
            return
        self._unlocked_split = None
        events = summary.events_between(plan.frame - 1, summary.frames[-1])
        parts = [event.ids[1] for event in events if event.kind is Kind.SPLIT and event.ids[0] in plan.split]
        if parts and not near_end(self._document):
            self._document.edit(Edit("lock", tuple(parts)))

    # --- from the start

    @Slot(object)
    def again(self, settings: Settings) -> None:
        """Segment from the start, with these settings."""
        if self._document.facts is None:
            return
        self.began.emit()
        if self._may_restart():
            self._opening.segment_again(settings)

    def _may_restart(self) -> bool:
        document = self._document
        objects = [marked.name for marked in document.objects]
        marks = marks_text(objects, document.names, document.pending.locked, document.pending.shaped)
        if not marks:
            return True
        question = f"Segments may get other ids in the new run. {marks} cannot be transferred."
        return confirm(self._window, f"{question} {self._where()}", "Segment Again")

    def _where(self) -> str:
        """Text about where the marks are kept."""
        session = self._document.session
        if session is None:
            return "Marks are kept only if you record the source."
        if is_unsaved(session.path):
            listed = "It is listed under 'Unsaved sessions' on the welcome page."
            return f"They stay with the session that is open now. {listed}"
        return f"They stay with the session that is open now, '{session.path}'."


def _check(session: Session) -> None:
    """Raise an error if the source is gone or another one."""
    with open_source(session.source_address) as source:
        check_source(session, source)


def _create(session: Session, create: partial[None], frame: int) -> list[Edit]:
    """Create the branch; return the edits of the old run from ``frame`` on."""
    create()
    return [edit for record in session.edited_records(_ALL) if record.index >= frame for edit in record.edits]


def marks_text(objects: Sequence[str], names: Names, locked: Collection[int] = (), shaped: Collection[str] = ()) -> str:
    """Describe the user's marks and edits as the subject of a sentence; empty if there are none.

    >>> marks_text(["kite", "sea"], Names({0: "sky"}))
    "Your objects 'kite' and 'sea' and the names, colours and visibility of segments"
    >>> marks_text(["kite"], Names(), locked={1, 2}, shaped={"split", "merge"})
    "Your object 'kite', 2 locks and merges and splits made manually"
    >>> marks_text([], Names(), locked={1})
    'One lock'
    >>> marks_text([], Names())
    ''
    """
    parts = [_objects_text(objects)] if objects else []
    if names != Names():
        parts.append("the names, colours and visibility of segments")
    if locked:
        parts.append("one lock" if len(locked) == 1 else f"{len(locked)} locks")
    if shaped:
        parts.append(f"{' and '.join(f'{kind}s' for kind in sorted(shaped))} made manually")
    text = listed(parts)
    return text[:1].upper() + text[1:]


def _objects_text(objects: Sequence[str]) -> str:
    quoted = [f"'{name}'" for name in objects]
    if len(quoted) > _MOST_NAMED:
        return f"your {len(quoted)} objects"
    if len(quoted) > 1:
        return f"your objects {', '.join(quoted[:-1])} and {quoted[-1]}"
    return f"your object {quoted[0]}"
