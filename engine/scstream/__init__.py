"""ScStream: clusters of a stream that keep their identity, by a streaming Dirichlet-process mixture sampler."""

from scstream.components import Component, DiagonalGaussian, Gaussian, Multinomial
from scstream.genealogy import Event, Genealogy, TrackedObject
from scstream.model import Cluster, ScStream
from scstream.persistence import ModelFileError
from scstream.video import Preview, VideoSegmenter
from scstream.warmup import warm_up

__all__ = [
    "Cluster",
    "Component",
    "DiagonalGaussian",
    "Event",
    "Gaussian",
    "Genealogy",
    "ModelFileError",
    "Multinomial",
    "Preview",
    "ScStream",
    "TrackedObject",
    "VideoSegmenter",
    "warm_up",
]
