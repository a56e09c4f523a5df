"""Start of the application: process settings, QApplication and main window."""

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
from scstream_app.ui.window.main_window import MainWindow
from scstream_app.ui.window.startup.crash_dialog import reporting_crashes
from scstream_app.ui.window.startup.gc_timer import GcTimer, freeze_loaded_objects
from scstream_app.ui.window.startup.preloading import EnginePreloader

#: Interval at which Python handles Ctrl-C while Qt's event loop runs.
_SIGNAL_MILLISECONDS = 200
#: Limit of Qt's pixmap cache, which would keep every swatch ever drawn.
_PIXMAP_KILOBYTES = 2048
#: Parameters of glibc's malloc by their numbers in malloc.h. M_ARENA_MAX: threads share two arenas; otherwise every
#: opened clip costs some megabytes more. M_MMAP_THRESHOLD and M_TRIM_THRESHOLD, in bytes: keep the memory of pictures,
#: which are allocated with every frame; returning it to the system and faulting it in again took as long as drawing.
_MALLOC_OPTIONS = {-8: 2, -3: 4 << 20, -1: 32 << 20}


def run(address: str | None = None, arguments: Sequence[str] = ()) -> int:
    """Show the window, optionally with a source, and run until it is closed."""
    app = application(arguments)
    settings = QSettings()
    window = MainWindow(settings)
    freeze_loaded_objects(window.document)
    window.show()
    loading = EnginePreloader(window) if address is None else None
    if address is not None:
        window.open_address(address)
    signal.signal(signal.SIGINT, lambda *_: window.close())
    timer = QTimer()
    timer.timeout.connect(lambda: None)
    timer.start(_SIGNAL_MILLISECONDS)
    with reporting_crashes(window):
        code = app.exec()
    if not window.ended or (loading is not None and loading.busy):
        # A hanging thread can be neither ended nor waited for, and Qt aborts when it is destroyed around one. The
        # compiler cannot be interrupted either.
        settings.sync()
        sys.stdout.flush()
        os._exit(code)
    return code


def application(arguments: Sequence[str] = ()) -> QApplication:
    """Create or configure the QApplication of the process."""
    _tune_malloc()
    existing = QApplication.instance()
    app = existing if isinstance(existing, QApplication) else QApplication([sys.argv[0], *arguments])
    app.setApplicationName("ScStream Studio")
    app.setOrganizationName("ScStream Studio")
    app.setApplicationVersion(__version__)
    QGuiApplication.setDesktopFileName("scstream-studio")
    QPixmapCache.setCacheLimit(_PIXMAP_KILOBYTES)
    app.setWindowIcon(QIcon(str(asset("icon.svg"))))
    GcTimer.start(app)
    return app


def _tune_malloc() -> None:
    if sys.platform == "linux":
        # Other C libraries have no mallopt.
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            for parameter, value in _MALLOC_OPTIONS.items():
                mallopt(parameter, value)
