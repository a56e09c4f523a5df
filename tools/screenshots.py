"""Drive the real window and write the images of the documentation: screenshots, all views and a short GIF.

    python tools/screenshots.py [FOLDER]
    python tools/screenshots.py --all FOLDER

``--all`` writes images for a visual check: every view in both themes at four sizes and densities, the welcome page,
every dialog and a message. Needs a display; without one, run it under Xvfb:
`xvfb-run -s "-screen 0 1600x1000x24" python tools/screenshots.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import cv2
import imageio.v3 as iio
import numpy as np
import numpy.typing as npt
from PIL import Image
from PySide6.QtCore import QEvent, QEventLoop, QPoint, QPointF, QSettings, Qt, QTimer
from PySide6.QtGui import QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit, QWidget

from scstream_app.session import MarkedObject
from scstream_app.session.library import Library
from scstream_app.ui.actions.actions import BY_ID
from scstream_app.ui.document.state import State
from scstream_app.ui.window.main_window import MainWindow
from scstream_app.ui.window.startup.app import application

Picture = npt.NDArray[np.uint8]

ROOT = Path(__file__).parents[1]
CLIP = ROOT / "sample_videos" / "kite_surf.mp4"
VIEWS = ("original", "overlay", "mean_colour", "boundaries", "uncertainty", "matte", "side_by_side", "wipe")
THEMES = ("light", "dark")
DIALOGS = ("export", "shortcuts", "about", "preferences", "open_camera", "open_url")
#: Width and height of the window in logical pixels, and the scale factor of the screen: small laptops, 1440 by 900 at
#: 150 %, 3840 by 2160 at 200 %.
SIZES = ((1024, 700, 1.0), (1366, 768, 1.0), (960, 600, 1.5), (1920, 1080, 2.0))
#: The frame shown in the screenshots.
FRAME = 40
_GIF_WIDTH = 800
_GIF_COLOURS = 144


# --- driving the window


@contextmanager
def opened(size: tuple[int, int]) -> Iterator[MainWindow]:
    """Open the real window with temporary settings and sessions."""
    application()
    with tempfile.TemporaryDirectory() as scratch:
        settings = QSettings(str(Path(scratch) / "settings.ini"), QSettings.Format.IniFormat)
        # The hint for the first clip is not part of the images.
        settings.setValue("hints/next_step", "done")
        settings.setValue("hints/kept", "shown")
        window = MainWindow(settings, Library(Path(scratch) / "sessions"))
        window.resize(*size)
        window.show()
        settle()
        yield window
        window.close()


def wait(until: Callable[[], bool], seconds: float = 300.0) -> None:
    """Run the event loop until a condition holds."""
    loop, timer, limit = QEventLoop(), QTimer(), QTimer()
    timer.timeout.connect(lambda: loop.quit() if until() else None)
    limit.setSingleShot(True)
    limit.timeout.connect(loop.quit)
    timer.start(20)
    limit.start(int(1000 * seconds))
    loop.exec()
    if not until():
        sys.exit("Timeout while waiting for the window.")


def settle(milliseconds: int = 600) -> None:
    """Run the event loop for some time, so that the window is painted."""
    over: list[bool] = []
    QTimer.singleShot(milliseconds, lambda: over.append(True))
    wait(lambda: bool(over))


def screenshot(widget: QWidget) -> Picture:
    """A screenshot (H, W, 3) of a widget."""
    return pixels_of(widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB888))


def pixels_of(image: QImage) -> Picture:
    """The pixels (H, W, 3) of an RGB888 image."""
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return pixels[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).copy()


def wait_until_segmented(window: MainWindow) -> None:
    """Wait until the clip is segmented."""
    wait(lambda: window.document.state in (State.DONE, State.STOPPED))
    if window.document.state is State.STOPPED:
        sys.exit(window.message.text)


def go_to(window: MainWindow, index: int) -> None:
    """Show a frame."""
    window.document.display.show(index)
    wait(lambda: window.document.display.index == index)


def surfer(window: MainWindow) -> frozenset[int]:
    """Segments of the current frame that lie mostly on the surfer, according to the ground truth."""
    with np.load(CLIP.with_name(f"{CLIP.stem}_ids.npz")) as truth:
        about = json.loads(str(truth["about"]))
        inside = np.isin(truth["ids"][window.document.display.index], about["objects"]["surfer"])
    assert window.document.display.shown is not None
    ids = window.document.display.shown.result.ids
    return frozenset(int(id) for id in np.unique(ids[inside]) if inside[ids == id].mean() > 0.5)


def open_segmented(window: MainWindow) -> None:
    """Open the sample clip, wait until it is segmented, and make the surfer an object."""
    window.open_address(str(CLIP))
    wait_until_segmented(window)
    go_to(window, FRAME)
    window.document.set_objects([MarkedObject.made("surfer", (230, 160, 0), FRAME, surfer(window))])
    settle()


def set_view(window: MainWindow, view: str) -> None:
    """Choose a view with the action of the menu."""
    window.actions_[f"view_{view}"].trigger()
    wait(lambda: window.document.display.shown is not None and window.document.display.shown.look.view == view)
    settle()


def set_theme(window: MainWindow, theme: str) -> None:
    """Choose a theme with the action of the menu."""
    window.actions_[f"theme_{theme}"].trigger()
    settle()


# --- images of the documentation


def write_documentation(folder: Path, size: tuple[int, int]) -> None:
    """Write two screenshots, all views on one sheet, and the tour as a GIF."""
    with opened(size) as window:
        set_theme(window, "light")
        tour(window, folder / "tour.gif")
    with opened(size) as window:
        open_segmented(window)
        for theme in THEMES:
            set_theme(window, theme)
            iio.imwrite(folder / f"window_{theme}.png", screenshot(window))
        tiles = []
        for view in VIEWS:
            set_view(window, view)
            tiles.append(_captioned(_only_picture(window), BY_ID[f"view_{view}"].title))
        iio.imwrite(folder / "modes.png", sheet(tiles, 4))


def _only_picture(window: MainWindow, width: int = 384) -> Picture:
    """The picture as the window shows it, without the viewer's margins."""
    viewer = window.viewer
    place = viewer.image_rect()
    edges = [round(edge) for edge in (place.left(), place.top(), place.right(), place.bottom())]
    image = viewer.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    image.setDevicePixelRatio(1.0)
    left, top, right, bottom = np.clip(edges, 0, [image.width(), image.height()] * 2)
    found = pixels_of(image)[top:bottom, left:right]
    height = round(width * found.shape[0] / found.shape[1])
    small = np.asarray(cv2.resize(found, (width, height), interpolation=cv2.INTER_AREA), np.uint8)
    # The side-by-side view is not as high as the others.
    assert window.document.display.shown is not None
    rows, columns = window.document.display.shown.result.ids.shape
    spare = round(width * rows / columns) - height
    return np.pad(small, ((max(spare, 0) // 2, (max(spare, 0) + 1) // 2), (0, 0), (0, 0)), constant_values=255)


def _captioned(tile: Picture, text: str) -> Picture:
    caption = QImage(tile.shape[1], 24, QImage.Format.Format_RGB888)
    caption.fill(Qt.GlobalColor.white)
    painter = QPainter(caption)
    painter.drawText(caption.rect(), Qt.AlignmentFlag.AlignCenter, text)
    painter.end()
    return np.concatenate([pixels_of(caption), tile])


def sheet(tiles: Iterable[Picture], columns: int) -> Picture:
    """Arrange pictures of different sizes in a grid with a white background."""
    tiles = list(tiles)
    height, width = (max(tile.shape[axis] for tile in tiles) + 8 for axis in (0, 1))
    rows = -(-len(tiles) // columns)
    whole = np.full((rows * height, columns * width, 3), 255, np.uint8)
    for n, tile in enumerate(tiles):
        top, left = n // columns * height + 4, n % columns * width + (width - tile.shape[1]) // 2
        whole[top : top + tile.shape[0], left : left + tile.shape[1]] = tile
    return whole


# --- the tour


class Film:
    """Screenshots of the window with their durations in milliseconds."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._pictures: list[Image.Image] = []
        self._durations: list[int] = []

    def take(self, milliseconds: int, over: QWidget | None = None) -> None:
        """Append a screenshot of the window, with a dialog on top if given."""
        whole = screenshot(self._window)
        if over is not None:
            corner = over.mapToGlobal(QPoint()) - self._window.mapToGlobal(QPoint())
            part = screenshot(over)
            top, left = max(corner.y(), 0), max(corner.x(), 0)
            room = whole[top : top + part.shape[0], left : left + part.shape[1]]
            room[:] = part[: room.shape[0], : room.shape[1]]
        height = round(_GIF_WIDTH * whole.shape[0] / whole.shape[1])
        small = cv2.resize(whole, (_GIF_WIDTH, height), interpolation=cv2.INTER_AREA)
        self._pictures.append(Image.fromarray(small))
        self._durations.append(milliseconds)

    def write(self, path: Path) -> None:
        """Write a GIF with one palette for all pictures, so that only changes are stored."""
        few = [np.asarray(picture) for picture in self._pictures[:: max(1, len(self._pictures) // 5)]]
        colours = Image.fromarray(np.concatenate(few)).quantize(_GIF_COLOURS)
        flat = [picture.quantize(palette=colours, dither=Image.Dither.NONE) for picture in self._pictures]
        flat[0].save(path, save_all=True, append_images=flat[1:], duration=self._durations, loop=0, optimize=False)


def tour(window: MainWindow, path: Path) -> None:
    """Open the sample clip, show the segmentation, select the surfer, make it an object and cut it out."""
    film, document = Film(window), window.document
    film.take(900)
    samples = window.welcome.samples
    (item,) = [samples.item(row) for row in range(samples.count()) if "Kite" in samples.item(row).text()]
    QTest.mouseClick(samples.viewport(), Qt.MouseButton.LeftButton, pos=samples.visualItemRect(item).center(), delay=10)
    wait(lambda: document.preview is not None or len(document.summary) > 0)
    settle(60)
    film.take(300)
    for index in (0, 6, 12, 18, 24, 30, 36):
        wait(lambda index=index: (document.display.index or 0) >= index and document.display.shown is not None)
        film.take(160)
    wait_until_segmented(window)
    go_to(window, FRAME)
    settle()
    film.take(500)
    _click_surfer(window)
    settle()
    film.take(900)
    _name_object(window, film)
    set_view(window, "matte")
    film.take(700)
    for index in range(FRAME + 4, 80, 4):
        go_to(window, index)
        settle(120)
        film.take(140)
    film.take(900)
    film.write(path)


def _click_surfer(window: MainWindow) -> None:
    """Click the first segment of the surfer, and the others with Ctrl."""
    document = window.document
    assert document.display.shown is not None
    modifier = Qt.KeyboardModifier.NoModifier
    for id in sorted(surfer(window)):
        rows, columns = np.nonzero(document.display.shown.result.ids == id)
        middle = np.argmin((rows - rows.mean()) ** 2 + (columns - columns.mean()) ** 2)
        QTest.mouseClick(
            window.viewer, Qt.MouseButton.LeftButton, modifier, _place(window, columns[middle], rows[middle])
        )
        modifier = Qt.KeyboardModifier.ControlModifier


def _place(window: MainWindow, column: float, row: float) -> QPoint:
    """The position in the viewer of a pixel of the frame, when the frame fits the viewer."""
    viewer = window.viewer
    assert window.document.display.shown is not None
    height, width = window.document.display.shown.picture.shape[:2]
    scale = viewer.scale / viewer.devicePixelRatioF()
    left, top = (viewer.width() - scale * width) / 2, (viewer.height() - scale * height) / 2
    return QPointF(left + scale * (column + 0.5), top + scale * (row + 0.5)).toPoint()


def _name_object(window: MainWindow, film: Film) -> None:
    window.actions_["group"].trigger()
    wait(lambda: QApplication.activeModalWidget() is not None)
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, QDialog)
    field = dialog.findChild(QLineEdit)
    assert field is not None
    field.selectAll()
    QTest.keyClicks(field, "surfer")
    settle(100)
    film.take(900, dialog)
    dialog.accept()
    settle()
    film.take(500)


# --- images of all views and dialogs


def write_all(folder: Path) -> None:
    """Write all images, each size in a separate process: Qt reads the scale factor only once."""
    for width, height, density in SIZES:
        environment = {**os.environ, "QT_SCALE_FACTOR": str(density)}
        command = [sys.executable, __file__, str(folder), "--part", "--size", f"{width}x{height}"]
        subprocess.run(command, env=environment, check=True)


def write_size(folder: Path, size: tuple[int, int]) -> None:
    """Write every view, page and dialog in both themes at one size."""
    tag = f"{size[0]}x{size[1]}"
    with opened(size) as window:
        for theme in THEMES:
            set_theme(window, theme)
            iio.imwrite(folder / f"{tag}_{theme}_welcome.png", screenshot(window))
        window.message.show_message(
            f"Cannot open '{ROOT / 'broken.mp4'}': no video stream in it. Choose another file.", "error"
        )
        settle()
        iio.imwrite(folder / f"{tag}_dark_message.png", screenshot(window))
        open_segmented(window)
        for theme in THEMES:
            set_theme(window, theme)
            for view in VIEWS:
                set_view(window, view)
                iio.imwrite(folder / f"{tag}_{theme}_view_{view}.png", screenshot(window))
            set_view(window, "overlay")
            for name in ("objects", "controls"):
                window.panels[name].raise_()
                settle()
                iio.imwrite(folder / f"{tag}_{theme}_dock_{name}.png", screenshot(window))
            window.panels["segments"].raise_()
            for id in DIALOGS:
                if id in BY_ID:
                    iio.imwrite(folder / f"{tag}_{theme}_dialog_{id}.png", dialog_of(window, id))


def dialog_of(window: MainWindow, id: str) -> Picture:
    """Open the dialog of an action, take a screenshot of it and close it."""
    taken: list[Picture] = []

    def take() -> None:
        dialog = QApplication.activeModalWidget()
        if dialog is None:
            return
        timer.stop()
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
        taken.append(screenshot(dialog))
        dialog.close()

    timer = QTimer()
    timer.timeout.connect(take)
    timer.start(700)
    window.actions_[id].trigger()
    wait(lambda: bool(taken) and QApplication.activeModalWidget() is None)
    return taken[0]


def main() -> None:
    """Parse the command line and write the images."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "docs" / "images")
    parser.add_argument("--all", type=Path, metavar="FOLDER", help="write images of all views and dialogs")
    parser.add_argument("--size", default="1280x800", help="size of the window")
    parser.add_argument("--part", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    folder = arguments.all or arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    width, height = map(int, arguments.size.split("x"))
    if arguments.all:
        write_all(folder)
    elif arguments.part:
        write_size(folder, (width, height))
    else:
        write_documentation(folder, (width, height))


if __name__ == "__main__":
    main()
