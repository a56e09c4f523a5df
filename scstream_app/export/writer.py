"""Base classes of the formats: they receive frames one by one and write complete files."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Literal, Self, get_args

from scstream_app.errors import ExportError
from scstream_app.export import atomic_files, staged_folder
from scstream_app.export.job import Job
from scstream_app.export.staged_folder import StagedFolder
from scstream_app.pipeline.frame_result import FrameResult

Group = Literal["Pictures", "Movies", "Masks and ids", "Tables and volumes"]
#: Groups of formats, in the order of the help and the export dialog.
GROUPS: tuple[Group, ...] = get_args(Group)


class Output(ABC):
    """A file or folder written incrementally and moved into place at the end; use it in a with statement.

    If the body of the statement fails or is interrupted, the output is completed with what was written so far. If the
    output itself cannot be written, no partial file remains.
    """

    path: Path

    def __init__(self) -> None:
        self.count = 0
        self._broken = False
        self._closed = False

    def close(self) -> None:
        """Complete the output and move it into place. Further calls do nothing."""
        if self._closed:
            return
        self._closed = True
        try:
            if self.count and not self._broken:
                with self._reporting(self.path):
                    self._finish()
        finally:
            self._release()

    def abandon(self) -> None:
        """Discard the output instead of completing it. Does nothing after `close`."""
        self._broken = True
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _reporting(self, path: Path) -> Iterator[None]:
        """Convert any exception to an ExportError that names the path."""
        try:
            yield
        except ExportError:
            self._broken = True
            raise
        except Exception as error:
            self._broken = True
            raise atomic_files.write_error(path, error) from error

    @abstractmethod
    def _finish(self) -> None:
        """Complete the files and move them into place."""

    @abstractmethod
    def _release(self) -> None:
        """Release all resources and remove temporary files; never raises."""


class Writer(Output):
    """Base class of formats: writes the frames of an export.

    Parameters
    ----------
    folder : Path
        Output folder; created if necessary.
    job : Job

    Attributes
    ----------
    path : Path
        The file or folder that is written.
    count : int
        Number of frames written.
    kept : bool
        True if an existing export is kept (``overwrite="skip"``): then frames are ignored.
    """

    #: The name in `FORMATS`, the title in the export dialog, and a description in one line.
    format: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]
    #: The group, and the place in it: by position, then by title. Formats without a position come last.
    group: ClassVar[Group]
    position: ClassVar[int] = 100
    #: Whether the format needs the picture of the frames, and whether it needs an object.
    needs_picture: ClassVar[bool] = False
    needs_object: ClassVar[bool] = False
    #: Whether the format includes the picture if there is one.
    uses_picture: ClassVar[bool] = False
    #: A module of a library that is not among the program's dependencies, and the extra that installs it.
    library: ClassVar[str] = ""
    extra: ClassVar[str] = ""
    #: The view that the files show, for the preview; "ids" is the segments alone. Movies show the view of the options.
    view: ClassVar[str] = "ids"
    #: Whether the format holds the objects, if there are any, instead of the segments; then the preview shows masks.
    prefers_objects: ClassVar[bool] = False
    #: Whether the format lists the names of the source's image files.
    lists_files: ClassVar[bool] = False
    #: What the export dialog warns of: information that the format loses.
    warning: ClassVar[str] = ""

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__()
        self.check(folder, job)
        self.job = job
        self.path = folder
        self.kept = False

    @classmethod
    def target_names(cls, job: Job) -> tuple[str, ...]:
        """The names of the files and folders that the format writes, the most important one first."""
        return (cls.format,)

    @classmethod
    def check(cls, folder: Path, job: Job) -> None:
        """Raise an ExportError if the job cannot be written in this format."""
        if cls.extra:
            cls.load_library(folder / cls.target_names(job)[0])
        if cls.needs_object and not job.objects:
            raise ExportError(
                f"Cannot write '{folder / cls.target_names(job)[0]}': {cls.format} needs an object, and none is given."
            )

    @classmethod
    def load_library(cls, path: Path) -> Any:
        """Import the library of the format; raises an ExportError that names its extra if it is not installed."""
        package = cls.library.partition(".")[0]
        try:
            importlib.import_module(cls.library)
            return importlib.import_module(package)
        except ImportError as error:
            raise ExportError(
                f"Cannot write '{path}': {package} is not installed. "
                f"Install it with: pip install 'scstream-studio[{cls.extra}]'"
            ) from error

    def write(self, result: FrameResult) -> None:
        """Add the next frame."""
        if self._closed:
            raise ValueError(f"'{self.path}' is closed")
        if self.kept:
            return
        with self._reporting(self.path):
            self._check_size(result)
            self._write(result)
        self.count += 1

    @abstractmethod
    def _write(self, result: FrameResult) -> None:
        """Add a frame whose size was checked."""

    def _check_size(self, result: FrameResult) -> None:
        height, width = result.ids.shape
        if (height, width) != (self.job.height, self.job.width):
            raise ValueError(
                f"frame {result.index} is {width} x {height}, the others {self.job.width} x {self.job.height}"
            )


class FileWriter(Writer):
    """Base class of formats that write one file, or a few files that belong together."""

    #: The names of the files, or of folders if `are_folders`.
    files: ClassVar[tuple[str, ...]]
    are_folders: ClassVar[bool] = False

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job)
        atomic_files.make_folder(folder)
        paths = [folder / name for name in self.target_names(job)]
        self.path = paths[0]
        self._staged = atomic_files.StagedFiles(paths, job.options.overwrite, self.are_folders)
        self.kept = self._staged.kept

    @classmethod
    def target_names(cls, job: Job) -> tuple[str, ...]:
        return cls.files

    @contextmanager
    def _opening(self) -> Iterator[None]:
        """Open files in the constructor; discard everything if that fails."""
        try:
            with self._reporting(self.path):
                yield
        except BaseException:
            self.abandon()
            raise

    def _release(self) -> None:
        self._staged.discard()


class ImageWriter(Writer):
    """Base class of formats that write small files for each frame, in a folder named after the format.

    If the folder has files of an earlier export, the new ones replace them together at the end. Otherwise, and if
    existing files are skipped, each file appears in the folder at once.
    """

    suffix: ClassVar[str] = ".png"

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job)
        self.path = folder / self.format
        atomic_files.make_folder(self.path)
        staged_folder.clear(self.path)
        overwrite, existing = job.options.overwrite, set(self._existing())
        replaces = job.remove_stale and overwrite == "replace"
        self._stale = {path for path in existing if job.matches_pattern(path.stem)} if replaces else set()
        self._staged = StagedFolder(self.path) if existing and overwrite != "skip" else None

    def _existing(self) -> Iterable[Path]:
        """Existing files that may belong to an earlier export."""
        return self.path.glob(f"*{self.suffix}")

    def _make_folders(self, names: Iterable[str]) -> None:
        """Create folders inside the folder; staged files bring theirs along."""
        if self._staged is None:
            for name in names:
                atomic_files.make_folder(self.path / name)

    def _put(
        self, result: FrameResult, encode: Callable[[], bytes], *, folder: str = "", name: str = "", suffix: str = ""
    ) -> None:
        """Write a file of a frame, unless it exists and is kept."""
        stem = self.job.stem(result, name or self.format)
        path = self.path / folder / f"{stem}{suffix or self.suffix}"
        self._stale.discard(path)
        if not atomic_files.should_keep(path, self.job.options.overwrite):
            with self._reporting(path):
                self._put_content(path, encode())

    def _put_content(self, path: Path, content: bytes) -> None:
        if self._staged is None:
            atomic_files.write_bytes(path, content)
        else:
            self._staged.write(path, content)

    def _finish(self) -> None:
        """Replace the files of an earlier export, and remove those that this one did not write."""
        if self._staged is not None:
            self._staged.commit(self._stale)

    def _release(self) -> None:
        if self._staged is not None:
            self._staged.discard()
