"""TIFF files that are written page by page, and whose description is known only after the last page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import tifffile

from scstream_app.export import atomic_files

#: Largest size of a classic TIFF file, which has 32-bit offsets, less a margin larger than any page.
CLASSIC_BYTES = 2**32 - 2**28


class TiffPages:
    """An open TIFF file with one grey page per frame.

    Parameters
    ----------
    path : Path
    kind : dtype
        Type of the pixels; pages are converted to it.
    compressed : bool
        Whether pages are compressed; otherwise their pixels follow each other without gaps.

    Attributes
    ----------
    big : bool
        Whether the file is a BigTIFF, which has 64-bit offsets.
    count : int
        Number of pages.
    """

    def __init__(self, path: Path, kind: npt.DTypeLike, compressed: bool = True) -> None:
        self._path = path
        self._compressed = compressed
        self._copied_path = path.with_name(f"{path.name}.copied")
        self._file = tifffile.TiffWriter(path)
        self.kind = np.dtype(kind)
        self.big = False
        self.count = 0

    def is_full(self, page: npt.NDArray[np.generic]) -> bool:
        """Whether another page might not fit into a classic TIFF file."""
        # The data that is not on disk yet is smaller than a page.
        return not self.big and self._path.stat().st_size + 2 * page.size * self.kind.itemsize > CLASSIC_BYTES

    def add(self, page: npt.NDArray[np.generic]) -> None:
        """Append a page (H, W)."""
        page = page.astype(self.kind, copy=False)
        try:
            self._file.write(
                page,
                photometric="minisblack",
                compression="zlib" if self._compressed else None,
                compressionargs={"level": 3} if self._compressed else None,
                contiguous=not self._compressed,
                metadata=None,
                # `finish` replaces the description of the first page.
                description=None if self.count else "-",
            )
        except OSError as error:
            if error.errno is None:
                self._raise_reason(page)
            raise
        self.count += 1

    def _raise_reason(self, page: npt.NDArray[np.generic]) -> None:
        """Repeat a write that failed, because NumPy does not give the reason of the system."""
        with self._path.open("ab") as file:
            file.write(page.tobytes())

    def rewrite(self, kind: npt.DTypeLike | None = None, big: bool = False) -> None:
        """Write all pages again, with another type of pixels or as BigTIFF."""
        self._file.close()
        self._path.replace(self._copied_path)
        if kind is not None:
            self.kind = np.dtype(kind)
        self.big = self.big or big
        self._file = tifffile.TiffWriter(self._path, bigtiff=self.big)
        if self.count:
            self.count = 0
            with tifffile.TiffFile(self._copied_path) as file:
                for page in file.pages:
                    self.add(page.asarray())
        atomic_files.discard(self._copied_path)

    def finish(self, description: str) -> None:
        """Set the description and complete the file."""
        self._file.close()
        with tifffile.TiffFile(self._path, mode="r+") as file:
            file.pages.first.tags["ImageDescription"].overwrite(description.encode())

    def close(self) -> None:
        """Close the file, complete or not, and remove the copy of an interrupted `rewrite`."""
        atomic_files.close_quietly(self._file)
        atomic_files.discard(self._copied_path)
