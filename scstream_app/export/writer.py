"""The contract that every format keeps: frames go in one by one, whole files come out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from scstream_app.errors import ExportError
from scstream_app.export import files
from scstream_app.export.job import Job
from scstream_app.pipeline.frame_result import FrameResult


class Output(ABC):
    """Something that is written piece by piece and put in place at the end; use it in a with statement.

    If other work fails inside the statement, or is interrupted, the pieces so far make a whole file. If the output
    itself cannot be written, nothing half-written is left behind.
    """

    path: Path

    def __init__(self) -> None:
        self.count = 0
        self._broken = False
        self._closed = False

    def close(self) -> None:
        """Put what was written in place; do nothing the second time."""
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
        """Remove what is not in place yet instead of completing it; do nothing after `close`."""
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
        """Turn any failure into the one line that says what could not be written."""
        try:
            yield
        except ExportError:
            self._broken = True
            raise
        except Exception as error:
            self._broken = True
            raise files.failure(path, error) from error

    @abstractmethod
    def _finish(self) -> None:
        """Complete the files and put them in place."""

    @abstractmethod
    def _release(self) -> None:
        """Let go of everything and remove what is not in place; never fails."""


class Writer(Output):
    """Writes the frames of an export in one format.

    Parameters
    ----------
    folder : Path
        Where the export goes; it is made if need be.
    job : Job

    Attributes
    ----------
    path : Path
        The file or folder that is written.
    count : int
        Frames so far.
    kept : bool
        An older export is there and is to stay: frames are ignored.
    """

    #: Its name in `FORMATS`, and what it is in one line.
    format: ClassVar[str]
    about: ClassVar[str]
    #: Whether frames must come with their picture, and whether there must be an object.
    needs_picture: ClassVar[bool] = False
    needs_object: ClassVar[bool] = False

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__()
        self.check(folder, job)
        self.job = job
        self.path = folder
        self.kept = False

    @classmethod
    def place(cls, job: Job) -> str:
        """The name of the file or folder that it writes."""
        return cls.format

    @classmethod
    def check(cls, folder: Path, job: Job) -> None:
        """Raise the ExportError that says why the job cannot be written, before anything is."""
        if cls.needs_object and not job.objects:
            raise ExportError(
                f"Cannot write '{folder / cls.place(job)}': {cls.format} needs an object, and none is given."
            )

    def write(self, result: FrameResult) -> None:
        """Add the next frame."""
        if self._closed:
            raise ValueError(f"'{self.path}' has been closed")
        if self.kept:
            return
        with self._reporting(self.path):
            self._check_size(result)
            self._write(result)
        self.count += 1

    @abstractmethod
    def _write(self, result: FrameResult) -> None:
        """Add a frame of the right size."""

    def _check_size(self, result: FrameResult) -> None:
        height, width = result.ids.shape
        if (height, width) != (self.job.height, self.job.width):
            raise ValueError(
                f"frame {result.index} is {width} x {height}, the others {self.job.width} x {self.job.height}"
            )


class Single(Writer):
    """A format of one file, or of a few that belong together."""

    def __init__(self, folder: Path, job: Job, *names: str, folders: bool = False) -> None:
        super().__init__(folder, job)
        files.make_folder(folder)
        self.path = folder / names[0]
        self._staged = files.Staged([folder / name for name in names], job.options.overwrite, folders)
        self.kept = self._staged.kept

    @contextmanager
    def _opening(self) -> Iterator[None]:
        """Open files in the constructor: where that fails, nothing stays."""
        try:
            with self._reporting(self.path):
                yield
        except BaseException:
            self.abandon()
            raise

    def _release(self) -> None:
        self._staged.discard()


class Images(Writer):
    """A format of one small file a frame, in a folder of the format's name."""

    suffix: ClassVar[str] = ".png"

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job)
        self.path = folder / self.format
        files.make_folder(self.path)
        clears = job.remove_stale and job.options.overwrite == "replace"
        self._stale = {path for path in self._there() if job.matches_pattern(path.stem)} if clears else set()

    def _there(self) -> Iterable[Path]:
        """Files of an earlier export, among others."""
        return self.path.glob(f"*{self.suffix}")

    def _put(self, result: FrameResult, encode: Callable[[], bytes], *, folder: str = "", name: str = "") -> None:
        """Write the frame's file, unless it is there and to be kept."""
        stem = self.job.stem(result, name or self.format)
        path = self.path / folder / f"{stem}{self.suffix}"
        self._stale.discard(path)
        if not files.keep(path, self.job.options.overwrite):
            with self._reporting(path):
                files.write_bytes(path, encode())

    def _finish(self) -> None:
        """Each file is in place already; those of an earlier export would be taken for more of the same."""
        for path in self._stale:
            path.unlink(missing_ok=True)

    def _release(self) -> None:
        """None is open."""
