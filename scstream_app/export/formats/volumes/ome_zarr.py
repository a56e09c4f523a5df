"""Pictures and segment ids of all frames as one OME-Zarr group, which napari-ome-zarr opens as image and labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from scstream_app.export.frame_times import FrameTimes
from scstream_app.export.job import Job
from scstream_app.export.writer import FileWriter
from scstream_app.pipeline.frame_result import FrameResult

_VERSION = "0.5"
_AXES = {
    "t": {"name": "t", "type": "time", "unit": "second"},
    "c": {"name": "c", "type": "channel"},
    "y": {"name": "y", "type": "space"},
    "x": {"name": "x", "type": "space"},
}
_CHANNELS = {"red": "FF0000", "green": "00FF00", "blue": "0000FF"}


class OmeZarr(FileWriter):
    """Writes clip.ome.zarr in version 0.5 of OME-Zarr, which is Zarr version 3, with one chunk per frame.

    The group holds the pictures, "0" (t, c, y, x) uint8, and labels/segments with "0" (t, y, x) int32: id + 1, 0 for no
    segment. Without pictures, the image is the array of the labels itself, so that the group is valid nevertheless.
    """

    format = "ome_zarr"
    title = "OME-Zarr labels"
    group = "Tables and volumes"
    position = 3
    about = "Pictures and segment ids, with colours, names and times, as one OME-Zarr group: id + 1, 0 for no segment"
    uses_picture = True
    files = ("clip.ome.zarr",)
    are_folders = True

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job)
        self._times = FrameTimes(job.rate)
        self._seen: set[int] = set()
        self._pictures: Any = None
        # Import zarr only when needed: that takes longer than a short export.
        import zarr

        if not self.kept:
            with self._opening():
                # One group after another: zarr creates those of a path at once, and if one fails, others still appear.
                self._root = zarr.create_group(self._staged[0], zarr_format=3)
                self._labels = self._root.create_group("labels")
                self._segments = self._labels.create_group("segments")
                self._ids = _create(self._segments, "int32", "tyx", job.shape)

    def _write(self, result: FrameResult) -> None:
        labels = self.job.labels(result)
        _append(self._ids, self.count, labels)
        self._seen.update(np.unique(labels).tolist())
        self._times.add(result)
        if result.rgb is not None:
            if self._pictures is None:
                self._pictures = _create(self._root, "uint8", "tcyx", (3, *self.job.shape))
            _append(self._pictures, self.count, np.moveaxis(self.job.picture(result), 2, 0))

    def _finish(self) -> None:
        if self._pictures is not None:
            # Frames at the end may lack their pictures.
            self._pictures.resize((self.count, *self._pictures.shape[1:]))
        self._root.attrs.update({"ome": self._image_metadata(), "scstream": self._times.attributes()})
        self._labels.attrs["ome"] = {"version": _VERSION, "labels": ["segments"]}
        self._segments.attrs["ome"] = {
            "version": _VERSION,
            "multiscales": [self._multiscale("segments", "tyx", "0")],
            "image-label": {**self._segment_metadata(), "source": {"image": "../../"}},
        }
        self._staged.commit()

    def _image_metadata(self) -> dict[str, Any]:
        if self._pictures is None:
            return {"version": _VERSION, "multiscales": [self._multiscale("segments", "tyx", "labels/segments/0")]}
        window = {"min": 0, "max": 255, "start": 0, "end": 255}
        channels = [
            {"label": name, "color": colour, "active": True, "window": window} for name, colour in _CHANNELS.items()
        ]
        return {
            "version": _VERSION,
            "multiscales": [self._multiscale("pictures", "tcyx", "0")],
            "omero": {"channels": channels, "rdefs": {"model": "color"}},
        }

    def _multiscale(self, name: str, axes: str, path: str) -> dict[str, Any]:
        """Metadata of an image with one resolution: pixels have a size of 1, frames the mean interval in seconds."""
        scale = [self._times.interval] + [1.0] * (len(axes) - 1)
        begin = [self._times.begin] + [0.0] * (len(axes) - 1)
        transformations = [{"type": "scale", "scale": scale}, {"type": "translation", "translation": begin}]
        return {
            "name": name,
            "axes": [_AXES[axis] for axis in axes],
            "datasets": [{"path": path, "coordinateTransformations": transformations}],
        }

    def _segment_metadata(self) -> dict[str, Any]:
        """Colours and properties of all labels; they must name the same labels, and background is none."""
        ids = [label - 1 for label in sorted(self._seen) if label > 0]
        table = self.job.colouring.table(max(ids, default=-1) + 1)
        opacity = {id: 0 for id in self.job.hidden}
        colours = [{"label-value": id + 1, "rgba": [*table[id].tolist(), opacity.get(id, 255)]} for id in ids]
        properties = [{"label-value": id + 1, "id": id, "name": self.job.names.get(id, "")} for id in ids]
        return {"colors": colours, "properties": properties} if ids else {}


def _create(group: Any, kind: str, axes: str, shape: tuple[int, ...]) -> Any:
    """Create the array "0" of an image, without frames."""
    return group.create_array(
        "0", shape=(0, *shape), chunks=(1, *shape), dtype=kind, dimension_names=tuple(axes), fill_value=0
    )


def _append(array: Any, place: int, frame: npt.NDArray[np.generic]) -> None:
    """Write a frame at ``place``; frames that were left out before it are 0."""
    array.resize((place + 1, *array.shape[1:]))
    array[place] = frame
