"""Prompts: what the user says about an object on one frame, which becomes an edit when that frame is segmented."""

from __future__ import annotations

from dataclasses import dataclass

from scstream import metrics
from scstream_app.errors import SourceError
from scstream_app.objects.box_mask import box_mask
from scstream_app.objects.edits import Mask, ObjectEdit, mask_to_png
from scstream_app.pipeline.frame_result import FrameResult


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the user says about an object on one frame; exactly one of mask, box and point is given.

    Parameters
    ----------
    name : str
        Name of the object.
    frame : int or None
        None: the first frame of the run.
    kind : str
        "painted": the object is what is given; "added", "removed": these segments belong to it, or do not.
    mask : array (H, W) bool, optional
    box : (left, top, width, height), optional
        The object is the thing inside.
    point : (column, row), optional
        The object is the segment at this pixel.
    stop : int, optional
        First frame at which this no longer holds.
    """

    name: str
    frame: int | None = None
    kind: str = "painted"
    mask: Mask | None = None
    box: tuple[int, int, int, int] | None = None
    point: tuple[int, int] | None = None
    stop: int | None = None

    def edit(self, result: FrameResult) -> ObjectEdit:
        """The edit that this means on its frame."""
        if self.point is not None:
            ids = frozenset({int(result.ids[self.point[1], self.point[0]])})
            return ObjectEdit("made" if self.kind == "painted" else self.kind, result.index, ids, stop=self.stop)
        mask = self.mask if self.box is None else box_mask(result.picture, self.box)
        assert mask is not None
        ids = metrics.ids_inside(result.ids, mask)
        if self.kind == "painted":
            return ObjectEdit("painted", result.index, ids, mask_to_png(mask), self.stop)
        if not ids:
            raise SourceError(
                f"Cannot correct '{self.name}' on frame {result.index}: the mask or box covers no segment there."
            )
        return ObjectEdit(self.kind, result.index, ids, stop=self.stop)
