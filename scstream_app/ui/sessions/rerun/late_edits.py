"""Merge, split and lock segments of a clip whose frames are all segmented."""

from __future__ import annotations

from PySide6.QtCore import QObject, QSettings, Slot
from PySide6.QtWidgets import QWidget

from scstream_app.ui.document.action_availability import why_no_rerun
from scstream_app.ui.document.answers import if_still_open
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.undo_commands.text import segments_text
from scstream_app.ui.qt.dialogs.confirm import confirm
from scstream_app.ui.sessions.rerun.merge_dialog import MergeDialog, MergeWay
from scstream_app.ui.sessions.rerun.rerun import Rerun
from scstream_app.ui.sessions.rerun.result_merging import ResultMerging

#: Where the way to merge is remembered.
_WAY = "merge/way"


class LateEdits(QObject):
    """Asks how to make an edit although no frame follows before which the model can change.

    Parameters
    ----------
    document : Document
    rerun : Rerun
        Segments again from a frame on.
    merging : ResultMerging
        Merges in the result.
    settings : QSettings
        Remembers how the user merges.
    window : QWidget
    """

    def __init__(
        self, document: Document, rerun: Rerun, merging: ResultMerging, settings: QSettings, window: QWidget
    ) -> None:
        super().__init__(window)
        self._document, self._rerun, self._merging = document, rerun, merging
        self._settings, self._window = settings, window

    @Slot(str)
    def edit(self, kind: str) -> None:
        """Edit the selected segments; ``kind`` is "merge", "split", "lock" or "unlock"."""
        if kind == "merge":
            self._ask_how_to_merge()
            return
        ids, index = self._document.display.selection, self._document.display.index
        question = (
            f"The segmentation has ended. {kind.capitalize()} {segments_text(ids)} and segment frame {index} and all "
            "later ones again? The present result stays in its own session."
        )
        if confirm(self._window, question, "From This Frame On"):
            self._rerun.edit_segments(kind, ids, index)

    def _ask_how_to_merge(self) -> None:
        # Playback may go on while the dialog is open.
        ids, index = self._document.display.selection, self._document.display.index

        def merge(way: MergeWay) -> None:
            self._settings.setValue(_WAY, str(way))
            if way is MergeWay.RERUN:
                self._rerun.edit_segments("merge", ids, index)
            else:
                self._merging.merge(ids, index, everywhere=way is MergeWay.RESULT_EVERYWHERE)

        reason = why_no_rerun(self._document)
        MergeDialog(self._window, segments_text(ids), self._way(), reason, if_still_open(self._document, merge)).open()

    def _way(self) -> MergeWay:
        kept = str(self._settings.value(_WAY, MergeWay.RESULT))
        return MergeWay(kept) if kept in set(MergeWay) else MergeWay.RESULT
