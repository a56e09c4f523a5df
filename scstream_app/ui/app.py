"""The application: one process, one window, the system's light or dark."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Sequence

from PySide6.QtCore import QSettings, QTimer
from PySide6.QtGui import QGuiApplication, QIcon, QPixmapCache
from PySide6.QtWidgets import QApplication

from scstream_app import __version__
from scstream_app.assets import asset
from scstream_app.ui.main_window import MainWindow

#: How often Python gets a chance to notice Ctrl-C while Qt's loop runs.
_GLANCE_MILLISECONDS = 200
#: Room for pictures that Qt keeps to draw them again, such as every swatch of every colour that was ever in a table.
_PIXMAP_KILOBYTES = 2048
#: Heaps that all threads share. By default glibc gives each thread one of its own, and what frames leave free in one
#: heap is of no use to other threads: every clip that is opened would cost some more megabytes.
_HEAPS = 2
#: glibc's number for it, from malloc.h.
_M_ARENA_MAX = -8


def run(address: str | None = None, arguments: Sequence[str] = ()) -> int:
    """Open the window, on a source if one is given, and stay until it is closed."""
    app = application(arguments)
    window = MainWindow(QSettings())
    window.show()
    if address is not None:
        window.open_address(address)
    signal.signal(signal.SIGINT, lambda *_: window.close())
    timer = QTimer()
    timer.timeout.connect(lambda: None)
    timer.start(_GLANCE_MILLISECONDS)
    return app.exec()


def application(arguments: Sequence[str] = ()) -> QApplication:
    """The process's QApplication, with the names under which settings are kept."""
    _share_heaps()
    existing = QApplication.instance()
    app = existing if isinstance(existing, QApplication) else QApplication([sys.argv[0], *arguments])
    app.setApplicationName("ScStream Studio")
    app.setOrganizationName("ScStream Studio")
    app.setApplicationVersion(__version__)
    QGuiApplication.setDesktopFileName("scstream-studio")
    QPixmapCache.setCacheLimit(_PIXMAP_KILOBYTES)
    app.setWindowIcon(QIcon(str(asset("icon.svg"))))
    return app


def _share_heaps() -> None:
    if sys.platform == "linux":
        # Other C libraries do without it.
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(_M_ARENA_MAX, _HEAPS)


def has_display() -> bool:
    """Whether a window can be shown here."""
    if sys.platform in ("win32", "darwin") or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
