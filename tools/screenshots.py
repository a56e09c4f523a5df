"""Drive the real window through a tour and write the documentation's pictures: screenshots and a short GIF.

    python tools/screenshots.py [FOLDER]

Needs a display; without one, run it under Xvfb: `xvfb-run -s "-screen 0 1600x1000x24" python tools/screenshots.py`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import imageio.v3 as iio
import numpy as np
from PySide6.QtCore import QEventLoop, QSettings, QTimer
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from scstream_app.library import Library
from scstream_app.session import MarkedObject
from scstream_app.ui.app import application
from scstream_app.ui.document import State
from scstream_app.ui.main_window import MainWindow

ROOT = Path(__file__).parents[1]
VIEWS = ("original", "overlay", "mean_colour", "boundaries", "uncertainty", "matte", "side_by_side", "wipe")


def wait(until: Callable[[], bool], seconds: float = 120.0) -> None:
    """Let the window work until something is so."""
    loop, timer, limit = QEventLoop(), QTimer(), QTimer()
    timer.timeout.connect(lambda: loop.quit() if until() else None)
    limit.setSingleShot(True)
    limit.timeout.connect(loop.quit)
    timer.start(20)
    limit.start(int(1000 * seconds))
    loop.exec()
    if not until():
        sys.exit("The window did not get there in time.")


def picture(widget: QWidget) -> np.ndarray:
    """What a widget shows (H, W, 3)."""
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return pixels[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).copy()


def settle(window: MainWindow) -> None:
    """Let what was asked for be drawn."""
    shown: list[bool] = []
    QTimer.singleShot(700, lambda: shown.append(True))
    wait(lambda: bool(shown))


def tour(folder: Path, size: tuple[int, int]) -> None:
    """Open the sample, go through the views, mark an object, look at both themes."""
    application()
    with tempfile.TemporaryDirectory() as scratch:
        settings = QSettings(str(Path(scratch) / "settings.ini"), QSettings.Format.IniFormat)
        window = MainWindow(settings, Library(Path(scratch) / "sessions"))
        window.resize(*size)
        window.show()
        settle(window)
        iio.imwrite(folder / "welcome.png", picture(window))
        window.open_address(str(ROOT / "sample_videos" / "kite_surf.mp4"))
        wait(lambda: window.document.state is State.DONE)
        document = window.document
        document.show(40)
        settle(window)
        assert document.shown is not None
        rows = document.shown.result.statistics
        ids = frozenset(int(id) for id in rows["id"][2:4])
        document.set_objects([MarkedObject("object 1", (230, 160, 0), 40, ids)])
        for view in VIEWS:
            document.set_look(view=view)
            settle(window)
            iio.imwrite(folder / f"view_{view}.png", picture(window.viewer))
        document.set_look(view="overlay")
        document.select([])
        for name in ("light", "dark"):
            window.actions_[f"theme_{name}"].trigger()
            settle(window)
            iio.imwrite(folder / f"window_{name}.png", picture(window))
        frames = []
        for index in range(0, 80, 4):
            document.show(index)
            wait(lambda index=index: document.index == index)
            frames.append(picture(window.viewer)[::2, ::2])
        iio.imwrite(folder / "tour.gif", frames, duration=120, loop=0)
        window.close()


def main() -> None:
    """Parse the command line and go on the tour."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "docs" / "images")
    parser.add_argument("--size", default="1280x800", help="of the window")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    width, height = map(int, arguments.size.split("x"))
    tour(arguments.folder, (width, height))


if __name__ == "__main__":
    main()
