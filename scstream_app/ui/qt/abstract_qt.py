"""Metaclass that allows abstract methods on Qt classes."""

from __future__ import annotations

from abc import ABCMeta
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    _QtMeta = type
else:
    _QtMeta = type(QObject)


class AbstractQtMeta(ABCMeta, _QtMeta):
    """Metaclass for abstract Qt classes.

    `ABC` clashes with Qt's metaclass, and Qt's constructor skips the check for abstract methods.
    """

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls.__abstractmethods__:
            missing = ", ".join(sorted(cls.__abstractmethods__))
            raise TypeError(f"Cannot instantiate {cls.__name__}: abstract methods {missing}")
        return super().__call__(*args, **kwargs)
