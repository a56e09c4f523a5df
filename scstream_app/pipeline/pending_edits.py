"""What a person asked of the model: what has been done, what still waits, and what the model will be then."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from scstream_app.pipeline.edits import Edit
from scstream_app.settings import Settings


@dataclass(frozen=True, slots=True)
class ModelState:
    """What a model is set to, which segments it leaves alone, and whether any were merged or split by hand."""

    settings: Settings
    locked: frozenset[int] = frozenset()
    shaped: frozenset[str] = frozenset()

    def after(self, edits: Iterable[Edit]) -> ModelState:
        """The same when some edits have been made.

        >>> ModelState(Settings()).after([Edit("lock", (1, 2)), Edit("unlock", (2,))]).locked
        frozenset({1})
        >>> ModelState(Settings()).after([Edit("lock", (1, 2)), Edit("merge", (1, 2))]).shaped
        frozenset({'merge'})
        """
        settings, locked, shaped = self.settings, self.locked, self.shaped
        for edit in edits:
            settings = replace(settings, **edit.values)
            if edit.kind == "lock":
                locked |= set(edit.ids)
            elif edit.kind == "unlock":
                locked -= set(edit.ids)
            elif edit.kind in ("merge", "split"):
                shaped |= {edit.kind}
        return ModelState(settings, locked, shaped)


class PendingEdits:
    """Edits that a person asked for, until it is known what became of them.

    Attributes
    ----------
    made : Made
        What the model is.
    waiting : list of Edit
        What has not been done yet, the earliest first.

    Examples
    --------
    >>> asked = PendingEdits(ModelState(Settings()))
    >>> asked.waiting += [Edit("lock", (1,)), Edit("lock", (2,))]
    >>> asked.then.locked
    frozenset({1, 2})
    >>> asked.drop(Edit("lock", (2,))), asked.drop(Edit("lock", (3,)))
    (True, False)
    >>> asked.then.locked, asked.made.locked
    (frozenset({1}), frozenset())
    >>> asked.waiting += [Edit("unlock", (1,)), Edit("lock", (1,))]
    >>> asked.withdraw(Edit("lock", (1,)))
    >>> asked.then.locked
    frozenset()
    """

    def __init__(self, made: ModelState) -> None:
        self.made = made
        self.waiting: list[Edit] = []

    @property
    def then(self) -> ModelState:
        """What the model will be when all is done."""
        return self.made.after(self.waiting)

    @property
    def locked(self) -> frozenset[int]:
        """Ids of the segments that will be locked when all edits are made."""
        return self.then.locked

    @property
    def shaped(self) -> frozenset[str]:
        """Which of "merge" and "split" were made by hand, or wait to be."""
        return self.then.shaped

    def withdraw(self, edit: Edit) -> None:
        """It was taken back: the one that was asked for last, if there are several alike."""
        places = [place for place, other in enumerate(self.waiting) if other == edit]
        if places:
            del self.waiting[places[-1]]

    def drop(self, edit: Edit) -> bool:
        """It was done, or cannot be: the first, if there are several alike; False if it never waited."""
        waited = edit in self.waiting
        if waited:
            self.waiting.remove(edit)
        return waited


@dataclass(frozen=True, slots=True)
class AbandonedEdits:
    """A session that was closed while edits of it waited for the next frame."""

    path: Path
    address: str
    name: str
    edits: tuple[Edit, ...]


def kinds(edits: Iterable[Edit]) -> str:
    """What edits do, in words.

    >>> kinds([Edit("lock", (1,)), Edit("merge", (2, 3)), Edit("lock", (4,))])
    'lock, merge'
    """
    return ", ".join(dict.fromkeys(edit.kind for edit in edits))
