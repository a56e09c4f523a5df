"""Answers of dialogs and of threads, which may come after another clip was opened."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from scstream_app.ui.document.document import Document

T = TypeVar("T")


def if_still_open(document: Document, act: Callable[[T], None]) -> Callable[[T], None]:
    """Return a function that calls ``act`` with an answer, unless another document is open by then."""
    summary = document.summary

    def done(answer: T) -> None:
        if document.is_open and document.summary is summary:
            act(answer)

    return done
