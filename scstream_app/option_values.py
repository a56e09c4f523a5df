"""Values of options that help texts and completion list; the modules behind them take seconds to import."""

from __future__ import annotations

#: Names of the formats, in the order of `scstream_app.export.FORMATS`.
FORMATS = (
    *("overlay", "mean", "boundaries", "matte", "exr", "frames"),
    *("mp4", "webm", "prores", "gif"),
    *("ids", "object", "davis", "coco", "coco_images", "yolo", "mots", "labelme", "ctc", "ctc_gt"),
    *("csv", "parquet", "ome_zarr", "zarr", "tiff", "imagej", "npz"),
)
#: Formats that `scstream segment` writes by default.
DEFAULT_FORMATS = ("ids", "csv", "mp4")
#: Views that movies can show. Results hold no uncertainty, so views of it are left out.
VIEWS = ("original", "overlay", "mean_colour", "boundaries", "matte", "mask", "side_by_side")
#: What a raw frame on standard output may show: ids or a view.
RAW_CONTENTS = ("ids", *VIEWS)
PALETTES = ("vivid", "safe")
#: Largest size of an export relative to the source.
LARGEST_SCALE = 8.0
