"""Every format by its name, in the order in which help and dialogs list them."""

from __future__ import annotations

from scstream_app.export.coco import Coco
from scstream_app.export.csvs import Csv
from scstream_app.export.cutouts import Masks, Matte
from scstream_app.export.davis import Davis
from scstream_app.export.gif import Gif
from scstream_app.export.ids import Ids
from scstream_app.export.mp4 import Mp4
from scstream_app.export.npz import Npz
from scstream_app.export.parquet import Parquet
from scstream_app.export.pictures import Boundaries, Mean, Overlay
from scstream_app.export.prores import ProRes
from scstream_app.export.tiff import Tiff
from scstream_app.export.webm import WebM
from scstream_app.export.writer import Writer
from scstream_app.export.yolo import Yolo
from scstream_app.export.zarrs import Zarr

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
