"""All formats by name, in the order in which the help and the export dialog list them."""

from __future__ import annotations

from scstream_app.export.formats.coco import Coco
from scstream_app.export.formats.csv_tables import Csv
from scstream_app.export.formats.cutouts import Masks, Matte
from scstream_app.export.formats.davis import Davis
from scstream_app.export.formats.gif import Gif
from scstream_app.export.formats.ids import Ids
from scstream_app.export.formats.mp4 import Mp4
from scstream_app.export.formats.npz import Npz
from scstream_app.export.formats.parquet import Parquet
from scstream_app.export.formats.prores import ProRes
from scstream_app.export.formats.tiff import Tiff
from scstream_app.export.formats.views import Boundaries, Mean, Overlay
from scstream_app.export.formats.webm import WebM
from scstream_app.export.formats.yolo import Yolo
from scstream_app.export.formats.zarr_volume import Zarr
from scstream_app.export.writer import Writer

_WRITERS: tuple[type[Writer], ...] = (
    Davis,
    Ids,
    Mean,
    Overlay,
    Boundaries,
    Matte,
    Masks,
    Coco,
    Yolo,
    Npz,
    Tiff,
    Zarr,
    Csv,
    Parquet,
    Mp4,
    WebM,
    ProRes,
    Gif,
)

FORMATS: dict[str, type[Writer]] = {writer.format: writer for writer in _WRITERS}
