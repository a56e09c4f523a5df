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
from scstream_app.ui.window.gc_timer import GcTimer, spare_searches
from scstream_app.ui.window.main_window import MainWindow

#: How often Python gets a chance to notice Ctrl-C while Qt's loop runs.
_GLANCE_MILLISECONDS = 200
#: Room for pictures that Qt keeps to draw them again, such as every swatch of every colour that was ever in a table.
_PIXMAP_KILOBYTES = 2048
#: How memory is kept for later, by glibc's numbers from malloc.h. Left alone, each thread gets a heap of its own, and
#: every clip that is opened costs some more megabytes: M_ARENA_MAX has them share two. Pictures come and go with every
#: frame: what M_MMAP_THRESHOLD and M_TRIM_THRESHOLD, in bytes, give back to the system has to be fetched page by page
#: again, which took as long as drawing them.
_KEPT = {-8: 2, -3: 4 << 20, -1: 32 << 20}


def run(address: str | None = None, arguments: Sequence[str] = ()) -> int:
    """Open the window, on a source if one is given, and stay until it is closed."""
    app = application(arguments)
    settings = QSettings()
    window = MainWindow(settings)
    spare_searches(window.document)
    window.show()
    if address is not None:
        window.open_address(address)
    signal.signal(signal.SIGINT, lambda *_: window.close())
    timer = QTimer()
    timer.timeout.connect(lambda: None)
    timer.start(_GLANCE_MILLISECONDS)
    code = app.exec()
    if not window.ended:
        # A thread that hangs can be neither ended nor waited for, and Qt aborts when it is taken apart around one.
        settings.sync()
        sys.stdout.flush()
        os._exit(code)
    return code


def application(arguments: Sequence[str] = ()) -> QApplication:
    """The process's QApplication, with the names under which settings are kept."""
    _keep_memory()
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


def _keep_memory() -> None:
    if sys.platform == "linux":
        # Other C libraries do without it.
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            for parameter, value in _KEPT.items():
                mallopt(parameter, value)


def has_display() -> bool:
    """Whether a window can be shown here."""
    if sys.platform in ("win32", "darwin") or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
