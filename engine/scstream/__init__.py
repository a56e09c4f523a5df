"""ScStream: a streaming sampler for Dirichlet-process mixtures, whose clusters keep their ids over time."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from scstream._version import __version__

if TYPE_CHECKING:
    from scstream.cluster import Cluster
    from scstream.components import Component, DiagonalGaussian, Gaussian, Multinomial
    from scstream.errors import ModelFileError, NotSegmentedError
    from scstream.mixture import Mixture
    from scstream.model import ScStream
    from scstream.pixels.first_frame import Preview
    from scstream.pixels.parameters import VideoParameters
    from scstream.sampler.genealogy import Event, Genealogy, Kind, TrackedObject
    from scstream.sampler.parameters import Parameters
    from scstream.video import VideoSegmenter
    from scstream.warmup import warm_up

__all__ = [
    "Cluster",
    "Component",
    "DiagonalGaussian",
    "Event",
    "Gaussian",
    "Genealogy",
    "Kind",
    "Mixture",
    "ModelFileError",
    "Multinomial",
    "NotSegmentedError",
    "Parameters",
    "Preview",
    "ScStream",
    "TrackedObject",
    "VideoParameters",
    "VideoSegmenter",
    "__version__",
    "warm_up",
]

# Names are imported on first use: numba takes half a second to import and scikit-learn longer, which the window and
# commands that only read results should not wait for.
_HOME = {
    **dict.fromkeys(("Component", "DiagonalGaussian", "Gaussian", "Multinomial"), "components"),
    **dict.fromkeys(("Event", "Genealogy", "Kind", "TrackedObject"), "sampler.genealogy"),
    "Cluster": "cluster",
    "Mixture": "mixture",
    "ModelFileError": "errors",
    "NotSegmentedError": "errors",
    "Parameters": "sampler.parameters",
    "VideoParameters": "pixels.parameters",
    "Preview": "pixels.first_frame",
    "ScStream": "model",
    "VideoSegmenter": "video",
    "warm_up": "warmup",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'scstream' has no attribute '{name}'")
    value = getattr(import_module(f"scstream.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
