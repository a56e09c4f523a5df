"""Example streams: synthetic ones with drift, and readers for public data sets on disk."""

from scstream.streams.common import Batch
from scstream.streams.discs import disc_video
from scstream.streams.files import batches, read_covertype, read_newsgroups
from scstream.streams.gaussians import GaussianStream, gaussian_stream
from scstream.streams.multinomials import multinomial_stream

__all__ = [
    "Batch",
    "GaussianStream",
    "batches",
    "disc_video",
    "gaussian_stream",
    "multinomial_stream",
    "read_covertype",
    "read_newsgroups",
]
