"""Sources of still pictures: image sequences and TIFF stacks."""

from scstream_app.sources.images.locations import (
    IMAGE_SUFFIXES,
    TIFF_SUFFIXES,
    VIDEO_SUFFIXES,
    natural_order,
    sequence_of,
)
from scstream_app.sources.images.options import ImageOptions, parse_options
from scstream_app.sources.images.sequence import ImageSequence, Unreadable
from scstream_app.sources.images.stack import TiffStack
from scstream_app.sources.images.still import IMAGE_RATE, StillSource

__all__ = [
    "IMAGE_RATE",
    "IMAGE_SUFFIXES",
    "TIFF_SUFFIXES",
    "VIDEO_SUFFIXES",
    "ImageOptions",
    "ImageSequence",
    "StillSource",
    "TiffStack",
    "Unreadable",
    "natural_order",
    "parse_options",
    "sequence_of",
]
