"""Mnemonics of menus: the underlined letters that choose an entry with the keyboard."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtWidgets import QMenu


def with_mnemonics(titles: Sequence[str]) -> list[str]:
    """Mark a letter in each title, a different one in each as long as there are any.

    Initial letters of words come first. Text behind a tab is a shortcut and stays as it is.

    >>> with_mnemonics(["Save Session", "Save Model…", "Close"])
    ['&Save Session', 'Save &Model…', '&Close']
    >>> with_mnemonics(["Undo Rename to 'cat && dog'"])
    ["&Undo Rename to 'cat && dog'"]
    """
    plain = [without_mnemonic(title) for title in titles]
    owners = dict[str, int]()
    for index in range(len(plain)):
        _give_letter(index, plain, owners, set())
    letters = {index: letter for letter, index in owners.items()}
    return [_marked(title, letters.get(index, "")) for index, title in enumerate(plain)]


def _give_letter(index: int, titles: Sequence[str], owners: dict[str, int], tried: set[str]) -> bool:
    """Give a title a free letter; if there is none, take one from a title that can have another."""
    letters = [titles[index][place].lower() for place in _letters(titles[index])]
    for letter in letters:
        if letter not in owners:
            owners[letter] = index
            return True
    for letter in letters:
        if letter not in tried:
            tried.add(letter)
            if _give_letter(owners[letter], titles, owners, tried):
                owners[letter] = index
                return True
    return False


def _marked(title: str, letter: str) -> str:
    place = next((place for place in _letters(title) if title[place].lower() == letter), None)
    return escaped(title) if place is None else f"{escaped(title[:place])}&{escaped(title[place:])}"


def escaped(text: str) -> str:
    """Text of a menu entry that shows a text as it is, with its ampersands.

    >>> escaped("Rename to 'cat & dog'")
    "Rename to 'cat && dog'"
    """
    return text.replace("&", "&&")


def without_mnemonic(title: str) -> str:
    """The text that an entry shows: without the mark of its mnemonic, and with single ampersands.

    >>> without_mnemonic("Save &Model…"), without_mnemonic("Rename to 'cat && dog'")
    ('Save Model…', "Rename to 'cat & dog'")
    """
    return re.sub("&(.)", r"\1", title)


def _letters(title: str) -> list[int]:
    """Places of the letters in the order in which they are tried: initials, then all others."""
    letters = [n for n, letter in enumerate(title.partition("\t")[0]) if letter.isalnum()]
    return sorted(letters, key=lambda n: n > 0 and title[n - 1] != " ")


def mark_while_open(menu: QMenu) -> None:
    """Give the entries of a menu mnemonics while it is open.

    The texts of actions have none otherwise: tooltips, buttons and later changes of the text use them.
    """

    def mark() -> None:
        entries = [entry for entry in menu.actions() if entry.text() and entry.isVisible()]
        for entry, text in zip(entries, with_mnemonics([entry.text() for entry in entries]), strict=True):
            entry.setText(text)

    def clear() -> None:
        for entry in menu.actions():
            entry.setText(escaped(without_mnemonic(entry.text())))

    menu.aboutToShow.connect(mark)
    menu.aboutToHide.connect(clear)
